import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { isAncestor, mergeBases } from "../../core/git/ancestry.ts";
import { latin1, utf8 } from "../../core/git/bytes.ts";
import { CommitGraph } from "../../core/git/graph.ts";
import { compactGraph } from "../../core/git/graph_compact.ts";
import { followPath } from "../../core/git/graph_follow.ts";
import { growGraph } from "../../core/git/graph_grow.ts";
import { logPath, type PathLog } from "../../core/git/graph_log.ts";
import { log, readCommits } from "../../core/git/history.ts";
import type { ObjectReader, Oid } from "../../core/git/object.ts";
import { walkTree } from "../../core/git/walk.ts";
import { gitBytes, gitLines, initRepo, tryGit } from "../support/git.ts";
import { loadObjects, makeHistory } from "../support/history.ts";
import { seededRandom } from "../support/random.ts";

const commitCount = 400;
let dir = "";
let tip = "";
let tips: string[] = [];
let objects: ObjectReader;

/** The commits of a log, without the turns it leaves to others. */
function logged(graph: CommitGraph, log: PathLog): Iterable<Oid> {
  return logPath(graph, log).filter((oid) => oid !== undefined);
}

/** A graph with rows for so many commits, made in two steps. */
function grown(count: number, from: readonly Oid[]): CommitGraph {
  let graph = new CommitGraph(objects);
  for (const most of [Math.floor(count / 3), count]) {
    let done = graph.columns.count;
    const growth = growGraph(graph, from);
    while (done < most && !growth.next().done) done++;
    graph = new CommitGraph(objects, compactGraph(graph));
  }
  return graph;
}

/** Every file and directory that some of the tips have. */
function somePaths(): Uint8Array[] {
  const paths = new Map<string, Uint8Array>();
  const commits = readCommits(objects);
  for (const oid of tips.slice(-60)) {
    for (const { path } of walkTree(objects, commits.commit(oid).tree)) {
      for (let end = path.indexOf(47); end >= 0; end = path.indexOf(47, end + 1)) {
        paths.set(path.subarray(0, end).toHex(), path.subarray(0, end));
      }
      paths.set(path.toHex(), path);
    }
  }
  return [...paths.values()];
}

