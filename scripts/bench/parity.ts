import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { findMerge, makeMerge } from "../../core/forge/merge.ts";
import { concat, latin1, sameBytes, utf8 } from "../../core/git/bytes.ts";
import { blame } from "../../core/git/blame.ts";
import { diffTrees, patchFile } from "../../core/git/diff.ts";
import { CommitGraph } from "../../core/git/graph.ts";
import type { GraphColumns } from "../../core/git/graph_columns.ts";
import { compactGraph } from "../../core/git/graph_compact.ts";
import { growGraph } from "../../core/git/graph_grow.ts";
import { followPath } from "../../core/git/graph_follow.ts";
import { logPath } from "../../core/git/graph_log.ts";
import { log } from "../../core/git/history.ts";
import { quoteGitPath } from "../../core/git/path.ts";
import { lineFinder } from "../../core/git/search.ts";
import { listFiles, searchFiles } from "../../core/git/search_tree.ts";
import { type ObjectStore, openStore } from "../../core/git/store.ts";
import { countLines } from "../../core/git/text.ts";
import { findEntry, readObject } from "../../core/git/walk.ts";
import { saveGraph } from "../../core/mirror/graph_file.ts";
import { tryGit } from "../../test/support/git.ts";
import { gitMerges } from "../../test/support/merges.ts";
import type { Bench, Measure } from "./bench.ts";
import { openSample, type Sample } from "./sample.ts";

/** Merges are judged by git so many at a time. */
const MERGES_AT_ONCE = 50;
const clock = { now: () => new Date() };

/** How often our answers are git's. */
interface Parity {
  readonly name: string;
  /** Whose they are compared with, if not git's. */
  readonly whose?: string;
  /** What may differ, in percent. */
  readonly limit: number;
  same: number;
  all: number;
}

/** What answers are compared over. */
interface Compared {
  readonly sample: Sample;
  readonly objects: ObjectStore;
  readonly graph: CommitGraph;
  readonly columns: GraphColumns;
  readonly samples: number;
}

/** Counts how many answers over a repository are not those of git, each kind over so many samples. */
export const parity: Bench = async (_, options) => {
  const sample = await openSample(options);
  const objects = openStore(sample.path);
  const grown = new CommitGraph(objects);
  for (const _ of growGraph(grown, [sample.tip]));
  const columns = compactGraph(grown);
  const graph = new CommitGraph(objects, columns);
  const compared = { sample, objects, graph, columns, samples: options.samples };
  const counts = [
    ...compareLogs(compared),
    compareFollowed(compared),
    compareDiffs(compared),
    ...compareBlames(compared),
    compareSearches(compared),
    ...await compareMerges(compared),
  ];
  objects.close();
  return counts.flatMap(({ name, whose = "git's", limit, same, all }): Measure[] => [
    { name: `${name}: compared`, value: all, unit: "" },
    {
      name: `${name}: other than ${whose}`,
      value: all - same,
      unit: "",
      limit: Math.floor(all * limit / 100),
    },
  ]);
};

