import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { buildLongRepo, git, initRepo, type TempDir, tempDir } from "../support/git.ts";
import { type Home, openHome } from "../support/home.ts";
import { type GitHost, openGitHost } from "../support/http_backend.ts";
import { type Network, openNetwork } from "../support/network.ts";

let network: Network;
let home: Home;
let temp: TempDir;
let host: GitHost;

/** What git says of a repository's refs and of every object they reach. */
function contentOf(dir: string): string {
  const objects = git(dir, "rev-list", "--objects", "--all").split("\n")
    .map((line) => line.slice(0, 40)).sort();
  const format = "%(objectname) %(refname) %(*objectname)";
  return [git(dir, "for-each-ref", `--format=${format}`), ...objects].join("\n");
}

/** Creates a repository on the forge and gives how to import into it. */
async function created(name: string): Promise<(url: string) => ReturnType<Home["cli"]>> {
  const { status, err } = await home.cli(["repo", "create", name]);
  assertEquals(status, 0, err);
  return (url) => home.cli(["repo", "mirror", `${home.account.handle}/${name}`, "--from", url]);
}

describe("repo mirror --from", () => {
  beforeAll(async () => {
    network = await openNetwork();
    home = await openHome(network);
    temp = tempDir();
    host = await openGitHost(temp.path);
  });

  afterAll(async () => {
    await host?.[Symbol.asyncDispose]();
    temp?.[Symbol.dispose]();
    await home?.[Symbol.asyncDispose]();
    await network?.[Symbol.asyncDispose]();
  });

  it("imports every branch and tag, HEAD, and all that they reach", async () => {
    const source = buildLongRepo(join(temp.path, "big.git"), { commits: 2000, files: 100 });
    git(source, "branch", "-m", "main", "trunk");
    git(source, "symbolic-ref", "HEAD", "refs/heads/trunk");
    git(source, "branch", "side/one", "trunk~100");
    git(source, "tag", "light", "trunk~50");
    git(source, "tag", "-m", "first", "v1.0", "trunk~10");
    git(source, "tag", "-m", "a tag of a tag", "v1.0-signed", "v1.0");
    git(source, "update-ref", "refs/pull/1/head", "trunk~7");
    const count = git(source, "rev-list", "--objects", "--all").split("\n").length;
    assert(count > 10_000, `${count} objects`);
    const run = await created("big");
    const { status, out, err } = await run(`${host.url}/big.git`);
    assertEquals(status, 0, err);
    const path = out.trimEnd();
    git(source, "update-ref", "-d", "refs/pull/1/head");
    assertEquals(contentOf(path), contentOf(source));
    assertEquals(git(path, "symbolic-ref", "HEAD"), "refs/heads/trunk");
    git(path, "fsck", "--strict", "--full");
    await using reader = await openHome(network, { login: false });
    const args = ["repo", "mirror", `${home.account.handle}/big`, "--json"];
    const { path: copy, ...answer } = JSON.parse((await reader.cli(args)).out);
    assertEquals(contentOf(copy), contentOf(source));
    assertEquals(Object.keys(answer), ["repo", "uri", "generation", "commit"]);
    assertEquals(answer.commit, git(source, "rev-parse", "trunk"));
  });

  it("brings what is new when it is run again, and nothing when nothing is", async () => {
    const source = buildLongRepo(join(temp.path, "more.git"), { commits: 60 });
    const tip = git(source, "rev-parse", "main");
    git(source, "update-ref", "refs/heads/main", `${tip}~40`);
    const run = await created("more");
    const url = `${host.url}/more.git`;
    const path = (await run(url)).out.trimEnd();
    assertEquals(contentOf(path), contentOf(source));
    git(source, "update-ref", "refs/heads/main", tip);
    git(source, "branch", "topic", "main~5");
    git(source, "tag", "-m", "one", "v1", "main~2");
    assertEquals((await run(url)).status, 0);
    assertEquals(contentOf(path), contentOf(source));
    const posts = host.requests.length;
    git(source, "branch", "known", "main~30");
    assertEquals((await run(url)).status, 0);
    assertEquals(contentOf(path), contentOf(source));
    const { status, err } = await run(url);
    assertEquals(status, 0);
    assertStringIncludes(err, "has nothing new");
    assertEquals(host.requests.slice(posts).map(({ line }) => line.split(" ")[0]), ["GET", "GET"]);
    git(path, "fsck", "--strict", "--full");
  });

  it("refuses to move a branch back or a tag at all, and then writes nothing", async () => {
    const source = buildLongRepo(join(temp.path, "apart.git"), { commits: 40 });
    git(source, "tag", "v1", "main~3");
    const run = await created("apart");
    const url = `${host.url}/apart.git`;
    const path = (await run(url)).out.trimEnd();
    const before = contentOf(path);
    git(source, "update-ref", "refs/heads/main", "main~10");
    git(source, "tag", "-f", "v1", "main~5");
    git(source, "branch", "new", "main~1");
    const { status, err } = await run(url);
    assertEquals(status, 6, err);
    assertMatch(err, /nothing was imported: main, v1 moved apart from/);
    await home.cli(["repo", "mirror", `${home.account.handle}/apart`]);
    assertEquals(contentOf(path), before);
  });

  it("leaves nothing behind when the connection breaks, and can be run again", async () => {
    const source = buildLongRepo(join(temp.path, "cut.git"), { commits: 200 });
    const run = await created("cut");
    const url = `${host.url}/cut.git`;
    host.cutAfter(30_000);
    const { status, err } = await run(url);
    assert(status === 7 || status === 1, err);
    const { out } = await home.cli(["repo", "mirror", `${home.account.handle}/cut`]);
    const path = out.trimEnd();
    assertEquals(git(path, "for-each-ref"), "");
    assertEquals(readdirSync(path).filter((name) => name.startsWith("push-")), []);
    assertEquals((await run(url)).status, 0);
    assertEquals(contentOf(path), contentOf(source));
  });

  it("says what is wrong with the URL, the host or the repository", async () => {
    initRepo(join(temp.path, "empty.git"), { bare: true });
    buildLongRepo(join(temp.path, "some.git"), { commits: 2, files: 2 });
    await using closed = await openGitHost(temp.path, { login: "ann:right" });
    const run = await created("wrong");
    for (
      const [url, status, words] of [
        [`${host.url}/none.git`, 5, "no git repository at"],
        [`${host.url}/empty.git`, 5, "has no commits yet"],
        ["http://git.example/a.git", 2, "in the clear"],
        ["git@host.example:a.git", 2, "give https://host/path"],
        [`${closed.url.replace("//", "//ann:hidden@")}/some.git`, 4, "not for this user"],
      ] as const
    ) {
      const ended = await run(url);
      assertEquals(ended.status, status, ended.err);
      assertStringIncludes(ended.err, words);
      assert(!ended.err.includes("hidden"), ended.err);
    }
    const login = closed.url.replace("//", "//ann:right@");
    const { status, err } = await run(`${login}/some.git`);
    assertEquals(status, 0, err);
  });

  it("imports into one's own repository only", async () => {
    await using other = await openHome(network);
    await other.cli(["repo", "create", "theirs"]);
    const args = [
      "repo",
      "mirror",
      `${other.account.handle}/theirs`,
      "--from",
      `${host.url}/x.git`,
    ];
    const { status, err } = await home.cli(args);
    assertEquals(status, 1);
    assertStringIncludes(err, "is not yours");
  });
});
