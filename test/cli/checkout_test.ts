import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";
import { assertEquals, assertThrows } from "@std/assert";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chooseRepo, findCheckoutRepo } from "../../cli/checkout.ts";
import { parseGitConfig } from "../../core/git_config.ts";
import { unsafe, UsageError } from "../../core/errors.ts";
import { commitFiles, git, initRepo, type TempDir, tempDir } from "../support/git.ts";

describe("the repository of a checkout", () => {
  let temporary: TempDir;
  let dir: string;
  const find = (where = dir, env = {}) => findCheckoutRepo(where, env)?.repo;

  beforeEach(() => {
    temporary = tempDir();
    dir = initRepo(join(temporary.path, "work"));
  });
  afterEach(() => temporary[Symbol.dispose]());

  it("is none without a remote of knotless, or without git", () => {
    git(dir, "remote", "add", "origin", "https://example.test/a/b.git");
    assertEquals(find(), undefined);
    assertEquals(find("/"), undefined);
    assertEquals(find(join(temporary.path, "absent", "folder")), undefined);
  });

  it("is the only remote's, seen from any folder below", () => {
    git(dir, "remote", "add", "origin", "https://example.test/a/b.git");
    git(dir, "remote", "add", "forge", "knotless://alice.test/app.git/");
    mkdirSync(join(dir, "a", "b"), { recursive: true });
    assertEquals(find(join(dir, "a", "b")), "alice.test/app");
  });

  it("is the one that the current branch tracks, before all others", () => {
    git(dir, "remote", "add", "origin", "knotless://alice.test/app");
    git(dir, "remote", "add", "fork", "knotless://did:plc%3Axyz/app");
    git(dir, "config", "knotless.repo", "else.test/x");
    git(dir, "checkout", "-q", "-b", "topic/one");
    git(dir, "config", "branch.topic/one.remote", "fork");
    assertEquals(find(), "did:plc:xyz/app");
  });

  it("is the configured one where several are as likely, else origin's", () => {
    git(dir, "remote", "add", "origin", "knotless://alice.test/app");
    git(dir, "remote", "add", "fork", "knotless://bob.test/app");
    assertEquals(find(), "alice.test/app");
    git(dir, "config", "knotless.repo", "bob.test/app");
    assertEquals(find(), "bob.test/app");
  });

  it("is not guessed among several, and the error says how to settle it", () => {
    git(dir, "remote", "add", "one", "knotless://alice.test/app");
    git(dir, "remote", "add", "two", "knotless://bob.test/app");
    const error = assertThrows(
      find,
      UsageError,
      "several repositories: alice.test/app (one), bob.test/app (two)",
    );
    assertEquals(error.hint, "git config knotless.repo alice.test/app");
  });

  it("is found from a linked worktree, by the branch checked out there", () => {
    git(dir, "remote", "add", "origin", "knotless://alice.test/app");
    git(dir, "remote", "add", "fork", "knotless://bob.test/app");
    commitFiles(dir, "start", { a: "a" });
    const linked = join(temporary.path, "linked");
    git(dir, "worktree", "add", "-q", "-b", "topic", linked);
    git(dir, "config", "branch.topic.remote", "fork");
    assertEquals(find(linked), "bob.test/app");
    assertEquals(find(), "alice.test/app");
  });

  it("is that of GIT_DIR where it is set", () => {
    git(dir, "remote", "add", "origin", "knotless://alice.test/app");
    assertEquals(find(temporary.path, { GIT_DIR: "work/.git" }), "alice.test/app");
    assertEquals(find(dir, { GIT_DIR: "/nowhere" }), undefined);
  });

  it("is quoted safely when it is hostile", () => {
    const config =
      '[remote "a\u202e"]\nurl = knotless://x\u001b/y\n[remote "b"]\nurl = knotless://b/b\n';
    const error = assertThrows(() => chooseRepo(config, ""), UsageError);
    assertEquals((error.message + error.hint).match(unsafe()), null);
  });
});

describe("a git config", () => {
  it("reads as git reads it", () => {
    using temporary = tempDir();
    const dir = initRepo(join(temporary.path, "odd"));
    const text = [
      "# a comment",
      "[Core] bare = false ; another",
      '[remote "we \\"ird\\\\ 名"]',
      '\tURL = "  knotless://a/b # not a comment "  # one',
      "  fetch = +refs/heads/*:refs/remotes/x/*",
      "[alias]",
      "  x = one \\",
      '    two \\t\\n\\\\ \\"q\\" "a"b  ',
      "  empty =",
      "  flag",
      "[branch.Old]",
      "  remote = x",
      '[section "Sub.Dot"]key=v',
      "",
    ].join("\n");
    Deno.writeTextFileSync(join(dir, ".git", "config"), text);
    const told = git(dir, "config", "--null", "--list", "--file", join(dir, ".git", "config"));
    const expected = told.split("\0").filter(Boolean).map((entry) => {
      const at = entry.indexOf("\n");
      return at < 0
        ? { key: entry, value: "true" }
        : { key: entry.slice(0, at), value: entry.slice(at + 1) };
    });
    assertEquals(parseGitConfig(text), expected);
  });

  it("that is broken is read as far as it goes", () => {
    assertEquals(parseGitConfig('x = 1\n[a\n[b "c]\n[d]\n= x\ny = "open\n[e]\nz=\\'), [
      { key: "d.y", value: "open" },
      { key: "e.z", value: "" },
    ]);
  });
});
