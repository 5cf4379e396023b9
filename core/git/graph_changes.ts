import { latin1 } from "./bytes.ts";
import type { CommitGraph } from "./graph.ts";
import { ELSEWHERE, UNLISTED } from "./graph_columns.ts";
import type { ObjectReader, Oid } from "./object.ts";
import { compareOids } from "./oid.ts";
import { trimTrees } from "./graph_trim.ts";
import { isTree } from "./tree.ts";
import { checkDepth, readObject, TreeCursor } from "./walk.ts";

/** A commit that changed more paths than this has no list of them. */
const MAX_CHANGES = 1024;
const SLASH = 0x2f;
const NOTHING = new Uint8Array();

/** Lists the numbers of the paths, files and directories, that a commit has other than its first parent. */
export function findChanges(
  graph: CommitGraph,
  number: number,
  trees: Pick<ObjectReader, "read">,
): Uint32Array {
  if (graph.names.isFull) return Uint32Array.of(UNLISTED);
  const [first, ...others] = graph.parents(number).map((parent) => graph.tree(parent));
  const finder = new Finder(graph, trees);
  finder.compare(graph.tree(number), first, others, "", 0);
  if (finder.isOver) return Uint32Array.of(UNLISTED);
  return Uint32Array.from(
    finder.found,
    ([id, isElsewhere]) => isElsewhere ? (id | ELSEWHERE) >>> 0 : id,
  ).sort();
}

class Finder {
  /** The paths that differ, and whether another parent than the first has each just so. */
  readonly found = new Map<number, boolean>();
  readonly #graph: CommitGraph;
  readonly #trees: Pick<ObjectReader, "read">;

  constructor(graph: CommitGraph, trees: Pick<ObjectReader, "read">) {
    this.#graph = graph;
    this.#trees = trees;
  }

  get isOver(): boolean {
    return this.found.size > MAX_CHANGES;
  }

  /** Compares a directory with the first parent's, and tells whether a file in it differs. */
  compare(
    own: Oid | undefined,
    first: Oid | undefined,
    others: readonly (Oid | undefined)[],
    prefix: string,
    depth: number,
  ): boolean {
    checkDepth(depth);
    if (own === first || this.isOver) return false;
    const [myBytes, baseBytes] = trimTrees(this.#read(own), this.#read(first));
    const mine = new TreeCursor(myBytes);
    const base = new TreeCursor(baseBytes);
    const rest = others.map((oid) => new Follower(new TreeCursor(this.#read(oid))));
    let differs = false;
    let hasMine = mine.next();
    let hasBase = base.next();
    while (hasMine || hasBase) {
      const order = !hasMine ? 1 : !hasBase ? -1 : compareNames(mine, base);
      if (order !== 0 || !isSame(mine, base)) {
        const here = order <= 0 ? mine : undefined;
        const there = order >= 0 ? base : undefined;
        const named = rest.map((follower) => follower.find(here ?? base));
        if (this.#compareEntry(here, there, named, prefix, depth)) differs = true;
      }
      if (order <= 0) hasMine = mine.next();
      if (order >= 0) hasBase = base.next();
    }
    return differs;
  }

  #compareEntry(
    mine: TreeCursor | undefined,
    base: TreeCursor | undefined,
    others: readonly (TreeCursor | undefined)[],
    prefix: string,
    depth: number,
  ): boolean {
    const cursor = mine ?? base;
    if (cursor === undefined) return false;
    const path = prefix + latin1(cursor.bytes, cursor.nameStart, cursor.nameEnd);
    const isElsewhere = others.some((other) =>
      mine === undefined || other === undefined ? mine === other : isSame(mine, other)
    );
    if (isTree(cursor.mode)) {
      const below = others.map((other) => other?.oid());
      if (!this.compare(mine?.oid(), base?.oid(), below, `${path}/`, depth + 1)) return false;
    }
    this.#add(path, isElsewhere);
    return true;
  }

  /** A path that was a file and is a directory comes twice, and is as elsewhere only when both are. */
  #add(path: string, isElsewhere: boolean): void {
    const id = this.#graph.names.number(path);
    this.found.set(id, (this.found.get(id) ?? true) && isElsewhere);
  }

  #read(tree: Oid | undefined): Uint8Array {
    return tree === undefined ? NOTHING : readObject(this.#trees, tree, "tree");
  }
}

/** Follows a walk through one directory in another version of it. */
class Follower {
  readonly #cursor: TreeCursor;
  #isAtEntry: boolean;

  constructor(cursor: TreeCursor) {
    this.#cursor = cursor;
    this.#isAtEntry = cursor.next();
  }

  /** The entry named as the one the walk is at; undefined when there is none. */
  find(entry: TreeCursor): TreeCursor | undefined {
    while (this.#isAtEntry) {
      const order = compareNames(this.#cursor, entry);
      if (order >= 0) return order === 0 ? this.#cursor : undefined;
      this.#isAtEntry = this.#cursor.next();
    }
    return undefined;
  }
}

/** Compares in the order of a tree; a file and a directory of one name are not equal. */
function compareNames(a: TreeCursor, b: TreeCursor): number {
  const lengthA = a.nameEnd - a.nameStart;
  const lengthB = b.nameEnd - b.nameStart;
  const shared = Math.min(lengthA, lengthB);
  for (let at = 0; at < shared; at++) {
    const difference = (a.bytes[a.nameStart + at] ?? 0) - (b.bytes[b.nameStart + at] ?? 0);
    if (difference !== 0) return difference;
  }
  // A directory is in the place it would have with a slash at its end.
  const nextA = lengthA > shared ? a.bytes[a.nameStart + shared] ?? 0 : isTree(a.mode) ? SLASH : 0;
  const nextB = lengthB > shared ? b.bytes[b.nameStart + shared] ?? 0 : isTree(b.mode) ? SLASH : 0;
  return nextA - nextB;
}

function isSame(a: TreeCursor, b: TreeCursor): boolean {
  return a.mode === b.mode && compareOids(a.bytes, a.nameEnd + 1, b.bytes, b.nameEnd + 1) === 0;
}
