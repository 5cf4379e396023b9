import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { latin1 } from "../../core/git/bytes.ts";
import { readCommits } from "../../core/git/history.ts";
import { layered } from "../../core/git/layered.ts";
import {
  mergeCommits,
  type MergeOptions,
  type MergeResult,
  mergeTrees,
} from "../../core/git/merge.ts";
import type { ObjectReader, Oid } from "../../core/git/object.ts";
import { readObject, walkTree } from "../../core/git/walk.ts";
import { gitLines } from "../support/git.ts";
import { importStream, loadObjects } from "../support/history.ts";
import { formatCommit, type State } from "../support/history_stream.ts";
import { gitMerges } from "../support/merges.ts";

/** What a commit holds, by path: the content of a file, or a mode and content or oid. Texts are of one character a byte. */
type Files = Readonly<Record<string, string | readonly [mode: string, content: string]>>;

interface Commit {
  readonly files: Files;
  readonly parents: readonly number[];
}

let dir = "";
let count = 0;

/** Makes these commits in a repository of their own and gives their oids. */
function makeCommits(commits: readonly Commit[]): { home: string; oids: Oid[] } {
  const home = `${dir}/${count++}`;
  const stream = commits.map(({ files, parents: [first, ...others] }, index) => {
    const state: State = new Map();
    for (const [path, file] of Object.entries(files)) {
      const [mode, content] = typeof file === "string" ? ["100644", file] as const : file;
      state.set(path, { mode, content });
    }
    return formatCommit({ index, date: 1e9 + index, message: "m", first, others, state });
  });
  importStream(home, stream);
  const names = commits.map((_, index) => `refs/heads/c${index}`);
  return { home, oids: gitLines(home, "rev-parse", ...names) };
}

interface Merged {
  readonly result: MergeResult;
  readonly objects: ObjectReader;
  /** The files of the merged tree, those of mode 100644 by content alone. */
  readonly files: Files;
  /** Kind and path of each conflict. */
  readonly conflicts: readonly string[];
}

function describeMerge(held: ObjectReader, result: MergeResult): Merged {
  const made = new Map(result.objects.map((object) => [object.oid, object]));
  const objects = layered({
    has: (oid) => made.has(oid),
    read: (oid) => made.get(oid),
    info: (oid) => {
      const object = made.get(oid);
      return object && { kind: object.kind, size: object.bytes.length };
    },
    find: () => [],
  }, held);
  const files: Record<string, string | readonly [string, string]> = {};
  for (const { path, mode, oid } of walkTree(objects, result.tree)) {
    const content = mode === 0o160000 ? oid : latin1(readObject(objects, oid, "blob"));
    files[latin1(path)] = mode === 0o100644 ? content : [mode.toString(8), content];
  }
  const conflicts = result.conflicts.map(({ kind, path }) => `${kind}: ${latin1(path)}`).sort();
  return { result, objects, files, conflicts };
}

/** Merges commits 1 and 2 of a history whose merge base is commit 0, as git does, unless it is to be otherwise. */
function merge(
  base: Files,
  ours: Files,
  theirs: Files,
  options: MergeOptions = {},
): Merged {
  return mergeLast([
    { files: base, parents: [] },
    { files: ours, parents: [0] },
    { files: theirs, parents: [0] },
  ], options);
}

/** Merges the last two of these commits and checks that git merges them just so. */
function mergeLast(commits: readonly Commit[], options: MergeOptions = {}): Merged {
  const { home, oids } = makeCommits(commits);
  const objects = loadObjects(home);
  const [ours = "", theirs = ""] = oids.slice(-2);
  const labels = { ours, theirs };
  const result = mergeCommits(objects, readCommits(objects), ours, theirs, { labels, ...options });
  if (options.keepBoth === undefined) {
    const [git] = gitMerges(home, [[ours, theirs]]);
    assertEquals([result.conflicts.length === 0, result.tree], [git?.isClean, git?.tree]);
  }
  return describeMerge(objects, result);
}

const lines = (...list: string[]) => list.map((line) => `${line}\n`).join("");
const many = lines(..."abcdefghijklmnop");

