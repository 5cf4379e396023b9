import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { buildLongRepo, git, tempDir } from "../support/git.ts";
import { type Home, openHome } from "../support/home.ts";
import { openGitHost } from "../support/http_backend.ts";
import { type Network, openNetwork } from "../support/network.ts";
import { type NetworkProxies, proxyNetwork } from "../support/proxy.ts";

let network: Network;
let proxies: NetworkProxies;
let alice: Home;
let bob: Home;
let source: string;
let objects: string;

function objectsOf(dir: string): string {
  return git(dir, "rev-list", "--objects", "--all").split("\n").map((line) => line.slice(0, 40))
    .sort().join("\n");
}

async function fork(home: Home, repo: string, ...args: string[]) {
  const { status, out, err } = await home.cli(["repo", "fork", repo, ...args, "--json"]);
  return { status, err, ...(status === 0 ? JSON.parse(out) : {}) };
}

async function mirrorOf(home: Home, repo: string): Promise<string> {
  return (await home.cli(["repo", "mirror", repo])).out.trimEnd();
}

async function recordsOf({ account: { did } }: Home, collection: string): Promise<unknown[]> {
  const query = `repo=${did}&collection=${collection}&limit=100`;
  const response = await fetch(`${network.pds}/xrpc/com.atproto.repo.listRecords?${query}`);
  return (await response.json()).records;
}

describe("repo fork", () => {
  beforeAll(async () => {
    network = await openNetwork();
    proxies = await proxyNetwork(network);
    alice = await openHome(network, { name: "alice", env: { ...proxies.env } });
    bob = await openHome(network, { name: "bob", env: { ...proxies.env } });
    source = `${alice.account.handle}/app`;
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "app.git"), { commits: 150 });
    git(dir, "branch", "-m", "main", "trunk");
    git(dir, "branch", "topic", "trunk~20");
    git(dir, "tag", "-m", "one", "v1", "trunk~9");
    git(dir, "tag", "light", "trunk~3");
    await using host = await openGitHost(temp.path);
    await alice.cli(["repo", "create", "app"]);
    const { status, err } = await alice.cli([
      ...["repo", "mirror", source],
      ...["--from", `${host.url}/app.git`],
    ]);
    assertEquals(status, 0, err);
    // Two thin packs more, whose deltas lean on the first.
    for (const line of ["one", "two"]) {
      const changes = JSON.stringify([{ path: "NOTES", content: `${line}\n` }]);
      const args = ["repo", "commit", source, "-m", line, "--changes", changes];
      const { status, err } = await alice.cli(args);
      assertEquals(status, 0, err);
    }
    objects = objectsOf(await mirrorOf(alice, source));
  });

  afterAll(async () => {
    await bob?.[Symbol.asyncDispose]();
    await alice?.[Symbol.asyncDispose]();
    await proxies?.[Symbol.asyncDispose]();
    await network?.[Symbol.asyncDispose]();
  });

  it("copies branches, tags, HEAD and what they reach, in one pack", async () => {
    const { status, err, ...answer } = await fork(bob, source);
    assertEquals(status, 0, err);
    const [origin] = await recordsOf(alice, "dev.knotless.repo") as { uri: string }[];
    const { uri, ...rest } = answer;
    assertEquals(rest, {
      repo: `${bob.account.handle}/app`,
      forkOf: { repo: source, uri: origin?.uri },
      branches: 2,
      tags: 2,
    });
    const copy = await mirrorOf(bob, answer.repo);
    assertEquals(objectsOf(copy), objects);
    const refs = (dir: string) => git(dir, "for-each-ref", "--format=%(refname) %(objectname)");
    assertEquals(refs(copy), refs(await mirrorOf(alice, source)));
    assertEquals(git(copy, "symbolic-ref", "HEAD"), "refs/heads/trunk");
    git(copy, "fsck", "--strict", "--full");
    assertEquals((await recordsOf(bob, "dev.knotless.pack")).length, 1);
    const { out } = await bob.cli(["repo", "list", "--json"]);
    const [listed] = JSON.parse(out).repos;
    assertEquals([listed.uri, listed.forkOf], [uri, origin?.uri]);
  });

  it("forks one's own under another name, and refuses a name in use before it sends anything", async () => {
    proxies.pds.forget();
    for (const [name, taken] of [[undefined, "app"], ["APP", "app"]] as const) {
      const { status, err } = await fork(alice, source, ...(name ? ["--name", name] : []));
      assertEquals(status, 6, err);
      assertStringIncludes(err, `${alice.account.handle}/${taken} exists`);
    }
    assertEquals(proxies.pds.writes().requests, 0);
    const { status, branches } = await fork(alice, source, "--name", "copy");
    assertEquals([status, branches], [0, 2]);
    assertEquals(objectsOf(await mirrorOf(alice, `${alice.account.handle}/copy`)), objects);
  });

  it("forks an empty repository", async () => {
    await alice.cli(["repo", "create", "empty", "--default-branch", "start"]);
    const { status, err, branches, tags, repo } = await fork(
      bob,
      `${alice.account.handle}/empty`,
    );
    assertEquals([status, branches, tags], [0, 0, 0], err);
    const { out } = await bob.cli(["repo", "refs", repo, "--json"]);
    assertEquals(JSON.parse(out).defaultBranch, "start");
  });

  it("takes the new repository back when it cannot be filled", async () => {
    const repos = await recordsOf(bob, "dev.knotless.repo");
    const packs = await recordsOf(bob, "dev.knotless.pack");
    proxies.pds.forget();
    {
      using _fault = proxies.pds.inject(
        { nsid: "com.atproto.repo.putRecord" },
        { kind: "answer", status: 400, body: '{"error":"InvalidRequest","message":"no"}' },
      );
      const { status, err } = await fork(bob, source, "--name", "again");
      assertEquals(status, 7, err);
      assert(proxies.pds.count({ nsid: "com.atproto.repo.uploadBlob" }) > 0);
    }
    assertEquals(await recordsOf(bob, "dev.knotless.repo"), repos);
    assertEquals(await recordsOf(bob, "dev.knotless.pack"), packs);
    assertEquals((await fork(bob, source, "--name", "again")).status, 0);
  });

  it("says when there is no such repository", async () => {
    const { status, err } = await fork(bob, `${alice.account.handle}/nothing`);
    assertEquals(status, 5, err);
    assertStringIncludes(err, "no such repository");
  });
});
