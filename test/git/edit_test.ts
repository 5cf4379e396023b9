import { assert, assertEquals, assertThrows } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { ConflictError, NotFoundError, RefusedError, UsageError } from "../../core/errors.ts";
import { latin1, utf8 } from "../../core/git/bytes.ts";
import { buildCommit, checkUnmoved } from "../../core/git/commit_build.ts";
import { parseCommit } from "../../core/git/commit.ts";
import { applyEdits } from "../../core/git/edit.ts";
import { hashObject } from "../../core/git/hash.ts";
import type { ObjectReader } from "../../core/git/object.ts";
import { checkPath } from "../../core/git/safe_path.ts";
import { type Change, changeTree, NewObjects } from "../../core/git/tree_build.ts";
import { findEntry, walkTree } from "../../core/git/walk.ts";
import { git, gitBytes, gitLines, initRepo } from "../support/git.ts";
import { loadObjects, makeHistory } from "../support/history.ts";
import { seededRandom } from "../support/random.ts";

const person = {
  name: utf8("A"),
  email: utf8("a@example.com"),
  time: 1_700_000_000,
  zone: "+0000",
};

describe("edits", () => {
  const edit = (file: string, ...pairs: [string, string][]) => {
    const edits = pairs.map(([old, made]) => ({ old: utf8(old), new: utf8(made) }));
    return new TextDecoder().decode(applyEdits(utf8(file), edits, "f.txt"));
  };

  it("are made in turn, each in what the one before left", () => {
    assertEquals(edit("one two", ["one", "two three"], ["three two", "3"]), "two 3");
    assertEquals(edit("é\r\nb", ["é\r\n", ""]), "b");
  });

  it("name the one that does not fit, and why", () => {
    const miss = () => edit("one", ["one", "two"], ["one", "three"]);
    assertEquals(
      assertThrows(miss, UsageError).message,
      "edit 2 of f.txt: old is not in the file",
    );
    assertThrows(
      () => edit("a a a", ["a", "b"]),
      UsageError,
      "edit 1 of f.txt: old is there 3 times",
    );
    assertThrows(() => edit("aaaa", ["aa", "b"]), UsageError, "old is there 2 times");
    assertEquals(edit("aaa", ["aa", "b"]), "ba");
    assertThrows(() => edit("a", ["", "b"]), UsageError, "edit 1 of f.txt: old is empty");
  });

  it("match as a plain search does", () => {
    const random = seededRandom(5);
    const letters = (length: number) =>
      Array.from({ length }, () => "ab"[Math.floor(random() * 2)]).join("");
    for (let round = 0; round < 500; round++) {
      const whole = letters(30);
      const part = letters(1 + Math.floor(random() * 6));
      const count = whole.split(part).length - 1;
      if (count === 1) assertEquals(edit(whole, [part, "-"]), whole.replace(part, "-"));
      else assertThrows(() => edit(whole, [part, "-"]), UsageError, "old is ");
    }
  });
});

describe("the path of a change", () => {
  it("is refused where git would refuse it", async () => {
    const dir = await Deno.makeTempDir();
    initRepo(dir, { bare: true });
    const words = [".git", ".GIT", "git~1", "GIT~1", "..", ".", "", "a", ".gitx", "git~2", "GIT"];
    const marks = ["", " ", ".", ". .", ":", "::$DATA", "\u200c", "\ufeff", "\\", "x", "\\x"];
    const paths = words.flatMap((word) =>
      marks.flatMap((
        mark,
      ) => [word + mark, `a/${mark}${word}`, `${word}${mark}/b`, `x\\${word}${mark}`])
    );
    const blob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
    for (const path of new Set([...paths, ".g\u200cit", ".git\u200d/x", "/a", "a//b", "a/"])) {
      // Git overlooks a backslash right after a slash, and drives; they are refused here.
      if (path.includes("/\\") || /(^|\/)a:([\\/]|$)/.test(path)) continue;
      const { success } = await new Deno.Command("git", {
        args: [
          ...["-c", "core.protectNTFS=true", "-c", "core.protectHFS=true"],
          ...["update-index", "--add", "--cacheinfo", `100644,${blob},${path}`],
        ],
        env: { GIT_DIR: dir, GIT_INDEX_FILE: `${dir}/${crypto.randomUUID()}` },
        stderr: "null",
      }).output();
      let isTaken = true;
      try {
        checkPath(utf8(path));
      } catch {
        isTaken = false;
      }
      assertEquals(isTaken, success, JSON.stringify(path));
    }
    await Deno.remove(dir, { recursive: true });
  });

  it("is named in the refusal", () => {
    const error = assertThrows(() => checkPath(utf8("a/../b")), UsageError);
    assertEquals(error.message, "a/../b: a path must not have . or .. in it");
    for (const path of ["C:/x", "c:\\x", "C:"]) {
      assertThrows(() => checkPath(utf8(path)), UsageError, "must not be absolute");
    }
    assertThrows(() => checkPath(utf8("a/d:/b")), UsageError, "must not name a drive");
    checkPath(utf8("a:b/c:d"));
    assertThrows(() => checkPath(utf8("a\u0000b")), UsageError, "NUL");
    assertThrows(() => checkPath(utf8("a/".repeat(3000) + "b")), UsageError, "4096");
  });
});

