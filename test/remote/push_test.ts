import { afterAll, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { editRepository } from "../../core/forge/settings.ts";
import { type GitHome, openGitHome } from "../support/git_home.ts";
import { type Network, openNetwork } from "../support/network.ts";

let network: Network;
let home: GitHome;
let number = 0;
/** A repository on the network with nothing in it. */
let url: string;

/** The refs of a repository as anyone reads them: `oid name` lines. */
async function refsOf(where: string): Promise<string[]> {
  const lines = await home.ok(".", "ls-remote", where);
  return lines.split("\n").filter((line) => line !== "").map((line) => line.replace("\t", " "));
}

/** The oid that each of the revs has in the repository that is pushed from. */
async function oids(...revs: string[]): Promise<string[]> {
  return (await home.ok("work", "rev-parse", ...revs)).split("\n");
}

/** Pushes and gives the lines that tell what became of each ref. */
async function push(...args: string[]): Promise<{ status: number; said: string[]; err: string }> {
  const { status, err } = await home.git("work", "push", ...args);
  const said = err.split("\n").filter((line) => /^ [ *+!=-] /.test(line));
  return { status, err, said: said.map((line) => line.trim().replace(/\s+/g, " ")) };
}

beforeAll(async () => {
  network = await openNetwork();
  home = await openGitHome(network, { name: "pusher" });
  await home.ok(".", "init", "-q", "work");
  for (const count of [1, 2, 3]) {
    await Deno.writeTextFile(join(home.dir, "work/file"), `${count}\n`);
    await home.ok("work", "add", ".");
    await home.ok("work", "commit", "-q", "-m", `commit ${count}`);
  }
  await home.ok("work", "branch", "side", "main~1");
  await home.ok("work", "checkout", "-q", "--orphan", "apart");
  await home.ok("work", "commit", "-q", "-m", "commit apart");
  await home.ok("work", "checkout", "-q", "main");
  await home.ok("work", "tag", "light");
  await home.ok("work", "tag", "-a", "-m", "one", "v1", "main~1");
  await home.ok("work", "tag", "-a", "-m", "of a tag", "again", "v1");
  await home.ok("work", "tag", "blob", "main:file");
  await home.ok("work", "tag", "-a", "-m", "of a tree", "tree", "main^{tree}");
});

afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
});

beforeEach(async () => {
  url = (await home.create({ name: `app${number++}` })).url;
});

