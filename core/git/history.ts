import { parseNode } from "./commit.ts";
import type { ObjectReader, Oid } from "./object.ts";
import { EMPTY_TREE } from "./oid.ts";
import { isTree } from "./tree.ts";
import { findName, pathParts, readObject } from "./walk.ts";

/** What walks need to know of a commit. */
export interface CommitNode {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  /** When it was committed, in seconds since 1970. */
  readonly time: number;
}

/** What gives commits to walks: the objects themselves, or an index of them. */
export interface CommitSource {
  /** A commit that is not there is a CorruptError. */
  commit(oid: Oid): CommitNode;
}

const CACHED_COMMITS = 8192;
const CACHED_LOOKUPS = 4096;

/** Gives commits from their objects, the last few thousand from memory. */
export function readCommits(objects: ObjectReader): CommitSource {
  const cache = new Map<Oid, CommitNode>();
  return {
    commit(oid) {
      const known = cache.get(oid);
      if (known !== undefined) return known;
      const node = parseNode(readObject(objects, oid, "commit"));
      if (cache.size >= CACHED_COMMITS) cache.clear();
      cache.set(oid, node);
      return node;
    },
  };
}

/** A commit that waits in a walk. */
export interface Waiting extends CommitNode {
  readonly oid: Oid;
}

/** Commits by date, the latest first; of one date, the first put in first, as git's lists do. */
export class DateQueue {
  readonly #heap: { item: Waiting; order: number }[] = [];
  #puts = 0;

  put(item: Waiting): void {
    const heap = this.#heap;
    const entry = { item, order: this.#puts++ };
    let at = heap.length;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const above = heap[up];
      if (above === undefined || !isBefore(entry, above)) break;
      heap[at] = above;
      at = up;
    }
    heap[at] = entry;
  }

  take(): Waiting | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first?.item;
    let at = 0;
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      const left = heap[below];
      const right = heap[below + 1];
      const next = right !== undefined && left !== undefined && isBefore(right, left)
        ? below + 1
        : below;
      const child = heap[next];
      if (child === undefined || !isBefore(child, last)) break;
      heap[at] = child;
      at = next;
    }
    heap[at] = last;
    return first.item;
  }
}

function isBefore(
  one: { item: Waiting; order: number },
  other: { item: Waiting; order: number },
): boolean {
  return one.item.time > other.item.time ||
    (one.item.time === other.item.time && one.order < other.order);
}

/** Where a log starts and what it shows. */
export interface LogStart {
  readonly commits: CommitSource;
  readonly tips: readonly Oid[];
  /** Shows only commits that changed this file or directory, by git's default simplification. */
  readonly path?: { readonly objects: ObjectReader; readonly bytes: Uint8Array } | undefined;
  /** Passes over this many first. */
  readonly skip?: number | undefined;
}

/** Gives the commits of `git log <tips> [-- <path>]` in its order, each found when it is asked for. */
export function* log({ commits, tips, path, skip = 0 }: LogStart): Generator<Oid> {
  const parts = path === undefined ? [] : pathParts(path.bytes);
  const simplify = path === undefined || parts.length === 0
    ? undefined
    : simplifyBy(commits, pathStates(path.objects, parts));
  const queue = new DateQueue();
  const seen = new Set<Oid>();
  const add = (oid: Oid) => {
    if (seen.has(oid)) return;
    seen.add(oid);
    queue.put({ oid, ...commits.commit(oid) });
  };
  tips.forEach(add);
  let passed = 0;
  for (let commit = queue.take(); commit !== undefined; commit = queue.take()) {
    const { isShown, parents } = simplify?.(commit) ?? { isShown: true, parents: commit.parents };
    // Who has enough does not have their parents read.
    if (isShown && passed++ >= skip) yield commit.oid;
    parents.forEach(add);
  }
}

/** Says of a commit whether it changed the path, and which parents its history goes on with. */
function simplifyBy(commits: CommitSource, stateIn: (tree: Oid) => string) {
  return ({ tree, parents }: CommitNode): { isShown: boolean; parents: readonly Oid[] } => {
    const state = stateIn(tree);
    if (parents.length === 0) return { isShown: state !== "", parents };
    // A parent that has the path just so explains it all: the other sides of a merge are left.
    const same = parents.find((parent) => stateIn(commits.commit(parent).tree) === state);
    return same === undefined ? { isShown: true, parents } : { isShown: false, parents: [same] };
  };
}

/** Gives what a path is in a tree, as text that is equal for equal states and empty for none; at least one part. */
export function pathStates(
  objects: ObjectReader,
  parts: readonly Uint8Array[],
): (tree: Oid) => string {
  const levels = parts.map((name, depth) => {
    const known = new Map<Oid, string>();
    return (tree: Oid): string => {
      let state = known.get(tree);
      if (state === undefined) {
        const found = findName(readObject(objects, tree, "tree"), name);
        const below = levels[depth + 1];
        if (found === undefined) state = "";
        else if (below === undefined) {
          state = found.oid === EMPTY_TREE ? "" : `${found.mode} ${found.oid}`;
        } else state = isTree(found.mode) ? below(found.oid) : "";
        if (known.size >= CACHED_LOOKUPS) known.clear();
        known.set(tree, state);
      }
      return state;
    };
  });
  return levels[0] ?? ((tree) => tree);
}