describe("a commit of changes", () => {
  let dir = "";
  let objects: ObjectReader;
  let tip = "";
  let tree = "";
  const put = (path: string, content = "new\n"): Change => ({
    path: utf8(path),
    content: utf8(content),
  });
  const remove = (path: string): Change => ({ path: utf8(path), delete: true });
  const build = (...changes: Change[]) =>
    buildCommit(objects, { tip, changes, author: person, committer: person, message: "m" });

  beforeAll(async () => {
    dir = await Deno.makeTempDir();
    makeHistory(dir, 21, 60);
    const blob = gitBytes(dir, "one\ntwo\n", "hash-object", "-w", "--stdin");
    const oid = latin1(blob).trim();
    const info = [
      `100644 ${oid}\tplain.txt`,
      `100755 ${oid}\trun.sh`,
      `120000 ${oid}\tlink`,
      `160000 ${oid}\tmodule`,
      `100644 ${oid}\tdir/sub/only.txt`,
      `100644 ${oid}\tdir/kept.txt`,
      `100644 ${oid}\tdir-a`,
    ].join("\n") + "\n";
    gitBytes(dir, info, "update-index", "--index-info");
    [tree = ""] = gitLines(dir, "write-tree");
    [tip = ""] = gitLines(dir, "commit-tree", "-m", "tip", tree);
    objects = loadObjects(dir);
  });
  afterAll(() => Deno.remove(dir, { recursive: true }));

  it("has the tree git makes of the same changes", () => {
    const random = seededRandom(9);
    let made = 0;
    for (const commit of gitLines(dir, "rev-list", "--all")) {
      const from = parseCommit(objects.read(commit)?.bytes ?? new Uint8Array()).tree;
      const files = [...walkTree(objects, from)];
      const changes: Change[] = [];
      const info: Uint8Array[] = [];
      const line = (mode: string, oid: string, path: Uint8Array) =>
        info.push(utf8(`${mode} ${oid}\t`), path, new Uint8Array(1));
      for (const { path, mode } of files) {
        const kind = random();
        if (kind < 0.3) {
          changes.push({ path, delete: true });
          line("0", "0".repeat(40), path);
        } else if (kind < 0.6 && (mode === 0o100644 || mode === 0o100755)) {
          const content = utf8(`${random()}`);
          changes.push({ path, content });
          line(mode.toString(8), hashObject("blob", content), path);
        }
      }
      for (const name of ["new.txt", "new/x", "src/new/y", "doc/z"]) {
        if (random() < 0.5 || files.some(({ path }) => `${name}/`.startsWith(`${latin1(path)}/`))) {
          continue;
        }
        changes.push(put(name));
        line("100644", hashObject("blob", utf8("new\n")), utf8(name));
      }
      git(dir, "read-tree", from);
      const bytes = info.reduce((all, part) => new Uint8Array([...all, ...part]), new Uint8Array());
      gitBytes(dir, bytes, "update-index", "-z", "--index-info");
      const [expected] = gitLines(dir, "write-tree", "--missing-ok");
      assertEquals(changeTree(objects, new NewObjects(objects), from, changes), expected);
      made += changes.length;
    }
    assert(made > 200, `${made} changes`);
  });

  it("can be stored by git as it is", () => {
    const built = build(put("dir/sub/deeper/new.txt"), put("plain.txt", "other\n"), {
      path: utf8("run.sh"),
      edits: [{ old: utf8("two"), new: utf8("2") }],
    });
    for (const { kind, bytes, oid } of built.objects) {
      const stored = gitBytes(dir, bytes, "hash-object", "-w", "--stdin", "-t", kind);
      assertEquals(latin1(stored).trim(), oid);
    }
    const listed = gitLines(dir, "ls-tree", "-r", built.commit, "run.sh", "dir");
    assertEquals(listed.map((line) => line.replace(/ \w+ \w+\t/, " ")), [
      "100644 dir/kept.txt",
      "100644 dir/sub/deeper/new.txt",
      "100644 dir/sub/only.txt",
      "100755 run.sh",
    ]);
    assertEquals(
      latin1(gitBytes(dir, undefined, "cat-file", "-p", `${built.commit}:run.sh`)),
      "one\n2\n",
    );
    git(dir, "fsck", "--strict", built.commit);
  });

  it("suggests what each object may be a delta of", () => {
    const { objects: made } = build(put("plain.txt", "other\n"), put("dir/sub/new.txt"));
    const was = (path: string) => findEntry(objects, tree, utf8(path))?.oid;
    assertEquals(made.map(({ kind, base }) => [kind, base]), [
      ["blob", was("plain.txt")],
      ["blob", undefined],
      ["tree", was("dir/sub")],
      ["tree", was("dir")],
      ["tree", tree],
      ["commit", undefined],
    ]);
  });

  it("lets directories vanish with their last file, and files and directories take each other's place", () => {
    const at = (path: string, ...changes: Change[]) => {
      const built = build(...changes);
      const all = [...built.objects];
      const both: ObjectReader = {
        ...objects,
        read: (oid) => all.find((object) => object.oid === oid) ?? objects.read(oid),
      };
      return findEntry(both, built.tree, utf8(path))?.mode;
    };
    assertEquals(at("dir/sub", remove("dir/sub/only.txt")), undefined);
    assertEquals(at("dir", remove("dir/sub/only.txt"), remove("dir/kept.txt")), undefined);
    assertEquals(at("dir/sub", put("dir/sub"), remove("dir/sub/only.txt")), 0o100644);
    assertEquals(at("plain.txt/below", remove("plain.txt"), put("plain.txt/below")), 0o100644);
    assertEquals(at("run.sh", put("run.sh")), 0o100755);
    assertEquals(at("link", remove("link"), put("other")), undefined);
  });

  it("says which change does not fit and why", () => {
    const edits = [{ old: utf8("one"), new: utf8("1") }];
    for (const path of ["absent", "dir", "link", "module", "plain.txt/below"]) {
      const error = assertThrows(() => build({ path: utf8(path), edits }), NotFoundError);
      assertEquals(error.message, `${path}: no file there to edit`);
    }
    assertThrows(
      () => build(put("plain.txt/a")),
      UsageError,
      "plain.txt/a: plain.txt is not a dir",
    );
    assertThrows(() => build(put("link/a/b")), UsageError, "link/a/b: link is not a directory");
    assertThrows(() => build(put("dir")), UsageError, "dir: a directory is there");
    assertThrows(() => build(put("a"), put("a/b")), UsageError, "a: a directory is there");
    assertThrows(() => build(put("link")), RefusedError, "link: a symbolic link is there");
    assertThrows(() => build(put("module")), RefusedError, "module: a submodule is there");
    assertThrows(() => build(remove("absent")), NotFoundError, "absent: no file there to delete");
    assertThrows(() => build(remove("plain.txt/a")), NotFoundError, "plain.txt/a: no file there");
    assertThrows(() => build(remove("dir")), UsageError, "dir: a directory is there");
    assertThrows(() => build(put("x"), put("x")), UsageError, "x: a path may be changed once");
    assertThrows(() => build(put("a/.Git/x")), UsageError, "a/.Git/x: a path must not");
  });

  it("is refused when nothing changes", () => {
    assertThrows(() => build(put("plain.txt", "one\ntwo\n")), RefusedError, "nothing changes");
    assertThrows(() => build(), RefusedError, "nothing changes");
  });

  it("can be the first, and ends its message with one newline", () => {
    const plan = { changes: [put("a")], author: person, committer: person, message: "first\n\n\n" };
    const { objects: made, commit } = buildCommit(objects, plan);
    const last = made.at(-1);
    assertEquals(last?.oid, commit);
    assertEquals(
      latin1(last?.bytes ?? utf8("")).replace(/^tree .*\n/, ""),
      "author A <a@example.com> 1700000000 +0000\ncommitter A <a@example.com> 1700000000 +0000\n\nfirst\n",
    );
    assertThrows(() => buildCommit(objects, { ...plan, message: " \n" }), UsageError, "is empty");
  });

  it("is refused where a file it overwrites or deletes changed since its base", () => {
    const { objects: made, commit } = build(put("plain.txt"), put("dir/new"));
    for (const { kind, bytes } of made) {
      gitBytes(dir, bytes, "hash-object", "-w", "--stdin", "-t", kind);
    }
    const now = loadObjects(dir);
    for (const change of [put("plain.txt"), remove("dir/new")]) {
      const path = new TextDecoder().decode(change.path);
      const error = assertThrows(() => checkUnmoved(now, tip, commit, [change]), ConflictError);
      assertEquals(error.message, `${path} changed between ${tip} and ${commit}`);
    }
    checkUnmoved(now, tip, commit, [put("run.sh"), { path: utf8("plain.txt"), edits: [] }]);
    checkUnmoved(now, tip, tip, [put("plain.txt")]);
  });
});