describe("git push", () => {
  it("brings one branch into an empty repository, in git's words and no more", async () => {
    const { status, err } = await home.git("work", "push", url, "main");
    assertEquals({ status, err }, {
      status: 0,
      err: `To ${url}\n * [new branch]      main -> main\n`,
    });
    const [main] = await oids("main");
    assertEquals(await refsOf(url), [`${main} HEAD`, `${main} refs/heads/main`]);
  });

  it("brings several refs, and publishes none that was not asked for", async () => {
    assertEquals((await push(url, "main", "side:other", "light")).said.sort(), [
      "* [new branch] main -> main",
      "* [new branch] side -> other",
      "* [new tag] light -> light",
    ]);
    const [main, side] = await oids("main", "side");
    assertEquals(await refsOf(url), [
      `${main} HEAD`,
      `${main} refs/heads/main`,
      `${side} refs/heads/other`,
      `${main} refs/tags/light`,
    ]);
  });

  it("brings tags of every kind, with what they peel to", async () => {
    await push(url, "main", "--tags");
    const [main, v1, again, tree, blob, commit, root] = await oids(
      "main",
      "v1",
      "again",
      "tree",
      "blob",
      "v1^{}",
      "tree^{}",
    );
    assertEquals((await refsOf(url)).slice(2), [
      `${again} refs/tags/again`,
      `${commit} refs/tags/again^{}`,
      `${blob} refs/tags/blob`,
      `${main} refs/tags/light`,
      `${tree} refs/tags/tree`,
      `${root} refs/tags/tree^{}`,
      `${v1} refs/tags/v1`,
      `${commit} refs/tags/v1^{}`,
    ]);
    const tags = await home.ok("work", "for-each-ref", "refs/tags");
    await home.ok(".", "clone", "-q", "--mirror", url, `tags${number}`);
    assertEquals(await home.ok(`tags${number}`, "for-each-ref", "refs/tags"), tags);
    await home.ok(`tags${number}`, "fsck", "--strict");
  });

  it("moves a branch forward, and says that nothing is new when nothing is", async () => {
    await push(url, "main~2:refs/heads/main");
    const [from, to] = await oids("main~2", "main");
    assertEquals((await push(url, "main")).said, [
      `${from?.slice(0, 7)}..${to?.slice(0, 7)} main -> main`,
    ]);
    assertEquals((await push(url, "main")).err, "Everything up-to-date\n");
  });

  it("brings any revision that git can name", async () => {
    await push(url, "main", "main~1:refs/heads/before", "main^{tree}:refs/odd/tree");
    const [main, before, tree] = await oids("main", "main~1", "main^{tree}");
    assertEquals((await refsOf(url)).slice(1), [
      `${before} refs/heads/before`,
      `${main} refs/heads/main`,
      `${tree} refs/odd/tree`,
    ]);
  });

  it("deletes branches and tags", async () => {
    await push(url, "main", "side", "light");
    assertEquals((await push(url, ":side", ":light")).said, [
      "- [deleted] side",
      "- [deleted] light",
    ]);
    assertEquals((await refsOf(url)).map((line) => line.slice(41)), ["HEAD", "refs/heads/main"]);
  });

  it("does not delete the default branch", async () => {
    await push(url, "main", "side");
    const { status, said } = await push(url, ":main", ":side");
    assertEquals(status, 1);
    assertEquals(said, [
      "- [deleted] side",
      "! [remote rejected] main (refusing to delete the current branch: refs/heads/main)",
    ]);
    assertEquals((await refsOf(url)).length, 2);
  });

  it("does not move a branch aside unless forced", async () => {
    await push(url, "main");
    const { status, said } = await push(url, "apart:main");
    assertEquals(status, 1);
    assertEquals(said, ["! [rejected] apart -> main (non-fast-forward)"]);
    const forced = await push("--force", url, "apart:main");
    assertMatch(forced.said.join(), /^\+ \w{7}\.\.\.\w{7} apart -> main \(forced update\)$/);
    const [apart] = await oids("apart");
    assertEquals(await refsOf(url), [`${apart} HEAD`, `${apart} refs/heads/main`]);
  });

  it("does not move a branch from what it has never seen unless forced", async () => {
    await push(url, "main");
    await home.ok(".", "clone", "-q", url, "unseen");
    await home.ok("unseen", "commit", "-q", "--allow-empty", "-m", "theirs");
    await home.ok("unseen", "push", "-q", "origin", "main");
    const theirs = await home.ok("unseen", "rev-parse", "main");
    for (const args of [["apart:main"], ["--atomic", "apart:main"], ["main:main"]]) {
      const { status, said } = await push(url, ...args);
      assertEquals(status, 1);
      assertMatch(said.join(), /^! \[rejected\] \w+ -> main \(fetch first\)$/);
      assertEquals(await refsOf(url), [`${theirs} HEAD`, `${theirs} refs/heads/main`]);
    }
    assertEquals((await push("--force", url, "apart:main")).status, 0);
  });

  it("does not move a tag that is there unless forced", async () => {
    await push(url, "main", "light");
    assertEquals((await push(url, "side:refs/tags/light")).said, [
      "! [rejected] side -> light (already exists)",
    ]);
    assertEquals((await push(url, "+side:refs/tags/light")).status, 0);
  });

  it("forces with a lease that holds, and not with one that does not", async () => {
    await push(url, "main");
    const [main, side] = await oids("main", "side");
    const stale = await push(`--force-with-lease=main:${side}`, url, "apart:main");
    assertEquals(stale.said, ["! [rejected] apart -> main (stale info)"]);
    assertEquals((await push(`--force-with-lease=main:${main}`, url, "apart:main")).status, 0);
    assertEquals((await push("--force-with-lease=new:", url, "side:new")).status, 0);
    assertEquals((await push("--force-with-lease=new:", url, "apart:new")).said, [
      "! [rejected] apart -> new (stale info)",
    ]);
  });

  it("does all of an atomic push or nothing", async () => {
    await push(url, "main~1:refs/heads/main");
    const before = await refsOf(url);
    assertEquals((await push("--atomic", url, "side", "light", ":main")).status, 1);
    assertEquals(await refsOf(url), before);
    for (const main of ["main", "+apart:main"]) {
      const { status, said } = await push("--atomic", url, "side", main, "v1:refs/heads/tag");
      assertEquals(status, 1);
      assertEquals(said.filter((line) => line.includes("(atomic push failure)")).length, 2);
      assertEquals(said.filter((line) => line.includes("non-commit object")).length, 1);
      assertEquals(await refsOf(url), before);
    }
    assertEquals((await push("--atomic", url, "main", "side", "v1")).status, 0);
    assertEquals((await refsOf(url)).length, 5);
  });

  it("lets the other refs of a push through that is not atomic", async () => {
    await push(url, "main");
    const { status, said } = await push(url, "side", "v1:refs/heads/tag");
    assertEquals(status, 1);
    const [v1] = await oids("v1");
    assertEquals(said, [
      "* [new branch] side -> side",
      `! [remote rejected] v1 -> tag (trying to write non-commit object ${v1} to branch 'refs/heads/tag')`,
    ]);
    assertEquals((await refsOf(url)).map((line) => line.slice(41)), [
      "HEAD",
      "refs/heads/main",
      "refs/heads/side",
    ]);
  });

  it("writes nothing in a dry run, and says what would be", async () => {
    await push(url, "main");
    const { mirror } = (await home.create({ name: `dry${number}` })).repository;
    const before = await mirror.manifest();
    const { status, said } = await push("--dry-run", url, "side", "v1:refs/heads/tag", ":main");
    assertEquals(status, 1);
    assertEquals(said.length, 3);
    assertEquals((await refsOf(url)).length, 2);
    assertEquals((await mirror.manifest()).cid, before.cid);
  });

  it("refuses names that are reserved or no refs, and branches below branches", async () => {
    await push(url, "main");
    const { said } = await push(
      url,
      "main:refs/knotless/x",
      "main:refs/heads/HEAD",
      "main:refs/heads/main/below",
      "main:refs/heads/good",
    );
    assertEquals(said.length, 4);
    assertMatch(said.join("\n"), /main -> refs\/knotless\/x \(.*reserved\)/);
    assertMatch(said.join("\n"), /main -> HEAD \('HEAD' cannot name a branch: it is HEAD\)/);
    assertMatch(
      said.join("\n"),
      /\('refs\/heads\/main' exists; cannot create 'refs\/heads\/main\/below'\)/,
    );
    assertMatch(said.join("\n"), /\* \[new branch\] main -> good/);
  });

  it("takes names of refs that are UTF-8, and refuses others", async () => {
    await push(url, "main", "main:refs/heads/café");
    assertEquals((await refsOf(url)).map((line) => line.slice(41)), [
      "HEAD",
      "refs/heads/café",
      "refs/heads/main",
    ]);
    const { status } = await push("--force-with-lease=café", url, "apart:refs/heads/café");
    assertEquals(status, 1);
    const [main] = await oids("main");
    const name = Uint8Array.of(0x63, 0xe9, 0x0a);
    await home.ok(".", "clone", "-q", "--bare", "work", "latin1.git");
    await Deno.writeFile(
      join(home.dir, "latin1.git/packed-refs"),
      Uint8Array.from([...new TextEncoder().encode(`${main} refs/heads/`), ...name]),
    );
    const latin = await home.git("latin1.git", "push", url, "refs/heads/c*:refs/heads/c*");
    assertEquals(latin.status, 1);
    assertMatch(latin.err, /the name of the ref is not UTF-8/);
  });

  it("mirrors, and prunes what is gone, but never HEAD", async () => {
    await push(url, "main", "side:other");
    const { status, said } = await push("--mirror", url);
    assertEquals(status, 0);
    assertEquals(said.filter((line) => line.startsWith("-")), ["- [deleted] other"]);
    assertEquals(
      (await refsOf(url)).filter((line) => !/HEAD$|\^\{\}$/.test(line)),
      (await home.ok("work", "for-each-ref", "--format=%(objectname) %(refname)")).split("\n"),
    );
    assertEquals((await push("--prune", url, "refs/heads/*:refs/heads/*")).status, 0);
  });

  it("says that it does not sign and takes no push options", async () => {
    assertMatch((await push("--signed", url, "main")).err, /does not support --signed/);
    assertMatch((await push("-o", "x", url, "main")).err, /does not support 'push-option'/);
  });

  it("shows git's progress when asked, and nothing when told to be quiet", async () => {
    const { err } = await push("--progress", url, "main");
    assertMatch(err, /Counting objects: 100% \(\d+\/\d+\), done\./);
    assertEquals((await push("--quiet", url, "side:trunk")).err, "");
  });
});

