import { latin1 } from "./bytes.ts";
import { AS_ELSEWHERE, type CommitGraph, UNCHANGED, UNKNOWN } from "./graph.ts";
import { NO_PARENT } from "./graph_columns.ts";
import { NumberQueue } from "./graph_queue.ts";
import { pathStates } from "./history.ts";
import type { Oid } from "./object.ts";
import { pathParts } from "./walk.ts";

/** How many commits a walk may look at that the index does not have; none are left when it was cut short. */
export interface Allowance {
  left: number;
}

/** What a log is of: a file or directory, as bytes, and where it starts. */
export interface PathLog {
  readonly tip: Oid;
  readonly path: Uint8Array;
  /** Passes over this many commits first. */
  readonly skip?: number;
  readonly allowance?: Allowance;
}

/**
 * Gives the commits of `git log <tip> -- <path>` in its order and by its simplification, each found when it is asked
 * for; trees are read only of commits that the index does not have, and undefined comes before each of those, for other
 * work to have its turn. It ends early when the allowance is used up.
 */
export function* logPath(graph: CommitGraph, log: PathLog): Generator<Oid | undefined> {
  const { skip = 0 } = log;
  let passed = 0;
  for (const number of walkNumbers(graph, log, stepper(graph, pathParts(log.path)))) {
    if (number === undefined) yield undefined;
    else if (passed++ >= skip) yield graph.oid(number);
  }
}

/**
 * Gives the numbers of the commits that `stepOf` shows, by date, the newest first; undefined before each that the index
 * does not have. It ends early when the allowance is used up.
 */
export function* walkNumbers(
  graph: CommitGraph,
  { tip, allowance = { left: Infinity } }: Pick<PathLog, "tip" | "allowance">,
  stepOf: (number: number) => Step,
): Generator<number | undefined> {
  const queue = new NumberQueue();
  const seen = new Seen(graph.size);
  const start = graph.number(tip);
  seen.add(start);
  let next: number | undefined = start;
  while (next !== undefined) {
    const number: number = next;
    next = undefined;
    if (!graph.hasChanges(number)) {
      yield undefined;
      if (allowance.left-- <= 0) {
        allowance.left = 0;
        return;
      }
    }
    const { isShown, only } = stepOf(number);
    if (only === undefined) {
      for (const parent of graph.parents(number)) {
        if (seen.add(parent)) queue.put(parent, graph.time(parent));
      }
    } else if (only !== NO_PARENT && seen.add(only)) {
      // What is newer than all that wait would be taken at once.
      const time = graph.time(only);
      if (time > queue.nextTime) next = only;
      else queue.put(only, time);
    }
    if (isShown) yield number;
    next ??= queue.take();
  }
}

/** What a walk does at a commit. */
export interface Step {
  readonly isShown: boolean;
  /** The one parent the history goes on with, or `NO_PARENT`; undefined for all of them. */
  readonly only?: number;
}

/** Says of a commit whether it changed the path, and which parents its history goes on with. */
function stepper(graph: CommitGraph, parts: readonly Uint8Array[]): (number: number) => Step {
  if (parts.length === 0) return () => ({ isShown: true });
  const markOf = graph.marks(parts.map((part) => latin1(part)).join("/"));
  const stateIn = pathStates(graph.objects, parts);
  const compare = (number: number): Step => {
    const state = stateIn(graph.tree(number));
    const parents = graph.parents(number);
    if (parents.length === 0) return { isShown: state !== "", only: NO_PARENT };
    const same = parents.find((parent) => stateIn(graph.tree(parent)) === state);
    return same === undefined ? { isShown: true } : { isShown: false, only: same };
  };
  return (number) => {
    const mark = markOf(number);
    if (mark === UNCHANGED) return { isShown: false, only: graph.parent(number) };
    if (mark === UNKNOWN) return compare(number);
    if (mark !== AS_ELSEWHERE) return { isShown: true };
    const [, second = NO_PARENT, third] = graph.parents(number);
    return third === undefined ? { isShown: false, only: second } : compare(number);
  };
}

/** Numbers that have been come by; commits may get numbers while it is used. */
class Seen {
  #marks: Uint8Array;

  constructor(size: number) {
    this.#marks = new Uint8Array(size + 1024);
  }

  /** Adds a number; false when it was there. */
  add(number: number): boolean {
    if (this.#marks[number] === 1) return false;
    if (number >= this.#marks.length) {
      const grown = new Uint8Array(number * 2);
      grown.set(this.#marks);
      this.#marks = grown;
    }
    this.#marks[number] = 1;
    return true;
  }
}
