import { growIndex } from "./indexing.ts";
import { setImmediate } from "node:timers/promises";
import type { ReadContext } from "../context.ts";
import { NotFoundError, quote, UsageError } from "../errors.ts";
import { blame, type BlameRun, type BlameStart, unchangedSince } from "../git/blame.ts";
import type { Allowance } from "../git/graph_log.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import { quotePath } from "../git/path.ts";
import { countLines } from "../git/text.ts";
import { isGitlink, isTree } from "../git/tree.ts";
import { findEntry, readObject } from "../git/walk.ts";
import { type Indexes, indexesOf } from "../mirror/indexes.ts";
import { readCursor, writeCursor } from "./browse.ts";
import { noSuchPath } from "./no_path.ts";
import {
  commitAt,
  messageOf,
  pathBytes,
  type Person,
  personOf,
  readCommit,
  type Reading,
  treeOf,
} from "./reading.ts";

/** How many commits that the index lacks one answer looks at. */
const ALLOWANCE = 20_000;
/** How many commits are looked at before other work has its turn. */
const A_TURN = 64;
const RUN_BYTES = 200;

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
  context: Pick<ReadContext, "later" | "note" | "signal">,
  reading: Reading,
  { rev, path, start, end, limit, cursor }: {
    rev?: string | undefined;
    path: string;
    start?: number | undefined;
    end?: number | undefined;
    limit: number;
    cursor?: string | undefined;
  },
) {
  const { objects, repository } = reading;
  const { pinned, start: given } = readCursor(cursor);
  const { commit } = commitAt(reading, pinned ?? rev);
  const file = fileAt(reading, commit, pathBytes(path));
  const lines = countLines(readObject(objects, file.oid, "blob"));
  const asked = { tip: commit, file, ...rangeOf(quotePath(file.path), lines, start, end) };
  const indexes = indexesOf(repository.mirror.path, objects);
  const found = await findRuns(context, indexes, asked);
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
  { signal, note }: Pick<ReadContext, "later" | "note" | "signal">,
  { graph, blames }: Indexes,
  asked: BlameStart,
): Promise<readonly BlameRun[]> {
  const { tip, file: { path }, start, end } = asked;
  // The answer is the same for all commits since the file changed.
  const key = `${unchangedSince(graph, tip, path)} ${start} ${end} ${path.toHex()}`;
  const known = blames.get(key);
  if (known !== undefined) return known;
  const allowance: Allowance = { left: ALLOWANCE };
  const steps = blame(graph, { ...asked, allowance });
  let step = steps.next();
  for (let looked = 1; !step.done; looked++) {
    if (looked % A_TURN === 0) {
      await setImmediate();
      signal.throwIfAborted();
    }
    step = steps.next();
  }
  if (allowance.left > 0) blames.set(key, step.value, step.value.length * RUN_BYTES);
  else {
    note(
      "this repository's history is not indexed yet: lines older than its newest commits are given to where the search stopped; ask again later",
    );
  }
  return step.value;
}

function runsOf(objects: ObjectReader, runs: readonly BlameRun[]): BlamedRun[] {
  const told = new Map<Oid, { author: Person; summary: string }>();
  return runs.map(({ commit, start, count, previous }) => {
    let words = told.get(commit);
    if (words === undefined) {
      const read = readCommit(objects, commit);
      const { summary } = messageOf(read);
      told.set(commit, words = { author: personOf(read.author, read.encoding), summary });
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
