import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { type GitHome, openGitHome } from "../support/git_home.ts";
import { type Network, openNetwork } from "../support/network.ts";

describe("reading through git", () => {
  let network: Network;
  let owner: GitHome;
  let reader: GitHome;
  let url: string;

  beforeAll(async () => {
    network = await openNetwork();
    owner = await openGitHome(network, { name: "owner" });
    reader = await openGitHome(network, { name: "reader", login: false });
    url = (await owner.create({ name: "App" })).url;
    await owner.ok(".", "init", "-q", "work");
    for (const number of [1, 2, 3, 4, 5]) {
      await Deno.writeTextFile(join(owner.dir, `work/file${number}`), `${number}\n`.repeat(500));
      await owner.ok("work", "add", ".");
      await owner.ok("work", "commit", "-q", "-m", `commit ${number}`);
    }
    await owner.ok("work", "tag", "light", "HEAD~1");
    await owner.ok("work", "tag", "-a", "-m", "one", "v1", "HEAD~2");
    await owner.ok("work", "branch", "side", "HEAD~3");
    await owner.ok("work", "remote", "add", "origin", url);
    await owner.ok("work", "push", "-q", "origin", "--all");
    await owner.ok("work", "push", "-q", "origin", "--tags");
  });

  afterAll(async () => {
    await owner[Symbol.asyncDispose]();
    await reader[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
  });

  it("clones without a login, and checks out the default branch", async () => {
    const { status, err } = await reader.git(".", "clone", url, "clone");
    assertEquals({ status, err }, { status: 0, err: "Cloning into 'clone'...\n" });
    assertEquals(await reader.ok("clone", "symbolic-ref", "HEAD"), "refs/heads/main");
    assertEquals(await reader.ok("clone", "status", "--porcelain"), "");
    await reader.ok("clone", "fsck", "--strict");
  });

  it("clones all refs and objects as they are", async () => {
    await reader.ok(".", "clone", "-q", "--mirror", url, "mirror");
    assertEquals(
      await reader.ok("mirror", "for-each-ref"),
      await owner.ok("work", "for-each-ref", "refs/heads", "refs/tags"),
    );
    assertEquals(
      await reader.ok("mirror", "rev-list", "--objects", "--all", "--count"),
      await owner.ok("work", "rev-list", "--objects", "--all", "--count"),
    );
  });

  it("lists refs with what tags peel to, outside of any repository", async () => {
    const head = await owner.ok("work", "rev-parse", "main");
    const lines = (await reader.ok(".", "ls-remote", url)).split("\n");
    assertEquals(lines[0], `${head}\tHEAD`);
    assertEquals(
      lines.find((line) => line.endsWith("refs/tags/v1^{}"))?.slice(0, 40),
      await owner.ok("work", "rev-parse", "v1^{}"),
    );
    assertMatch(
      await reader.ok(".", "ls-remote", "--symref", url, "HEAD"),
      /^ref: refs\/heads\/main\t/,
    );
  });

  it("takes a DID, raw or with its colons escaped, a name in any case, and .git at its end", async () => {
    const head = await owner.ok("work", "rev-parse", "main");
    const { did } = owner.account;
    for (
      const [whose, name] of [
        [did, "App"],
        [did.replaceAll(":", "%3A"), "App"],
        [owner.account.handle, "app.git"],
        [owner.account.handle, "APP/"],
      ]
    ) {
      assertEquals(
        await reader.ok(".", "ls-remote", `knotless://${whose}/${name}`, "refs/heads/main"),
        `${head}\trefs/heads/main`,
      );
    }
  });

  it("clones to a depth, deepens and fetches the rest, with exact counts", async () => {
    await reader.ok(".", "clone", "-q", "--depth=1", url, "shallow");
    const count = () => reader.ok("shallow", "rev-list", "--count", "HEAD");
    assertEquals(await count(), "1");
    await reader.ok("shallow", "fetch", "-q", "--deepen=2");
    assertEquals(await count(), "3");
    await reader.ok("shallow", "fetch", "-q", "--depth=2");
    assertEquals(await count(), "2");
    await reader.ok("shallow", "fetch", "-q", "--unshallow");
    assertEquals(await count(), "5");
    await reader.ok("shallow", "fsck", "--strict");
  });

  it("clones without blobs, and fetches one when it is read", async () => {
    await reader.ok(".", "clone", "-q", "--filter=blob:none", "--no-checkout", url, "partial");
    const missing = async () =>
      (await reader.ok("partial", "rev-list", "--objects", "--all", "--missing=print"))
        .split("\n").filter((line) => line.startsWith("?")).length;
    assertEquals(await missing(), 5);
    assertEquals(await reader.ok("partial", "show", "HEAD:file1"), "1\n".repeat(500).trimEnd());
    assertEquals(await missing(), 4);
  });

  it("fetches a commit by its oid, though no ref is there", async () => {
    const oid = await owner.ok("work", "rev-parse", "HEAD~1");
    await reader.ok(".", "init", "-q", "single");
    await reader.ok("single", "fetch", "-q", "--depth=1", url, oid);
    assertEquals(await reader.ok("single", "rev-parse", "FETCH_HEAD"), oid);
  });

  it("clones one branch, and what a bundle of settings asks for", async () => {
    await reader.ok(
      ".",
      "clone",
      "-q",
      "--single-branch",
      "--branch=side",
      "--no-tags",
      url,
      "one",
    );
    assertEquals(
      await reader.ok("one", "for-each-ref", "--format=%(refname)"),
      [
        "refs/heads/side",
        "refs/remotes/origin/side",
      ].join("\n"),
    );
  });

  it("shows git's progress when asked", async () => {
    const { err } = await reader.git(".", "clone", "--progress", url, "shown");
    assertMatch(err, /remote: Counting objects: 100% \(\d+\/\d+\), done\./);
    assertMatch(err, /Receiving objects: 100%/);
  });

  it("serves protocol 2 whatever git is set to, and older ones for git's own sake", async () => {
    for (const version of ["0", "1", "2"]) {
      const head = await reader.ok(
        ".",
        "-c",
        `protocol.version=${version}`,
        "ls-remote",
        url,
        "HEAD",
      );
      assertEquals(head, `${await owner.ok("work", "rev-parse", "main")}\tHEAD`);
    }
  });

  it("is not led astray by the environment of the repository that fetches", async () => {
    const { status, err } = await reader.gitWith(
      {
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "safe.bareRepository",
        GIT_CONFIG_VALUE_0: "explicit",
      },
      "clone",
      "fetch",
      "origin",
    );
    assertEquals({ status, err }, { status: 0, err: "" });
  });

  it("clones an empty repository with the default branch it was made with", async () => {
    const { url } = await owner.create({ name: "empty", default_branch: "trunk" });
    const { status, err } = await reader.git(".", "clone", url, "empty");
    assertEquals(status, 0);
    assertMatch(err, /warning: You appear to have cloned an empty repository/);
    assertEquals(await reader.ok("empty", "symbolic-ref", "HEAD"), "refs/heads/trunk");
  });

  it("fetches what is new, and prunes what is gone", async () => {
    const { url } = await owner.create({ name: "moving" });
    await owner.ok("work", "push", "-q", url, "main~2:refs/heads/main", "main:refs/heads/gone");
    await reader.ok(".", "clone", "-q", url, "moving");
    await owner.ok("work", "push", "-q", url, "main", ":gone");
    const { err } = await reader.git("moving", "fetch", "--prune");
    assertMatch(err, /- \[deleted\] +\(none\) +-> origin\/gone/);
    assertMatch(err, /[0-9a-f]{7}\.\.[0-9a-f]{7} +main +-> origin\/main/);
    assertEquals(
      await reader.ok("moving", "rev-parse", "origin/main"),
      await owner.ok("work", "rev-parse", "main"),
    );
  });

  it("says in one line and a hint what is not there, and leaves no folder", async () => {
    for (
      const [wrong, said] of [
        [`${url}-none`, /^fatal: no such repository: \S+\/App-none$/m],
        ["knotless://nobody.test/app", /^fatal: .*nobody\.test/m],
        ["knotless://app", /^fatal: .*knotless:\/\/app is not a repository/m],
      ] as const
    ) {
      const { status, err } = await reader.git(".", "clone", wrong, "none");
      assertEquals(status, 128);
      assertMatch(err, said);
      assertEquals(err.match(/^fatal:/gm)?.length, 1, err);
    }
    assert(!(await Array.fromAsync(Deno.readDir(reader.dir))).some(({ name }) => name === "none"));
  });

  it("refuses a SHA-256 repository in git's words", async () => {
    await reader.ok(".", "init", "-q", "--object-format=sha256", "sha256");
    const { status, err } = await reader.git("sha256", "fetch", url);
    assertEquals(status, 128);
    assertMatch(err, /fatal: mismatched algorithms: client sha256; server sha1/);
  });

  it("follows a rename, and says the new name", async () => {
    const { url, repository } = await owner.create({ name: "before" });
    const { renameRepository } = await import("../../core/forge/settings.ts");
    await renameRepository(
      await owner.open("write"),
      { owner: owner.account.did, name: "before" },
      "after",
    );
    const { status, err } = await reader.git(".", "ls-remote", url);
    assertEquals(status, 0);
    assertEquals(err, `note: ${repository.spelled} is now ${owner.account.handle}/after\n`);
  });

  it("fetches submodules once git trusts the protocol", async () => {
    const { url: outer } = await owner.create({ name: "outer" });
    await owner.ok(".", "init", "-q", "outer");
    const allow = ["-c", "protocol.knotless.allow=always"];
    await owner.ok("outer", ...allow, "submodule", "--quiet", "add", url, "inner");
    await owner.ok("outer", "commit", "-q", "-m", "add a submodule");
    await owner.ok("outer", "push", "-q", outer, "main");
    await reader.ok(".", ...allow, "clone", "-q", "--recurse-submodules", outer, "outer");
    assertEquals(await reader.ok("outer/inner", "rev-list", "--count", "HEAD"), "5");
  });
});
