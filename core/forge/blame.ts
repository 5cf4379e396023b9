import type { ReadContext } from "../context.ts";
import { NotFoundError, quote, UsageError } from "../errors.ts";
import { blame, type BlameRun, type BlameStart, unchangedSince } from "../git/blame.ts";
import type { Allowance } from "../git/graph_log.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import { quotePath } from "../git/path.ts";
import { countLines } from "../git/text.ts";
import { isGitlink, isTree } from "../git/tree.ts";
import { findEntry, readObject } from "../git/walk.ts";
import type { MirrorAnswers } from "../mirror/answers.ts";
import { type Indexes, indexesOf } from "../mirror/indexes.ts";
import { version } from "../version.ts";
import { growIndex } from "./indexing.ts";
import { readLogEntry } from "./log_entry.ts";
import { noSuchPath } from "./no_path.ts";
import { type Page, readCursor, writeCursor } from "./paging.ts";
import {
  commitAt,
  type FilePlace,
  type LineRange,
  pathBytes,
  type Person,
  type Reading,
  treeOf,
} from "./reading.ts";
import { Turns } from "./turns.ts";

/** How many commits that the index lacks one answer looks at. */
const ALLOWANCE = 20_000;
/** A search that looked at so many commits is worth a file. */
const COSTLY_COMMITS = 8;

/** Lines of a file that follow each other and that one commit changed last; counted from 1. */
export interface BlamedRun {
  readonly sha: Oid;
  readonly start: number;
  readonly count: number;
  readonly author: Person;
  readonly summary: string;
  /** Where the commit's parent had the file: that parent, and the file's path there. */
  readonly previous?: { readonly sha: Oid; readonly path: string };
}

/** Who last changed the lines of a file, as `git blame` finds it; with `start` or `end` only those lines, from 1. */
export async function readBlame(
  context: Pick<ReadContext, "later" | "note" | "now" | "signal">,
  reading: Reading,
  { rev, path, start, end, limit, cursor }: FilePlace & LineRange & Page,
) {
  const { objects, repository } = reading;
  const { pinned, start: given } = readCursor(cursor);
  const { commit } = commitAt(reading, pinned ?? rev);
  const file = fileAt(reading, commit, pathBytes(path));
  const lines = countLines(readObject(objects, file.oid, "blob"));
  const asked = { tip: commit, file, lines, ...rangeOf(quotePath(file.path), lines, start, end) };
  const { path: mirror } = repository.mirror;
  // Most commands that share this module's bundle have no use for it.
  const { answersOf } = await import("../mirror/answers.ts");
  const answers = answersOf(mirror, objects, version);
  const found = await findRuns(context, indexesOf(mirror, objects), answers, asked);
  const left = found.filter((run) => run.start >= given);
  const runs = runsOf(objects, left.slice(0, limit));
  const next = left[limit];
  await growIndex(context, reading, "graph");
  return {
    commit,
    path: quotePath(file.path),
    runs,
    ...(next !== undefined && { more: true, cursor: writeCursor(commit, next.start) }),
  };
}

function fileAt(reading: Reading, commit: Oid, path: Uint8Array) {
  const { objects } = reading;
  const found = findEntry(objects, treeOf(objects, commit), path);
  if (found === undefined) throw noSuchPath(reading, commit, path);
  const shown = quote(quotePath(path));
  if (isTree(found.mode) || isGitlink(found.mode)) {
    throw new NotFoundError(
      `${shown} is a ${isTree(found.mode) ? "directory" : "submodule"}, not a file`,
    );
  }
  return { ...found, path };
}

/** The lines asked about, from 0 and up to before the last: all, or from `start` to `end`, which is `start` if not given. */
function rangeOf(path: string, lines: number, start: number | undefined, end: number | undefined) {
  if (start === undefined && end === undefined) return { start: 0, end: lines };
  const first = start ?? 1;
  const last = end ?? first;
  if (first > lines) throw new UsageError(`start is ${first}: ${path} has ${lines} lines`);
  if (last < first) throw new UsageError(`end is ${last}: it is before start, which is ${first}`);
  return { start: first - 1, end: Math.min(last, lines) };
}

async function findRuns(
  context: Pick<ReadContext, "note" | "now" | "signal">,
  { graph }: Indexes,
  { blames }: MirrorAnswers,
  asked: BlameStart & { readonly lines: number },
): Promise<readonly BlameRun[]> {
  const { note, now } = context;
  const { tip, file: { path }, start, end, lines } = asked;
  // The answer is the same for all commits since the file changed.
  const whole = `${unchangedSince(graph, tip, path)} ${path.toHex()}`;
  const all = blames.get(whole, now());
  if (all !== undefined) return cutRuns(all, start, end);
  const isWhole = start === 0 && end === lines;
  const key = isWhole ? whole : `${whole} ${start} ${end}`;
  const known = isWhole ? undefined : blames.get(key, now());
  if (known !== undefined) return known;
  const allowance: Allowance = { left: ALLOWANCE };
  const steps = blame(graph, { ...asked, allowance });
  const turns = new Turns(context);
  let step = steps.next();
  let looked = 1;
  for (; !step.done; looked++) {
    await turns.take();
    step = steps.next();
  }
  if (allowance.left > 0) {
    await blames.set(key, step.value, { now: now(), isCostly: looked > COSTLY_COMMITS });
  } else {
    note(
      "this repository's history is not indexed yet: lines older than its newest commits are given to where the search stopped; ask again later",
    );
  }
  return step.value;
}

/** The runs of all lines, cut to some: what comes from where does not depend on what was asked. */
function cutRuns(all: readonly BlameRun[], start: number, end: number): readonly BlameRun[] {
  return all.flatMap((run) => {
    const first = Math.max(run.start, start);
    const count = Math.min(run.start + run.count, end) - first;
    return count > 0 ? [{ ...run, start: first, count }] : [];
  });
}

function runsOf(objects: ObjectReader, runs: readonly BlameRun[]): BlamedRun[] {
  const told = new Map<Oid, { author: Person; summary: string }>();
  return runs.map(({ commit, start, count, previous }) => {
    let words = told.get(commit);
    if (words === undefined) {
      const { author, summary } = readLogEntry(objects, commit);
      told.set(commit, words = { author, summary });
    }
    return {
      sha: commit,
      start: start + 1,
      count,
      ...words,
      ...(previous && { previous: { sha: previous.commit, path: quotePath(previous.path) } }),
    };
  });
}