function linesOf(dir: string, ...args: string[]): string[] {
  const { out, err, status } = tryGit(dir, undefined, "-c", "core.quotePath=false", ...args);
  if (status > 1) throw new Error(`git ${args[0]}: ${err}`);
  const text = latin1(out);
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** So many of them, spread evenly. */
function spread<T>(all: readonly T[], count: number): T[] {
  const step = Math.max(1, all.length / count);
  return Array.from({ length: Math.min(count, all.length) }, (_, at) => all[Math.floor(at * step)])
    .filter((one) => one !== undefined);
}

/** Paths whose names arguments can carry. */
function plainFiles({ path, tip }: Sample): string[] {
  return linesOf(path, "ls-tree", "-r", tip)
    .filter((line) => /^100/.test(line)).map((line) => line.slice(line.indexOf("\t") + 1))
    .filter((name) => /^[ !#-~]+$/.test(name));
}

function compareLogs({ sample, graph, samples }: Compared): Parity[] {
  const { path: dir, tip } = sample;
  const whole: Parity = { name: "commits of a log", limit: 0, same: 0, all: 0 };
  const ours = [...log({ commits: graph, tips: [tip] })];
  linesOf(dir, "rev-list", tip).forEach((oid, at) => {
    whole.all++;
    if (ours[at] === oid) whole.same++;
  });
  const paths: Parity = { name: "logs of a path", limit: 0, same: 0, all: 0 };
  for (const path of spread(plainFiles(sample), samples / 10)) {
    paths.all++;
    const wanted = linesOf(dir, "--literal-pathspecs", "rev-list", tip, "--", path);
    if (
      [...logPath(graph, { tip, path: utf8(path) }).filter((oid) => oid !== undefined)].join() ===
        wanted.join()
    ) paths.same++;
  }
  return [whole, paths];
}

/** Files that are followed, those first that were renamed: the commits, and what the file was called in each. */
function compareFollowed({ sample, graph, samples }: Compared): Parity {
  const { path: dir, tip } = sample;
  const count: Parity = { name: "logs of a file that is followed", limit: 0, same: 0, all: 0 };
  const flags = ["--no-merges", "--diff-filter=R", "-M", "--name-only", "--format="];
  const renamed = linesOf(dir, "log", ...flags, tip).filter((name) => /^[ !#-~]+$/.test(name));
  const some = Math.ceil(samples / 20);
  const paths = [...spread([...new Set(renamed)], some), ...spread(plainFiles(sample), some)];
  for (const path of new Set(paths)) {
    const args = ["--follow", "--format=%H", "--name-status", tip, "--", path];
    const wanted: string[] = [];
    for (const line of linesOf(dir, "--literal-pathspecs", "log", ...args)) {
      if (/^[0-9a-f]{40}$/.test(line)) wanted.push(line);
      else if (line !== "") wanted.push(line.slice(line.lastIndexOf("\t") + 1));
    }
    const ours = followPath(graph, { tip, path: utf8(path) })
      .flatMap((found) => found ? [found.oid, latin1(found.path)] : []);
    count.all++;
    if ([...ours].join("\n") === wanted.join("\n")) count.same++;
  }
  return count;
}

function compareDiffs({ sample: { path: dir, tip }, objects, graph, samples }: Compared): Parity {
  const count: Parity = { name: "diffs of a commit", limit: 1, same: 0, all: 0 };
  const commits = linesOf(dir, "rev-list", "--no-merges", "--min-parents=1", tip);
  const flags = ["-r", "-p", "-M", "--full-index", "--no-ext-diff"];
  for (const oid of spread(commits, samples)) {
    const { tree, parents: [parent = ""] } = graph.commit(oid);
    const before = graph.commit(parent).tree;
    const { out, status } = tryGit(dir, undefined, "diff-tree", ...flags, before, tree);
    // A copy may lack blobs; then there is nothing to go by.
    if (status !== 0) continue;
    count.all++;
    const patches = [...diffTrees(objects, before, tree, [])].map((change) =>
      patchFile(objects, change).bytes
    );
    if (sameBytes(concat(patches), out)) count.same++;
  }
  return count;
}

function compareBlames({ sample, objects, graph, samples }: Compared): Parity[] {
  const { path: dir, tip } = sample;
  const lines: Parity = { name: "lines of a blame", limit: 0.1, same: 0, all: 0 };
  const { tree } = graph.commit(tip);
  const text = plainFiles(sample).filter((path) => !/\.(png|gif|jpg|ico|gz|zip|pdf)$/.test(path));
  for (const path of spread(text, samples / 10)) {
    const file = findEntry(objects, tree, utf8(path));
    if (file === undefined) continue;
    const end = countLines(readObject(objects, file.oid, "blob"));
    const steps = blame(graph, { tip, file: { ...file, path: utf8(path) }, start: 0, end });
    let step = steps.next();
    while (!step.done) step = steps.next();
    const ours: string[] = [];
    for (const { commit, start, count, previous } of step.value) {
      const before = previous ? `${previous.commit} ${quoteGitPath(previous.path)}` : "";
      for (let at = start; at < start + count; at++) ours[at] = `${commit} ${before}`;
    }
    const theirs = blameOfGit(dir, tip, path);
    lines.all += theirs.length;
    lines.same += theirs.filter((line, at) => line === ours[at]).length;
  }
  return [lines];
}

function blameOfGit(dir: string, tip: string, path: string): string[] {
  const lines: string[] = [];
  let commit = "";
  let previous = "";
  for (const text of linesOf(dir, "blame", "--line-porcelain", tip, "--", path)) {
    const [, oid] = /^([0-9a-f]{40}) \d+ \d+/.exec(text) ?? [];
    if (text.startsWith("\t")) lines.push(`${commit} ${previous}`);
    else if (oid !== undefined) [commit, previous] = [oid, ""];
    else if (text.startsWith("previous ")) previous = text.slice(9);
  }
  return lines;
}

function compareSearches({ sample, objects, graph, samples }: Compared): Parity {
  const { path: dir, tip } = sample;
  const count: Parity = { name: "lines that a search finds", limit: 0, same: 0, all: 0 };
  const { tree } = graph.commit(tip);
  const files = listFiles(objects, tree);
  for (const path of spread(plainFiles(sample), samples / 40)) {
    const words = latin1(tryGit(dir, undefined, "cat-file", "blob", `${tip}:${path}`).out)
      .match(/[A-Za-z_]{4,}/g) ?? [];
    const word = words[words.length >> 1];
    if (word === undefined) continue;
    const found = searchFiles(objects, files, {
      find: lineFinder(word),
      isInScope: () => true,
      mayHold: () => undefined,
      from: 0,
      allowance: { left: Infinity },
    });
    const ours = new Set(
      [...found].flatMap((file) => file?.lines.map((line) => `${file.path}:${line + 1}`) ?? []),
    );
    const theirs = linesOf(dir, "grep", "-n", "-z", "-i", "-F", "-I", "-e", word, tip)
      .map((line) => line.slice(tip.length + 1).split("\0", 2).join(":"));
    count.all += Math.max(theirs.length, ours.size);
    count.same += theirs.filter((line) => ours.has(line)).length;
  }
  return count;
}

async function compareMerges({ sample, objects, columns, samples }: Compared): Promise<Parity[]> {
  const { path: dir, tip } = sample;
  const state: Parity = { name: "merges, clean or not", limit: 0, same: 0, all: 0 };
  const trees: Parity = { name: "trees of merges", limit: 1, same: 0, all: 0 };
  const kept: Parity = { name: "merges kept", whose: "made anew", limit: 0, same: 0, all: 0 };
  const merges = linesOf(dir, "rev-list", "--parents", "--min-parents=2", "--max-parents=2", tip);
  const pairs = spread(merges, samples).map((line): [string, string] => {
    const [, ours = "", theirs = ""] = line.split(" ");
    return [ours, theirs];
  });
  // The repository may be anyone's: indexes and answers have a folder of their own.
  const path = await mkdtemp(join(tmpdir(), "parity-"));
  await saveGraph(path, columns);
  const repository = { mirror: { path } };
  const others = openStore(dir);
  for (let from = 0; from < pairs.length; from += MERGES_AT_ONCE) {
    const some = pairs.slice(from, from + MERGES_AT_ONCE);
    const judged = await gitMerges(dir, some);
    for (const [at, [ours, theirs]] of some.entries()) {
      const git = judged[at];
      // A copy may lack blobs, and git may fail at an assertion of its own.
      if (git === undefined) continue;
      const asked = { commits: { ours, theirs }, labels: { ours, theirs } };
      const { objects: _, ...made } = await makeMerge(clock, { objects, repository }, asked);
      // As another process would find it: in a file, where it has one.
      const found = await findMerge(clock, { objects: others, repository }, asked);
      state.all++;
      trees.all++;
      kept.all++;
      if (git.isClean === (found.state === "clean")) state.same++;
      if (git.tree === found.tree) trees.same++;
      if (isDeepStrictEqual({ ...found, ...made }, found)) kept.same++;
    }
  }
  others.close();
  await rm(path, { recursive: true });
  return [state, trees, kept];
}
