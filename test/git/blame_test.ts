import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { blame, type BlameRun } from "../../core/git/blame.ts";
import { latin1, utf8 } from "../../core/git/bytes.ts";
import { CommitGraph } from "../../core/git/graph.ts";
import { compactGraph } from "../../core/git/graph_compact.ts";
import { growGraph } from "../../core/git/graph_grow.ts";
import type { ObjectReader, Oid } from "../../core/git/object.ts";
import { quoteGitPath } from "../../core/git/path.ts";
import { countLines } from "../../core/git/text.ts";
import { isGitlink } from "../../core/git/tree.ts";
import { readObject, type WalkedEntry, walkTree } from "../../core/git/walk.ts";
import { gitLines } from "../support/git.ts";
import { loadObjects, makeHistory } from "../support/history.ts";

let dir = "";
let objects: ObjectReader;
let files: { tip: Oid; file: WalkedEntry; text: string }[] = [];

interface Line {
  commit: Oid;
  previous: string;
}

function run(graph: CommitGraph, tip: Oid, file: WalkedEntry, range = [0, Infinity]): BlameRun[] {
  const lines = countLines(readObject(objects, file.oid, "blob"));
  const [start = 0, end = lines] = range;
  const steps = blame(graph, { tip, file, start, end: Math.min(end, lines) });
  for (let step = steps.next();; step = steps.next()) if (step.done) return step.value;
}

function linesOf(runs: readonly BlameRun[]): (Line | undefined)[] {
  const lines: (Line | undefined)[] = [];
  for (const { commit, start, count, previous } of runs) {
    const before = previous ? `${previous.commit} ${quoteGitPath(previous.path)}` : "";
    for (let at = start; at < start + count; at++) lines[at] = { commit, previous: before };
  }
  return lines;
}

function theirs(tip: Oid, path: string): Line[] {
  const lines: Line[] = [];
  const known = new Map<string, Line>();
  let line: Line = { commit: "", previous: "" };
  for (const text of gitLines(dir, "blame", "--line-porcelain", tip, "--", path)) {
    const header = /^([0-9a-f]{40}) \d+ \d+/.exec(text);
    if (text.startsWith("\t")) lines.push(line);
    else if (header !== null) line = { commit: header[1] ?? "", previous: "" };
    else if (text.startsWith("previous ")) line.previous = text.slice(9);
    known.set(text, line);
  }
  return lines;
}

describe("blame", () => {
  const expected: Line[][] = [];
  let whole: CommitGraph;

  beforeAll(async () => {
    dir = await Deno.makeTempDir();
    makeHistory(dir, 23, 300);
    objects = loadObjects(dir);
    const names = Array.from({ length: 30 }, (_, at) => `c${at * 10 + 9}`);
    const tips = gitLines(dir, "rev-parse", "main", ...names);
    const graph = new CommitGraph(objects);
    for (const _ of growGraph(graph, tips));
    whole = new CommitGraph(objects, compactGraph(graph));
    for (const tip of tips) {
      for (const file of walkTree(objects, whole.commit(tip).tree)) {
        const text = new TextDecoder().decode(file.path);
        // Arguments carry only UTF-8.
        if (isGitlink(file.mode) || latin1(utf8(text)) !== latin1(file.path)) continue;
        files.push({ tip, file, text });
      }
    }
    files = files.filter((_, at) => at % 3 === 0);
    for (const { tip, text } of files) expected.push(theirs(tip, text));
  });
  afterAll(() => Deno.remove(dir, { recursive: true }));

  for (
    const [what, graphOf] of [
      ["the commit graph", () => whole],
      ["objects alone", () => new CommitGraph(objects)],
    ] as const
  ) {
    it(`finds over ${what} the commits and the ones before that git finds`, () => {
      const graph = graphOf();
      let lines = 0;
      let same = 0;
      let renamed = 0;
      files.forEach(({ tip, file, text }, at) => {
        const found = linesOf(run(graph, tip, file));
        const wanted = expected[at] ?? [];
        assertEquals(found.length, wanted.length, text);
        wanted.forEach((line, index) => {
          lines++;
          const own = found[index];
          if (own?.commit === line.commit && own.previous === line.previous) same++;
          if (line.previous !== "" && line.previous.slice(41) !== quoteGitPath(file.path)) {
            renamed++;
          }
        });
      });
      Deno.stderr.writeSync(utf8(`    blame: parity ${same} of ${lines} lines\n`));
      assert(same >= lines * 0.999 && lines > 1000 && renamed > 20, `${same}/${lines}, ${renamed}`);
    });
  }

  it("of some lines is the same as of all, cut to them", () => {
    for (const { tip, file } of files) {
      const all = linesOf(run(whole, tip, file));
      for (const [start, end] of [[0, 1], [3, 9], [all.length - 2, all.length]] as const) {
        const from = Math.max(0, start);
        const some = linesOf(run(whole, tip, file, [from, end]));
        assertEquals(some.slice(from), all.slice(from, end));
      }
    }
  });

  it("stops where the allowance ends and gives the lines to the commits it came to", () => {
    const { tip, file } = files[0] ?? {};
    assert(tip !== undefined && file !== undefined);
    const allowance = { left: 1 };
    const lines = countLines(readObject(objects, file.oid, "blob"));
    const graph = new CommitGraph(objects);
    const steps = blame(graph, { tip, file, start: 0, end: lines, allowance });
    let step = steps.next();
    while (!step.done) step = steps.next();
    assertEquals(allowance.left, 0);
    assertEquals(step.value.reduce((sum, { count }) => sum + count, 0), lines);
  });
});