describe("the default branch", () => {
  it("stays when the first push brings it", async () => {
    const { err } = await push(url, "side", "main", "apart:master");
    assertEquals(/note:/.test(err), false);
    assertMatch(await home.ok(".", "ls-remote", "--symref", url, "HEAD"), /refs\/heads\/main/);
  });

  it("is the only branch of the first push, which stderr says", async () => {
    const { err } = await push(url, "side:trunk", "v1");
    assertMatch(err, /^note: the default branch of \S+ is now trunk$/m);
    assertMatch(await home.ok(".", "ls-remote", "--symref", url, "HEAD"), /refs\/heads\/trunk/);
    await push(url, "main");
    assertMatch(await home.ok(".", "ls-remote", "--symref", url, "HEAD"), /refs\/heads\/trunk/);
    const cloned = `trunk${number}`;
    await home.ok(".", "clone", "-q", url, cloned);
    assertEquals(await home.ok(cloned, "symbolic-ref", "HEAD"), "refs/heads/trunk");
  });

  it("is master of several without main", async () => {
    await push(url, "side", "main:master");
    assertMatch(await home.ok(".", "ls-remote", "--symref", url, "HEAD"), /refs\/heads\/master/);
  });

  it("is what repo edit says, and can then be deleted no more", async () => {
    await push(url, "main", "side");
    const name = { owner: home.account.did, name: url.replace(/^.*\//, "") };
    await editRepository(await home.open("write"), name, { default_branch: "side" });
    assertEquals((await push(url, ":main")).status, 0);
    assertEquals((await push(url, ":side")).status, 1);
  });
});