describe("a merge", () => {
  beforeAll(async () => {
    dir = await Deno.makeTempDir();
  });
  afterAll(() => Deno.remove(dir, { recursive: true }));

  it("keeps bytes that are no UTF-8", () => {
    const text = (first: string, last: string) => `${first}\n${many}caf\xe9\n${many}${last}\n`;
    const { files, conflicts } = merge(
      { f: text("one", "end") },
      { f: text("\xe9ins", "end") },
      { f: text("one", "fin \xe9") },
    );
    assertEquals([files, conflicts], [{ f: text("\xe9ins", "fin \xe9") }, []]);
  });

  it("keeps carriage returns and a missing last newline", () => {
    const text = (first: string, last: string) =>
      `${first}\r\n${many.replaceAll("\n", "\r\n")}${last}`;
    const { files, conflicts } = merge(
      { f: text("one", "end") },
      { f: text("uno", "end") },
      { f: text("one", "fin") },
    );
    assertEquals([files, conflicts], [{ f: text("uno", "fin") }, []]);
  });

  it("cuts a conflict down to the lines in which the sides differ", () => {
    const { files, conflicts, result } = merge(
      { f: `${many}x\n${many}` },
      { f: `${many}1\n2\n3\n4\nours\n${many}` },
      { f: `${many}1\n2\n3\n4\ntheirs\n${many}` },
      {},
    );
    assertEquals(conflicts, ["content: f"]);
    const { ours, theirs } = result.conflicts[0] ?? {};
    assert(ours !== undefined && theirs !== undefined);
    const text = String(files["f"]).replace(/ [0-9a-f]{40}$/gm, "");
    const differing = "<<<<<<<\nours\n=======\ntheirs\n>>>>>>>\n";
    assertEquals(text, `${many}1\n2\n3\n4\n${differing}${many}`);
  });

  it("ends marker lines as the text ends its lines", () => {
    const crlf = many.replaceAll("\n", "\r\n");
    const { files } = merge(
      { f: `${crlf}x` },
      { f: `${crlf}ours` },
      { f: `${crlf}theirs` },
    );
    assertEquals(String(files["f"]).replaceAll("\r\n", "").includes("\n"), false);
  });

  it("of a criss-cross merges the bases first", () => {
    const text = (a: string, b: string, c: string) => `${a}\n${many}${b}\n${many}${c}\n`;
    const { files, conflicts } = mergeLast([
      { files: { f: text("a", "b", "c") }, parents: [] },
      { files: { f: text("A", "b", "c") }, parents: [0] },
      { files: { f: text("a", "B", "c") }, parents: [0] },
      { files: { f: text("A", "B", "c") }, parents: [1, 2] },
      { files: { f: text("A", "B", "c") }, parents: [2, 1] },
      { files: { f: text("A2", "B", "c") }, parents: [3] },
      { files: { f: text("A", "B2", "C") }, parents: [4] },
    ]);
    assertEquals([files, conflicts], [{ f: text("A2", "B2", "C") }, []]);
  });

  it("of a criss-cross whose bases are in conflict is git's", () => {
    const text = (middle: string) => `${many}${middle}\n${many}`;
    const { conflicts } = mergeLast([
      { files: { f: text("x") }, parents: [] },
      { files: { f: text("one") }, parents: [0] },
      { files: { f: text("two") }, parents: [0] },
      { files: { f: text("one two") }, parents: [1, 2] },
      { files: { f: text("two one") }, parents: [2, 1] },
    ]);
    assertEquals(conflicts, ["content: f"]);
  });

  it("of unrelated histories takes both", () => {
    const { files, conflicts } = mergeLast([
      { files: { a: "a\n", both: "1\n" }, parents: [] },
      { files: { b: "b\n", both: "1\n" }, parents: [] },
    ]);
    assertEquals([files, conflicts], [{ a: "a\n", b: "b\n", both: "1\n" }, []]);
  });

  it("follows a file that one side renamed and the other edited", () => {
    const { files, conflicts } = merge(
      { old: many, other: "x\n" },
      { new: many, other: "x\n" },
      { old: `${many}more\n`, other: "x\n" },
    );
    assertEquals([files, conflicts], [{ new: `${many}more\n`, other: "x\n" }, []]);
  });

  it("tells where the sides renamed one file to", () => {
    const { conflicts, result } = merge({ old: many }, { one: many }, { two: many });
    const kind = "rename/rename";
    assertEquals(conflicts, [`${kind}: old`, `${kind}: one`, `${kind}: two`]);
    const sides = result.conflicts.map(({ base, ours, theirs }) =>
      [base, ours, theirs].map((file) => file && latin1(file.path))
    );
    assert(sides.some(([base, ours]) => base === undefined && ours === "one"));
  });

  it("tells of a file that one side renamed or edited and the other deleted", () => {
    const { conflicts, files } = merge(
      { gone: many, edited: "1\n", kept: "k\n" },
      { moved: many, edited: "2\n", kept: "k\n" },
      { kept: "k\n" },
    );
    assertEquals(conflicts, ["modify/delete: edited", "rename/delete: moved"]);
    assertEquals(files, { moved: many, edited: "2\n", kept: "k\n" });
  });

  it("names both a file and the directory in its place", () => {
    const { conflicts, files, result } = merge(
      { other: "x\n" },
      { other: "x\n", thing: "file\n" },
      { other: "x\n", "thing/inside": "dir\n" },
    );
    const moved = Object.keys(files).find((path) => path.startsWith("thing~")) ?? "";
    assertEquals(conflicts, [`file/directory: ${moved}`]);
    assertEquals(latin1(result.conflicts[0]?.ours?.path ?? new Uint8Array()), "thing");
    assertEquals(files["thing/inside"], "dir\n");
  });

  it("takes a directory for a file that the other side left alone", () => {
    const { conflicts, files } = merge(
      { thing: "file\n" },
      { thing: "file\n" },
      { "thing/inside": "dir\n" },
    );
    assertEquals([conflicts, files], [[], { "thing/inside": "dir\n" }]);
  });

  it("takes a mode from one side and the content from the other", () => {
    const { conflicts, files } = merge(
      { run: many },
      { run: ["100755", many] },
      { run: `${many}more\n` },
    );
    assertEquals([conflicts, files], [[], { run: ["100755", `${many}more\n`] }]);
  });

  it("takes a link or submodule that one side changed, and tells when both did", () => {
    const [one, two, three] = ["1", "2", "3"].map((digit) => digit.repeat(40));
    assert(one !== undefined && two !== undefined && three !== undefined);
    const clean = merge(
      { link: ["120000", "a"], sub: ["160000", one], same: ["160000", one] },
      { link: ["120000", "b"], sub: ["160000", one], same: ["160000", one] },
      { link: ["120000", "a"], sub: ["160000", two], same: ["160000", one] },
    );
    assertEquals(clean.conflicts, []);
    assertEquals(clean.files, {
      link: ["120000", "b"],
      same: ["160000", one],
      sub: ["160000", two],
    });
    const both = merge(
      { link: ["120000", "a"], sub: ["160000", one] },
      { link: ["120000", "b"], sub: ["160000", two] },
      { link: ["120000", "c"], sub: ["160000", three] },
    );
    assertEquals(both.conflicts, ["submodule: sub", "symlink: link"]);
  });

  it("tells when the sides made a file and a link of one path", () => {
    const { conflicts } = merge({ x: "x\n" }, { x: "x\n", n: "f\n" }, {
      x: "x\n",
      n: ["120000", "x"],
    });
    assertEquals(conflicts.map((line) => line.split("~")[0]), [
      "distinct types: n",
      "distinct types: n",
    ]);
  });

  it("takes a file that both sides added alike, and tells when they differ", () => {
    const same = merge({ x: "x\n" }, { x: "x\n", n: many }, { x: "x\n", n: many });
    assertEquals(same.conflicts, []);
    const differing = merge({ x: "x\n" }, { x: "x\n", n: "1\n" }, { x: "x\n", n: "2\n" });
    assertEquals(differing.conflicts, ["add/add: n"]);
  });

  it("never merges binary content", () => {
    const { conflicts, files } = merge(
      { bin: `\0${many}x\n`, one: "\0a" },
      { bin: `\0top\n${many}x\n`, one: "\0a" },
      { bin: `\0${many}end\n`, one: "\0b" },
    );
    assertEquals(conflicts, ["binary: bin"]);
    assertEquals(files, { bin: `\0top\n${many}x\n`, one: "\0b" });
  });

  it("lets a new file follow a directory that the other side renamed, and tells so", () => {
    const { conflicts, files } = merge(
      { "old/a": many, "old/b": `${many}b\n` },
      { "new/a": many, "new/b": `${many}b\n` },
      { "old/a": many, "old/b": `${many}b\n`, "old/c": "c\n" },
    );
    assertEquals(conflicts, ["directory rename: new/c"]);
    assertEquals(files["new/c"], "c\n");
  });

  it("that reverts a commit is a merge with it as the base", () => {
    const edit = (first: string, last: string) => ({ f: `${first}\n${many}${last}\n` });
    const { home, oids } = makeCommits([
      { files: edit("a", "z"), parents: [] },
      { files: edit("A", "z"), parents: [0] },
      { files: edit("A", "Z"), parents: [1] },
    ]);
    const objects = loadObjects(home);
    const [parent = "", reverted = "", tip = ""] = oids.map((oid) =>
      readCommits(objects).commit(oid).tree
    );
    const result = mergeTrees(objects, { base: reverted, ours: tip, theirs: parent });
    assertEquals(describeMerge(objects, result).files, edit("a", "Z"));
    const again = mergeTrees(objects, { base: parent, ours: parent, theirs: reverted });
    assertEquals([again.tree, again.objects.length], [reverted, 0]);
  });

  it("gives just what must be written, with a base for a short delta", () => {
    const { result, objects } = merge(
      { "d/f": many, "d/g": "g\n", "e/h": "h\n" },
      { "d/f": `top\n${many}`, "d/g": "g\n", "e/h": "h\n" },
      { "d/f": `${many}end\n`, "d/g": "g\n", "e/h": "h\n" },
    );
    assertEquals(result.objects.map(({ kind }) => kind), ["blob", "tree", "tree"]);
    assert(result.objects.every(({ base }) => base !== undefined && objects.has(base)));
  });
});

