import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Pack } from "../../core/atproto/lexicons.gen.ts";
import type { Repository } from "../../core/forge/repository.ts";
import { buildLongRepo, buildOddRepo, sampleText } from "../support/git.ts";
import { type GitHome, openGitHome } from "../support/git_home.ts";
import { type Network, openNetwork } from "../support/network.ts";
import { type NetworkProxies, proxyNetwork } from "../support/proxy.ts";

const LARGE_BYTES = 12_000_000;

describe("a repository of everything git has", () => {
  let network: Network;
  let proxies: NetworkProxies;
  let home: GitHome;
  let repository: Repository;
  let url: string;
  const long = sampleText(79_000, 5);

  beforeAll(async () => {
    network = await openNetwork();
    proxies = await proxyNetwork(network);
    home = await openGitHome(network, { name: "whole", env: { ...proxies.env } });
    ({ url, repository } = await home.create({ name: "whole" }));
    // 2,000 commits with merges; renames, a submodule, links, modes, odd names and contents, an empty tree, odd tags.
    buildLongRepo(join(home.dir, "long.git"), { commits: 2000 });
    buildOddRepo(join(home.dir, "odd"));
    await home.ok(".", "clone", "-q", "long.git", "work");
    await home.ok("work", "fetch", "-q", "--tags", "../odd", "refs/heads/*:refs/heads/odd/*");
    await Deno.writeFile(join(home.dir, "work/large"), randomBytes(LARGE_BYTES));
    await Deno.writeTextFile(join(home.dir, "work/long"), long);
    await home.ok("work", "add", ".");
    await home.ok("work", "commit", "-q", "-m", "add large files");
    await home.ok("work", "remote", "set-url", "origin", url);
    await home.ok("work", "update-ref", "-d", "refs/remotes/origin/main");
    await home.ok("work", "symbolic-ref", "-d", "refs/remotes/origin/HEAD");
  });

  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await proxies[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
  });

  /** Every ref, and every object with its kind and size, of a repository. */
  async function allOf(where: string): Promise<{ refs: string; objects: string }> {
    const kinds = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
    const objects = await home.ok(where, "cat-file", "--batch-all-objects", "--unordered", kinds);
    return {
      refs: await home.ok(where, "for-each-ref"),
      objects: objects.split("\n").sort().join("\n"),
    };
  }

  it("goes up by git push and comes back the same by git clone --mirror", async () => {
    const { status, err } = await home.git("work", "push", "--mirror", url);
    assertEquals(status, 0, err);
    await home.ok(".", "-c", "fetch.fsckObjects=false", "clone", "-q", "--mirror", url, "mirror");
    const [sent, came] = await Promise.all([allOf("work"), allOf("mirror")]);
    assertEquals(came.refs, sent.refs);
    assert(came.objects === sent.objects, "the objects differ");
    assert(Number(await home.ok("mirror", "rev-list", "--count", "--all")) > 2000);
    const fsck = await home.git("mirror", "fsck", "--strict");
    assertEquals(fsck.status, 0, fsck.err);
    assertEquals(await home.ok("mirror", "symbolic-ref", "HEAD"), "refs/heads/main");
  });

  it("comes back to a machine that has no copy of it", async () => {
    await using other = await openGitHome(network, { login: false });
    await other.ok(".", "clone", "-q", "--mirror", url, "mirror");
    assertEquals(
      await other.ok("mirror", "for-each-ref"),
      await home.ok("work", "for-each-ref"),
    );
    assertEquals((await other.git("mirror", "fsck", "--strict", "--connectivity-only")).status, 0);
  });

  it("takes one commit more in one write of at most 32 kB", async () => {
    await Deno.writeTextFile(join(home.dir, "work/small"), "a new file\n");
    await home.ok("work", "add", "small");
    await home.ok("work", "commit", "-q", "-m", "add a small file");
    proxies.pds.forget();
    await home.ok("work", "push", "-q", url, "main");
    const { requests, bytes } = proxies.pds.writes();
    assertEquals(requests, 1);
    assertEquals(proxies.pds.count({ nsid: "com.atproto.repo.putRecord" }), 1);
    assert(bytes <= 32 * 1024, `${bytes} bytes`);
  });

  it("takes one changed line of a 79 kB file as a delta onto what it has", async () => {
    const lines = long.split("\n");
    lines[400] = "this line is another now";
    const old = await home.ok("work", "rev-parse", "HEAD:long");
    await Deno.writeTextFile(join(home.dir, "work/long"), lines.join("\n"));
    await home.ok("work", "commit", "-q", "-a", "-m", "change a line");
    proxies.pds.forget();
    await home.ok("work", "push", "-q", url, "main");
    assertEquals(proxies.pds.writes().requests, 1);
    const { record: { tail } } = await repository.mirror.manifest();
    const last = tail.at(-1);
    assert(last !== undefined && last.bytes.length <= 600, `${last?.bytes.length} bytes`);
    assert(last.needs.includes(old), `${last.needs} has not ${old}`);
  });

  it("takes a force and a deletion without a pack", async () => {
    const { record: before } = await repository.mirror.manifest();
    proxies.pds.forget();
    await home.ok("work", "push", "-q", "--force", url, "main~5:refs/heads/main", ":odd/one");
    assertEquals(proxies.pds.writes().requests, 1);
    const { record } = await repository.mirror.manifest();
    assertEquals(record.tail.length, before.tail.length);
    assertEquals(record.packs, before.packs);
  });

  it("takes what leans on too much, or is too much, as a pack that leans on nothing", async () => {
    const { url, repository } = await home.create({ name: "bulk" });
    const text = sampleText(300, 9);
    const push = async (files: Record<string, string | Uint8Array<ArrayBuffer>>) => {
      await Promise.all(
        Object.entries(files).map(([name, content]) =>
          Deno.writeFile(
            join(home.dir, "bulk", name),
            typeof content === "string" ? new TextEncoder().encode(content) : content,
          )
        ),
      );
      await home.ok("bulk", "add", ".");
      await home.ok("bulk", "commit", "-q", "-m", "change files");
      await home.ok("bulk", "push", "-q", url, "main");
      const { record: { packs } } = await repository.mirror.manifest();
      const last = packs.at(-1)?.cid ?? "";
      const { records } = await home.open("read");
      const { needs } = (await records.getBlocks(repository.owner, [last])).get(last) as Pack;
      return { packs: packs.length, needs: needs.length };
    };
    const numbered = (line: string) =>
      Object.fromEntries(
        Array.from({ length: 2500 }, (_, n) => [`file${n}`, `${randomText(n)}${text}${line}\n`]),
      );
    await home.ok(".", "init", "-q", "bulk");
    assertEquals(await push(numbered("one")), { packs: 1, needs: 0 });
    assertEquals(await push(numbered("two")), { packs: 2, needs: 0 });
    const large = new Uint8Array(randomBytes(1_100_000));
    assertEquals(await push({ file0: `${text}three\n`, large }), { packs: 3, needs: 0 });
  });
});

/** Text that no other number's is like. */
function randomText(number: number): string {
  return createHash("sha512").update(String(number)).digest("base64").repeat(3);
}
