import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { type KnotlessError, NotFoundError, RefusedError, UsageError } from "../../core/errors.ts";
import { upgrade, type Upgraded } from "../../core/upgrade/upgrade.ts";
import { binary } from "../support/binary.ts";
import { run } from "../support/run.ts";
import { createSigner, nameOf, programOf, sumLine, writeRelease } from "../support/release.ts";

const signer = createSigner();
const next = nameOf("9.9.9");

describe("an upgrade", () => {
  let folder: string;
  let program: string;
  let release: string;

  beforeEach(async () => {
    folder = await Deno.makeTempDir();
    program = join(folder, "bin", "knotless");
    release = join(folder, "release");
    await mkdir(join(folder, "bin"));
    await mkdir(release);
    await writeFile(program, programOf("0.1.0"), { mode: 0o755 });
  });
  afterEach(() => rm(folder, { recursive: true }));

  const take = (from: string | undefined = release, version = "0.1.0"): Promise<Upgraded> =>
    upgrade(from, {
      version,
      program: [program],
      key: signer.key,
      env: { PATH: "/usr/bin:/bin" },
      platform: process.platform,
      arch: process.arch,
      fetch,
      signal: new AbortController().signal,
      progress: () => {},
    });
  /** Fails as it should, and leaves the program as it was, with nothing beside it. */
  const refuse = async (
    type: new (message: string) => KnotlessError,
    said: string,
    from?: string,
  ): Promise<void> => {
    await assertRejects(() => take(from), type, said);
    assertEquals(await readFile(program, "utf8"), programOf("0.1.0"));
    assertEquals(await readdir(join(folder, "bin")), ["knotless"]);
  };

  it("puts the release's program in the place of the old one, through a link too", async () => {
    await writeRelease(release, signer, { [next]: programOf("9.9.9"), "other.txt": "x" });
    const path = program;
    await symlink(program, join(folder, "linked"));
    program = join(folder, "linked");
    assertEquals(await take(), { version: "9.9.9", was: "0.1.0", path, changed: true });
    assertEquals(await readdir(join(folder, "bin")), ["knotless"]);
    const { out } = await run(path, ["--version"], { env: {}, cwd: "/" });
    assertEquals(out, "knotless 9.9.9\n");
  });

  it("takes a release from a URL", async () => {
    await writeRelease(release, signer, { [next]: programOf("9.9.9") });
    const server = createServer(async ({ url = "" }, response) => {
      const bytes = await readFile(join(release, url.replace("/latest/", ""))).catch(() =>
        undefined
      );
      response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    try {
      await refuse(NotFoundError, "answered 404 to SHA256SUMS", `http://127.0.0.1:${port}/older`);
      assertEquals((await take(`http://127.0.0.1:${port}/latest`)).changed, true);
    } finally {
      server.close();
    }
  });

  it("changes nothing where the release is this version", async () => {
    await writeRelease(release, signer, { [next]: "never read" });
    assertEquals((await take(release, "9.9.9")).changed, false);
  });

  it("refuses a release that is not signed for it", async () => {
    await writeRelease(release, createSigner(), { [next]: programOf("9.9.9") });
    await refuse(RefusedError, "is not signed for this knotless");
    await writeFile(join(release, "SHA256SUMS.sig"), "short");
    await refuse(RefusedError, "is not signed for this knotless");
  });

  it("refuses checksums that were changed after the signature", async () => {
    await writeRelease(release, signer, { [next]: programOf("9.9.9") });
    await writeFile(join(release, "SHA256SUMS"), sumLine(next, "another"));
    await refuse(RefusedError, "is not signed for this knotless");
  });

  it("refuses a program that is not what the checksums say", async () => {
    await writeRelease(release, signer, { [next]: programOf("9.9.9") }, sumLine(next, "another"));
    await refuse(RefusedError, "is not what the release's checksums say");
  });

  it("refuses an older release, and one for other machines", async () => {
    const old = nameOf("0.0.9");
    await writeRelease(release, signer, { [old]: programOf("0.0.9") });
    await refuse(RefusedError, "the release is 0.0.9, older than 0.1.0");
    await writeRelease(release, signer, { "knotless-9.9.9-plan9-mips": programOf("9.9.9") });
    await refuse(NotFoundError, "only for plan9-mips");
  });

  it("keeps the old program when the new one does not start, or is another", async () => {
    await writeRelease(release, signer, { [next]: "#!/bin/sh\nexit 1\n" });
    await refuse(RefusedError, "does not start here");
    await writeRelease(release, signer, { [next]: programOf("9.9.8") });
    await refuse(RefusedError, "does not say that it is 9.9.9");
  });

  it("brings the old program back when the new one starts but once", async () => {
    const fickle = `#!/bin/sh\ncase $0 in *.new) echo knotless 9.9.9;; *) exit 1;; esac\n`;
    await writeRelease(release, signer, { [next]: fickle });
    await refuse(RefusedError, "does not start here");
  });

  it("takes the place of what an upgrade that was cut left", async () => {
    await writeFile(`${program}.new`, "half");
    await writeFile(`${program}.old`, "older");
    await writeRelease(release, signer, { [next]: programOf("9.9.9") });
    assertEquals((await take()).changed, true);
    assertEquals(await readdir(join(folder, "bin")), ["knotless"]);
  });

  it("asks no server over plain http but this machine", async () => {
    await refuse(UsageError, "give an https URL or a folder", "http://example.com/latest");
  });

  it("by the binary takes no release but its own, whatever the environment says", async () => {
    await copyFile(await binary(), program);
    await chmod(program, 0o755);
    const before = await readFile(program);
    await writeRelease(release, signer, { [next]: programOf("9.9.9") });
    const env = { HOME: folder, KNOTLESS_RELEASE_KEY: signer.key, RELEASE_KEY: signer.key };
    const { status, err } = await run(program, ["upgrade", release], { env, cwd: folder });
    assertEquals(status, 1, err);
    assertStringIncludes(err, "is not signed for this knotless");
    assert(before.equals(await readFile(program)));
  });
});
