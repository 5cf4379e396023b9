import { afterAll, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type App, appOf } from "../support/app.ts";
import { answer } from "../support/faults.ts";
import { git } from "../support/git.ts";
import { type GitHome, openGitHome } from "../support/git_home.ts";
import { killAt } from "../support/kill.ts";
import { noise } from "../support/owner.ts";
import { limitPieces, PIECE } from "../support/pieces.ts";
import { openProxied, type Proxied } from "../support/proxied.ts";
import type { NetworkProxies } from "../support/proxy.ts";

const UPLOAD = "com.atproto.repo.uploadBlob";

describe("a push that ends while it sends its pieces", () => {
  let world: Proxied;
  let proxies: NetworkProxies;
  let home: GitHome;
  let number = 0;

  beforeAll(async () => {
    world = await openProxied("cut");
    ({ proxies } = world);
    limitPieces(proxies);
    home = await openGitHome(world.network, {
      account: world.owner.account,
      env: { ...proxies.env },
    });
  });

  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  const pieces = 7;
  let folder: string;
  let url: string;
  let app: App;

  beforeEach(async () => {
    folder = `again${number++}`;
    const made = await home.create({ name: folder });
    ({ url } = made);
    app = appOf(world, made.repository);
    await home.ok(".", "init", "-q", folder);
    await writeFile(join(home.dir, folder, "file"), noise(6.5 * PIECE));
    await home.ok(folder, "add", "file");
    await home.ok(folder, "commit", "-q", "-m", "one");
    proxies.pds.forget();
  });

  const mainOf = (path: string) => git(path, "rev-parse", "main");

  /** The next push sends so many pieces, and then the repository is whole and nothing of it waits here. */
  async function goesOn(sent: number): Promise<void> {
    proxies.pds.forget();
    await home.ok(folder, "push", "-q", url, "HEAD:main");
    assertEquals(proxies.pds.count({ nsid: UPLOAD }), sent);
    assertEquals(await app.readAnew(mainOf), await home.ok(folder, "rev-parse", "HEAD"));
    // What a killed process had indexed is swept after a day.
    const left = (await readdir(app.repository.mirror.path, { recursive: true })).filter((name) =>
      /^(push-[^/]*\/pack|uploaded)$/.test(name)
    );
    assertEquals(left, []);
  }

  it("sends only the others after an error", async () => {
    {
      using _ = proxies.pds.inject({ nsid: UPLOAD, skip: 3 }, { kind: "drop", when: "before" });
      assertEquals((await home.git(folder, "push", url, "HEAD:main")).status, 1);
    }
    await goesOn(pieces - 3);
  });

  it("sends only the others after a kill", async () => {
    const options = { cwd: join(home.dir, folder), env: home.env, nsid: UPLOAD };
    assert(await killAt(proxies.pds, 4, ["git", "push", "-q", url, "HEAD:main"], options));
    // The fifth was on its way and its answer was not heard.
    await goesOn(pieces - 4);
  });

  it("sends all again when the PDS has them no more", async () => {
    {
      using _ = proxies.pds.inject({ nsid: UPLOAD, skip: 6 }, { kind: "drop", when: "before" });
      assertEquals((await home.git(folder, "push", url, "HEAD:main")).status, 1);
    }
    using _ = proxies.pds.inject(
      { nsid: "com.atproto.repo.createRecord", times: 1 },
      answer(400, "BlobNotFound"),
    );
    await goesOn(1 + pieces);
  });
});