describe("a merge that keeps what both sides inserted", () => {
  beforeAll(async () => {
    dir = await Deno.makeTempDir();
  });
  afterAll(() => Deno.remove(dir, { recursive: true }));

  const kept = (
    base: string,
    ours: string,
    theirs: string,
    first: "ours" | "theirs" = "theirs",
  ) => {
    const { files, conflicts, result } = merge({ f: base }, { f: ours }, { f: theirs }, {
      keepBoth: first,
    });
    return [files["f"], conflicts, result.keptBoth.map((path) => latin1(path))];
  };

  it("puts the lines of one side first and names the path", async () => {
    const [ours, theirs] = [`${many}mine\n`, `${many}yours\n`];
    assertEquals(await kept(many, ours, theirs), [`${many}yours\nmine\n`, [], ["f"]]);
    assertEquals(await kept(many, ours, theirs, "ours"), [`${many}mine\nyours\n`, [], ["f"]]);
  });

  it("keeps runs whole where they are alike at their ends", async () => {
    const [one, two] = ["f() {\n  1\n}\n", "g() {\n  2\n}\n"];
    assertEquals(await kept(many, many + one, many + two), [many + two + one, [], ["f"]]);
  });

  it("takes a run once that starts or ends with all of the other's", async () => {
    assertEquals(await kept(many, `${many}a\n`, `${many}a\nb\n`), [`${many}a\nb\n`, [], []]);
    assertEquals(await kept(many, `${many}a\nb\n`, `${many}b\n`), [`${many}a\nb\n`, [], []]);
  });

  it("goes on after a last line without a newline", async () => {
    assertEquals(await kept("x", "x\nmine", "x\nyours"), ["x\nyours\nmine", [], ["f"]]);
    assertEquals(await kept("x", "x\r\nmine", "x\r\nyours"), ["x\r\nyours\r\nmine", [], ["f"]]);
  });

  it("leaves in conflict what a side changed or deleted, and files that both added", async () => {
    const [, conflicts, both] = await kept(`${many}x\n`, `${many}y\n`, `${many}z\n`);
    assertEquals([conflicts, both], [["content: f"], []]);
    const added = merge({ x: "x\n" }, { x: "x\n", n: "1\n" }, { x: "x\n", n: "2\n" }, {
      keepBoth: "ours",
    });
    assertEquals(added.conflicts, ["add/add: n"]);
  });
});