describe("the commit graph", () => {
  const expected = new Map<string, string[]>();

  beforeAll(async () => {
    dir = await Deno.makeTempDir();
    makeHistory(dir, 9, commitCount);
    objects = loadObjects(dir);
    [tip = ""] = gitLines(dir, "rev-parse", "main");
    tips = gitLines(dir, "for-each-ref", "--format=%(objectname)");
    for (const path of somePaths()) {
      // Arguments cannot carry bytes that are not UTF-8, so these stay out of the comparison with git.
      const text = new TextDecoder().decode(path);
      if (latin1(utf8(text)) !== latin1(path)) continue;
      const args = ["--literal-pathspecs", "rev-list", tip, "--", text];
      expected.set(text, gitLines(dir, ...args));
    }
  });
  afterAll(() => Deno.remove(dir, { recursive: true }));

  for (const [what, count] of [["none", 0], ["a part", 150], ["all", 100_000]] as const) {
    it(`gives the history of a path in git's order when it has ${what} of the commits`, () => {
      const graph = grown(count, tips);
      if (count < 1000) assertEquals(graph.columns.count, count);
      let same = 0;
      for (const [path, commits] of expected) {
        assertEquals([...logged(graph, { tip, path: utf8(path) })], commits, path);
        same++;
      }
      assert(same > 50, `${same} paths`);
      Deno.stderr.writeSync(utf8(`    log of a path: parity ${same} of ${expected.size}\n`));
    });
  }

  it("gives the history of paths that are not UTF-8 as the walk through trees does", () => {
    const graph = grown(200, tips);
    const commits = readCommits(objects);
    for (const bytes of somePaths()) {
      assertEquals(
        [...logged(graph, { tip, path: bytes })],
        [...log({ commits, tips: [tip], path: { objects, bytes } })],
      );
    }
  });

  it("reads trees for the history of a path only at merges of three and more when it has all commits", () => {
    const kinds: string[] = [];
    const counted = {
      ...objects,
      read(oid: Oid) {
        const object = objects.read(oid);
        kinds.push(object?.kind ?? "");
        return object;
      },
    };
    const graph = new CommitGraph(counted, grown(100_000, tips).columns);
    for (const path of expected.keys()) [...logged(graph, { tip, path: utf8(path) })];
    assert(kinds.length < 40 && kinds.every((kind) => kind === "tree"), `${kinds.length} reads`);
  });

  for (const [what, count] of [["none", 0], ["a part", 150], ["all", 100_000]] as const) {
    it(`follows a file past its renames as git does when it has ${what} of the commits`, () => {
      const graph = grown(count, tips);
      const paths = [...expected.keys()].slice(0, 60);
      let renames = 0;
      for (const path of paths) {
        const args = ["--literal-pathspecs", "log", "--follow", "--format=%H", tip, "--", path];
        const found = [...followPath(graph, { tip, path: utf8(path) })]
          .filter((one) => one !== undefined);
        assertEquals(found.map(({ oid }) => oid), gitLines(dir, ...args), path);
        renames += new Set(found.map(({ path }) => latin1(path))).size - 1;
      }
      assert(renames > 10, `${renames} renames`);
      Deno.stderr.writeSync(utf8(`    log of a file that is followed: parity ${paths.length}\n`));
    });
  }

  it("follows a file from any place of its history on", () => {
    const graph = grown(100_000, tips);
    const path = utf8([...expected.keys()].find((path) => path.endsWith("a.txt")) ?? "");
    const all = [...followPath(graph, { tip, path })].filter((one) => one !== undefined);
    assert(all.length > 5);
    for (let skip = 0; skip <= all.length; skip++) {
      const rest = [...followPath(graph, { tip, path, skip })].filter((one) => one !== undefined);
      assertEquals(rest, all.slice(skip));
    }
  });

  it("says when a walk beyond the index used its allowance up", () => {
    const allowance = { left: 10 };
    const path = utf8([...expected.keys()][0] ?? "");
    const found = [...logged(new CommitGraph(objects), { tip, path, allowance })];
    assertEquals(allowance.left, 0);
    assert(found.length <= 10);
  });

  it("gives commits as their objects do", () => {
    const graph = grown(250, tips);
    const commits = readCommits(objects);
    for (const oid of log({ commits, tips })) {
      assertEquals(graph.commit(oid), commits.commit(oid));
    }
    assertEquals([...log({ commits: graph, tips })], [...log({ commits, tips })]);
  });

  it("takes commits that came since into the same columns as at once", () => {
    const before = grown(100_000, tips.slice(0, 200));
    const graph = new CommitGraph(objects, before.columns);
    for (const _ of growGraph(graph, tips));
    assertEquals(
      graph.columns.count + graph.listed,
      gitLines(dir, "rev-list", "--all").length,
    );
    const columns = compactGraph(graph);
    assertEquals(columns.outside.length, 0);
    const whole = grown(100_000, tips).columns;
    assertEquals(
      [columns.oids, columns.trees, columns.times, columns.first, columns.second],
      [whole.oids, whole.trees, whole.times, whole.first, whole.second],
    );
  });

  it("finds merge bases and ancestors as git does", () => {
    const graph = grown(300, tips);
    const all = gitLines(dir, "rev-list", "--all");
    const random = seededRandom(2);
    const pick = () => all[Math.floor(random() * all.length)] ?? "";
    for (let pair = 0; pair < 40; pair++) {
      const [one, other] = [pick(), pick()];
      const bases = mergeBases(graph, one, other);
      // Without a base it fails and says nothing.
      const { out } = tryGit(dir, undefined, "merge-base", "--all", one, other);
      assertEquals(bases.join("\n"), new TextDecoder().decode(out).trim());
      assertEquals(isAncestor(graph, one, other), bases.includes(one));
      const third = pick();
      const isOfEither = bases.includes(one) || isAncestor(graph, one, third);
      assertEquals(isAncestor(graph, one, other, third), isOfEither);
    }
    Deno.stderr.writeSync(utf8("    merge bases: parity 40 of 40\n"));
  });

  it("leaves a commit of very many changes to its trees", async () => {
    const other = await Deno.makeTempDir();
    initRepo(other, { bare: true });
    const files = Array.from({ length: 1500 }, (_, at) => `M 100644 inline d${at % 9}/f${at}\n`);
    const data = (text: string) => `data ${text.length}\n${text}\n`;
    const commit = (mark: number, changes: string) =>
      `commit refs/heads/main\nmark :${mark}\ncommitter N <n@e> ${mark} +0000\n${data("m")}` +
      `${mark > 1 ? `from :${mark - 1}\n` : ""}${changes}\n`;
    const stream = commit(1, `M 100644 inline a\n${data("one")}`) +
      commit(2, files.map((line) => line + data("x")).join("")) +
      commit(3, `M 100644 inline d1/f1\n${data("y")}`);
    gitBytes(other, stream, "fast-import", "--quiet");
    const own = loadObjects(other);
    const [head = ""] = gitLines(other, "rev-parse", "main");
    let graph = new CommitGraph(own);
    for (const _ of growGraph(graph, [head]));
    graph = new CommitGraph(own, compactGraph(graph));
    for (const path of ["a", "d1", "d1/f1", "d2/f2", "none"]) {
      assertEquals(
        [...logged(graph, { tip: head, path: utf8(path) })],
        gitLines(other, "rev-list", "main", "--", path),
      );
    }
    await Deno.remove(other, { recursive: true });
  });
});
