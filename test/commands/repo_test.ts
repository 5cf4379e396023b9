import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { type Network, openNetwork } from "../support/network.ts";
import { openTwins, type Twins } from "../support/both.ts";
import type { Home } from "../support/home.ts";
import { openOwner } from "../support/owner.ts";

const TRUNK = { default_branch: "trunk" };

describe("repositories", () => {
  let network: Network;
  let twins: Twins;
  const mine = (name: string, more: object = {}) => (home: Home) => ({
    repo: `${home.account.handle}/${name}`,
    ...more,
  });

  beforeAll(async () => {
    network = await openNetwork();
    twins = await openTwins(network);
  });
  afterAll(async () => {
    await twins[Symbol.asyncDispose]();
  });

  it("are created with what they are to say of themselves, and listed newest first", async () => {
    const made = await twins.both("repo create", {
      name: "app",
      description: "An app",
      topics: ["Forge", "git"],
      links: [{ url: "https://example.com", title: "Home" }],
      ...TRUNK,
    });
    assertEquals(made, {
      repo: `${twins.left.account.handle}/app`,
      uri: made.uri,
      defaultBranch: "trunk",
      members: [],
      runners: [],
      warning: null,
    });
    assertMatch(made.uri, /^at:\/\/did:plc:[a-z2-7]{24}\/dev\.knotless\.repo\/[2-7a-z]{13}$/);
    await twins.both("repo create", { name: "second" });
    const { repos } = await twins.both("repo list");
    assertEquals(repos.map(({ repo }: { repo: string }) => repo.split("/")[1]), ["second", "app"]);
    assertEquals(repos[1], {
      repo: made.repo,
      uri: made.uri,
      description: "An app",
      topics: ["forge", "git"],
      defaultBranch: "trunk",
      createdAt: repos[1].createdAt,
    });
    const theirs = await twins.both("repo list", { handle: twins.right.account.handle });
    assertEquals(theirs.repos.length, 2);
  });

  it("whose record is not valid are left out of the list, with a note that names it", async () => {
    const owner = await openOwner(network, twins.left.account);
    const { uri, rkey } = await owner.create("dev.knotless.repo", { name: 5 });
    const { out, err, status } = await twins.left.cli(["repo", "list", "--json"]);
    assertEquals([status, JSON.parse(out).repos.length], [0, 2]);
    assertStringIncludes(err, `left out, for the record is not valid: ${uri}`);
    await owner.delete("dev.knotless.repo", rkey);
  });

  it("have names that are unique without case", async () => {
    const { message, exit } = await twins.refuse("repo create", { name: "APP" });
    assertEquals([message, exit], [`${twins.left.account.handle}/app exists`, 6]);
    for (const name of ["", "-x", "a..b", "a.git", "a.lock", "a b", "é", "x".repeat(101)]) {
      assertEquals((await twins.refuse("repo create", { name })).exit, 2, name);
    }
    assertEquals((await twins.refuse("repo create", { name: "p", private: true })).exit, 1);
    assertEquals((await twins.refuse("repo create", { name: "p", runners: ["a.test"] })).exit, 1);
    assertEquals((await twins.refuse("repo create", { name: "p", nmae: "q" })).exit, 2);
    const taken = await twins.left.cli(["repo", "list", "--json"]);
    assertEquals(JSON.parse(taken.out).repos.length, 2);
  });

  it("have no commits at first", async () => {
    assertEquals(await twins.both("repo refs", mine("app")), {
      defaultBranch: "trunk",
      branches: [],
      tags: [],
      other: [],
    });
    for (const name of ["repo log", "repo tree"]) {
      const { message, exit } = await twins.refuse(name, mine("app"));
      assertEquals([message, exit], [`${twins.left.account.handle}/app has no commits yet`, 5]);
    }
  });

  it("take a first commit without a checkout, and changes after it", async () => {
    const first = await twins.both(
      "repo commit",
      mine("app", {
        message: "Begin",
        changes: [
          { path: "README.md", content: "# App\n\nteh app\n" },
          { path: "src/a.ts", content: "export const a = 1;\n" },
          { path: "logo.bin", base64: "AAEC/w==" },
        ],
      }),
    );
    assertEquals(first.branch, "trunk");
    const second = await twins.both(
      "repo commit",
      mine("app", {
        message: "Fix a typo\n\nIt was teh.",
        changes: [
          { path: "README.md", edits: [{ old: "teh", new: "the" }] },
          { path: "src/a.ts", delete: true },
          { path: "src/b.ts", content: "export const b = 2;\n" },
        ],
        base: "HEAD",
      }),
    );
    const { commits } = await twins.both("repo log", mine("app", { limit: 5 }));
    assertEquals(commits.map(({ sha }: { sha: string }) => sha), [second.commit, first.commit]);
    const { handle } = twins.left.account;
    assertEquals(commits[0], {
      sha: second.commit,
      parents: [first.commit],
      author: {
        name: handle,
        email: `${handle}@noreply.knotless.dev`,
        date: commits[0].author.date,
      },
      summary: "Fix a typo",
      body: "It was teh.",
    });
    const one = await twins.both("repo log", mine("app", { path: "src", limit: 1 }));
    assertEquals([one.commits.length, one.more], [1, true]);
    const next = await twins.both("repo log", mine("app", { path: "src", cursor: one.cursor }));
    assertEquals(next.commits.map(({ sha }: { sha: string }) => sha), [first.commit]);
  });

  it("show the history of a file past its renames", async () => {
    const content = "one line\nanother\na third\nand a fourth\n";
    const commit = (message: string, ...changes: object[]) =>
      twins.both("repo commit", mine("second", { message, changes, branch: "main" }));
    const { commit: made } = await commit("Make", { path: "old name", content });
    const { commit: moved } = await commit(
      "Move",
      { path: "old name", delete: true },
      { path: "new", content: `${content}a fifth\n` },
    );
    const asked = (more: object) =>
      twins.both("repo log", mine("second", { path: "new", ...more }));
    const shown = ({ commits }: { commits: { sha: string; path?: string }[] }) =>
      commits.map(({ sha, path }) => [sha, path]);
    assertEquals(shown(await asked({})), [[moved, undefined]]);
    assertEquals(shown(await asked({ follow: true })), [[moved, undefined], [made, "old name"]]);
    const first = await asked({ follow: true, limit: 1 });
    assertEquals([shown(first), first.more], [[[moved, undefined]], true]);
    const { cursor } = first;
    assertEquals(shown(await asked({ follow: true, cursor })), [[made, "old name"]]);
    const { exit, message } = await twins.refuse("repo log", mine("second", { follow: true }));
    assertEquals([exit, message], [2, "follow is for a path: give one"]);
  });

  it("are read by path and rev", async () => {
    const top = await twins.both("repo tree", mine("app"));
    assertEquals(
      top.entries.map(({ name, type, mode }: Record<string, string>) => [name, type, mode]),
      [
        ["README.md", "file", "100644"],
        ["logo.bin", "file", "100644"],
        ["src", "directory", "040000"],
      ],
    );
    const whole = await twins.both("repo read", mine("app", { path: "README.md" }));
    assertEquals([whole.text, whole.size, whole.mode], ["# App\n\nthe app\n", 15, "100644"]);
    const part = await twins.both(
      "repo read",
      mine("app", { path: "README.md", start: 3, end: 9 }),
    );
    assertEquals(part, { start: 3, end: 3, lines: 3, text: "the app\n" });
    const old = await twins.both("repo read", mine("app", { path: "src/a.ts", rev: "HEAD~1" }));
    assertEquals(old.text, "export const a = 1;\n");
    const binary = await twins.both("repo read", mine("app", { path: "logo.bin" }));
    assertEquals([binary.base64, "text" in binary], ["AAEC/w==", false]);
    const raw = await twins.left.cli([
      "repo",
      "read",
      top.repo ?? mine("app")(twins.left).repo,
      "logo.bin",
    ]);
    assertEquals([...raw.bytes], [0, 1, 2, 255]);
    const refused: [object, number, RegExp][] = [
      [{ path: "nope" }, 5, /^there is no nope in [0-9a-f]{40}$/],
      [{ path: "src" }, 5, /^src is a directory, not a file$/],
      [{ path: "README.md", rev: "nope" }, 5, /nope/],
      [{ path: "README.md", rev: "main@{1}" }, 2, /is not a rev/],
      [{ path: "README.md", start: 9 }, 2, /^start is 9: README\.md has 3 lines$/],
      [{ path: "README.md", start: 3, end: 2 }, 2, /^end is 2/],
      [{ path: "../x" }, 2, /\.\./],
      [{}, 2, /^path is missing/],
    ];
    for (const [args, exit, pattern] of refused) {
      const failed = await twins.refuse("repo read", mine("app", args));
      assertEquals(failed.exit, exit, failed.message);
      assertMatch(failed.message, pattern);
    }
  });

  it("lead from a path that is not there to what is", async () => {
    const advice = async (name: string, args: object) =>
      (await twins.refuse(name, mine("app", args))).tool.split("\n")[1]
        ?.replace(/"[^"]+\/app"/, "REPO").replace(/"[0-9a-f]{40}"/, "COMMIT");
    assertEquals(await advice("repo read", { path: "readme.md" }), "did you mean README.md?");
    assertEquals(await advice("repo blame", { path: "src/b.tsx" }), "did you mean src/b.ts?");
    assertEquals(await advice("repo tree", { path: "scr/deep" }), "did you mean src?");
    assertEquals(await advice("repo log", { rev: "trnuk" }), "did you mean trunk?");
    assertEquals(
      await advice("repo search", { path: "src/other.md", text: "a" }),
      'call repo_tree with repo: REPO, path: "src"',
    );
    assertEquals(
      await advice("repo read", { path: "other", rev: "HEAD~1" }),
      "call repo_tree with repo: REPO, rev: COMMIT",
    );
    assertEquals(
      await advice("repo read", { path: "README.md/x" }),
      "README.md is no directory",
    );
  });

  it("show what a rev changed", async () => {
    const { diff, mergeBase } = await twins.both(
      "repo diff",
      mine("app", { base: "HEAD~1", paths: ["README.md"] }),
    );
    assertMatch(
      diff,
      /^diff --git a\/README\.md b\/README\.md\nindex [0-9a-f]{40}\.\.[0-9a-f]{40}/,
    );
    assert(diff.endsWith("-teh app\n+the app\n"));
    assertMatch(mergeBase, /^[0-9a-f]{40}$/);
    const text = await twins.left.cli(["repo", "diff", mine("app")(twins.left).repo, "HEAD~1"]);
    assertMatch(text.out, /^diff --git a\/README\.md[^]*\ndiff --git a\/src\/b\.ts/);
    const none = await twins.both("repo diff", mine("app", { base: "HEAD" }));
    assertEquals(none.said, "No differences: trunk changes nothing since HEAD");
    const nowhere = await twins.both(
      "repo diff",
      mine("app", { base: "HEAD~1", paths: ["src/*", "logo.bin"] }),
    );
    assertEquals(
      nowhere.said,
      "No differences in those paths: trunk changes nothing there since HEAD~1; neither has src/*",
    );
  });

  it("refuse a commit that does not fit, whole", async () => {
    const refused: [object, number, RegExp][] = [
      [
        { changes: [{ path: "README.md", edits: [{ old: "xyz", new: "" }] }] },
        2,
        /^edit 1 of README\.md: old is not in the file$/,
      ],
      [
        { changes: [{ path: "README.md", edits: [{ old: "p", new: "q" }] }] },
        2,
        /^edit 1 of README\.md: old is there 4 times$/,
      ],
      [
        { changes: [{ path: "nope", edits: [{ old: "a", new: "b" }] }] },
        5,
        /^nope: no file there to edit$/,
      ],
      [{ changes: [{ path: "nope", delete: true }] }, 5, /^nope: /],
      [{ changes: [{ path: "a" }] }, 2, /^a: give one of content, base64, edits and delete$/],
      [{ changes: [{ path: "a", content: "", delete: true }] }, 2, /^a: give one of/],
      [{ changes: [{ path: "a", base64: "%%%" }] }, 2, /base64/],
      [{ changes: [{ path: "/a", content: "" }] }, 2, /\/a/],
      [{ changes: [{ path: "a/../b", content: "" }] }, 2, /\.\./],
      [{ changes: [{ path: ".GIT/config", content: "" }] }, 2, /\.GIT/],
      [{ changes: [{ path: "a//b", content: "" }] }, 2, /a\/\/b/],
      [{ changes: [{ path: "README.md/x", content: "" }] }, 2, /README\.md/],
      [{ changes: [] }, 2, /changes/],
      [{ changes: [{ path: "README.md", content: "# App\n\nthe app\n" }] }, 1, /^nothing changes$/],
      [{ message: "  ", changes: [{ path: "a", content: "" }] }, 2, /message is empty/],
      [{ branch: "nope", changes: [{ path: "a", content: "" }] }, 5, /^there is no branch nope$/],
      [{ branch: "-x", changes: [{ path: "a", content: "" }] }, 2, /begins with a dash/],
      [{ batch: true, changes: [{ path: "a", content: "" }] }, 1, /no gateway/],
    ];
    const before = await twins.both("repo refs", mine("app"));
    for (const [args, exit, pattern] of refused) {
      const failed = await twins.refuse("repo commit", mine("app", { message: "No", ...args }));
      assertMatch(failed.message, pattern);
      assertEquals(failed.exit, exit, failed.message);
    }
    assertEquals(await twins.both("repo refs", mine("app")), before);
  });

  it("know what they take up on their PDS", async () => {
    const storage = await twins.both("repo storage", mine("app"));
    assertEquals([storage.packs, storage.blobBytes], [2, 0]);
    assert(storage.objects >= 10 && storage.bytes > 100, JSON.stringify(storage));
  });

  it("are compacted into one pack", async () => {
    const compacted = await twins.both("repo compact", mine("app"));
    assertEquals(compacted, { before: 2, removed: 1, claims: 0, refs: 0 });
    assertEquals((await twins.both("repo storage", mine("app"))).packs, 1);
    const { entries } = await twins.both("repo tree", mine("app"));
    assertEquals(entries.length, 3);
  });

  it("change what they say of themselves, and drop it", async () => {
    const edited = await twins.both(
      "repo edit",
      mine("app", { description: "Another", topics: [], links: [{ url: "https://a.example" }] }),
    );
    assertEquals(edited, {
      description: "Another",
      links: [{ url: "https://a.example" }],
      topics: [],
      defaultBranch: "trunk",
    });
    assertEquals((await twins.both("repo edit", mine("app", { description: "" }))).description, "");
    assertEquals((await twins.refuse("repo edit", mine("app"))).exit, 2);
    assertEquals((await twins.refuse("repo edit", mine("app", { default_branch: "no" }))).exit, 5);
    assertEquals((await twins.refuse("repo edit", mine("app", { topics: ["a b"] }))).exit, 2);
    assertEquals((await twins.refuse("repo edit", mine("app", { links: [{ url: "x" }] }))).exit, 2);
    for (const description of ["a\nb", "\x1b[31ma", "a\u202eb", "x".repeat(351)]) {
      assertEquals((await twins.refuse("repo edit", mine("app", { description }))).exit, 2);
    }
  });

  it("are renamed, and the old name leads to them", async () => {
    const renamed = await twins.both("repo rename", mine("app", { name: "Tool" }));
    assertEquals([renamed.repo, renamed.was], [`${twins.left.account.handle}/Tool`, "app"]);
    const byOld = await twins.left.cli(["repo", "refs", mine("app")(twins.left).repo, "--json"]);
    assertEquals(byOld.status, 0);
    assertMatch(byOld.err, /is now .*\/Tool/);
    assertEquals(JSON.parse(byOld.out), await twins.both("repo refs", mine("tool")));
    assertEquals((await twins.refuse("repo rename", mine("tool", { name: "second" }))).exit, 6);
    await twins.both("repo rename", mine("tool", { name: "app" }));
  });

  it("are archived, read only then, and unarchived", async () => {
    const { archivedAt } = await twins.both("repo archive", mine("app"));
    assertMatch(archivedAt, /^20/);
    assertEquals(await twins.both("repo archive", mine("app")), { archivedAt });
    for (
      const [name, args] of [
        ["repo edit", { description: "x" }],
        ["repo rename", { name: "x" }],
        ["branch create", { name: "x" }],
        ["tag create", { name: "x" }],
        ["repo commit", { message: "x", changes: [{ path: "x", content: "" }] }],
      ] as const
    ) {
      const { message, exit, tool } = await twins.refuse(name, mine("app", args));
      assertEquals([message, exit], [`${twins.left.account.handle}/app is archived`, 1]);
      assertMatch(tool, /repo_archive/);
    }
    assertEquals(await twins.both("repo archive", mine("app", { undo: true })), {
      archivedAt: null,
    });
  });

  it("of someone else are not written to", async () => {
    const theirs = (more: object) => (home: Home) => {
      const other = home === twins.left ? twins.right : twins.left;
      return { repo: `${other.account.handle}/app`, ...more };
    };
    const { exit, tool } = await twins.refuse("branch create", theirs({ name: "x" }));
    assertEquals(exit, 1);
    assertMatch(tool, /repo_fork/);
  });

  it("are forked with all their refs", async () => {
    const theirs = (home: Home) => {
      const other = home === twins.left ? twins.right : twins.left;
      return { repo: `${other.account.handle}/app` };
    };
    assertEquals((await twins.refuse("repo fork", theirs)).exit, 6);
    const forked = await twins.both(
      "repo fork",
      (home: Home) => ({ ...theirs(home), name: "copy" }),
    );
    assertEquals([forked.branches, forked.tags], [1, 0]);
    assertEquals(forked.forkOf.repo, `${twins.right.account.handle}/app`);
    const refs = await twins.both("repo refs", mine("copy"));
    assertEquals(refs, await twins.both("repo refs", theirs(twins.left)));
  });

  it("are deleted with everything in them, when confirmed", async () => {
    assertEquals((await twins.refuse("repo delete", mine("copy"))).exit, 2);
    assertEquals((await twins.refuse("repo delete", mine("copy", { confirm: "app" }))).exit, 2);
    const deleted = await twins.both("repo delete", mine("copy", { confirm: "copy" }));
    assert(deleted.records >= 3, JSON.stringify(deleted));
    assertEquals((await twins.refuse("repo refs", mine("copy"))).exit, 5);
    assertEquals((await twins.refuse("repo delete", mine("copy", { confirm: "copy" }))).exit, 5);
    await twins.both("repo create", { name: "copy" });
  });

  it("that are not there, and owners that are not, are told apart", async () => {
    const { handle } = twins.left.account;
    assertEquals(
      (await twins.refuse("repo refs", mine("nope"))).message,
      `no such repository: ${handle}/nope`,
    );
    const nobody = await twins.refuse("repo refs", { repo: "nobody-here.test/app" });
    assertEquals(nobody.exit, 5);
    assertMatch(nobody.message, /nobody-here\.test/);
    assertEquals((await twins.refuse("repo refs", { repo: "not a repo" })).exit, 2);
  });
});