describe("a merge of hostile trees", () => {
  beforeAll(async () => {
    dir = await Deno.makeTempDir();
  });
  afterAll(() => Deno.remove(dir, { recursive: true }));

  it("compares texts made to be costly in bounded time", () => {
    const size = 20_000;
    const text = (line: (index: number) => number | string) =>
      Array.from({ length: size }, (_, index) => `${line(index)}\n`).join("");
    const files = (shift: number): Files => ({
      few: text((index) => (index * (7 + shift)) % 61),
      reversed: text((index) => (shift === 1 ? size - index : index + shift)),
      woven: text((index) => ((index + shift) % 3 ? index : "")),
    });
    const { conflicts } = merge(files(0), files(1), files(2), { keepBoth: "ours" });
    assert(conflicts.length > 0);
  });

  it("looks for renames among thousands of files that are alike", () => {
    const set = (prefix: string, from: number): Files =>
      Object.fromEntries(
        Array.from({ length: 1200 }, (_, index) => [
          `${prefix}/${index % 7}/${from + index}`,
          lines(...Array.from({ length: 12 }, (_, line) => `${(index * (line + from)) % 97}`)),
        ]),
      );
    const { result } = merge(set("a", 0), set("b", 5000), {
      ...set("a", 0),
      "a/0/new": "n\n",
    }, {
      keepBoth: "ours",
    });
    assert(result.conflicts.length > 0);
  });

  it("of many merge bases ends", () => {
    const text = (line: number) => ({ [`f${line}`]: `${line}\n` });
    const roots = 60;
    const commits: Commit[] = Array.from({ length: roots }, (_, index) => ({
      files: text(index),
      parents: [],
    }));
    const all = Array.from({ length: roots }, (_, index) => index);
    for (const shift of [0, 0]) {
      commits.push({ files: { ...text(1), shift: `${shift}` }, parents: all });
    }
    const { conflicts } = mergeLast(commits);
    assertEquals(conflicts, []);
  });
});
