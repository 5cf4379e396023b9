import { parseNode } from "./commit.ts";
import {
  ELSEWHERE,
  type GraphColumns,
  MANY_PARENTS,
  NO_COLUMNS,
  NO_PARENT,
  UNLISTED,
} from "./graph_columns.ts";
import { PathNames } from "./graph_names.ts";
import type { CommitNode, CommitSource } from "./history.ts";
import type { ObjectReader, Oid } from "./object.ts";
import { compareOids, OID_BYTES, oidAt, oidBytes } from "./oid.ts";
import { readObject } from "./walk.ts";

const NODES = 1 << 17;

/** What is known of a commit that has no row: more, once it has been read, and its changes, once they are found. */
export interface Added {
  readonly oid: Oid;
  node?: { readonly tree: Oid; readonly time: number; readonly parents: readonly number[] };
  changes?: Uint32Array;
}

/** How a path stands in a commit against the commit's parents. */
export const UNCHANGED = 0;
export const CHANGED = 1;
/** Other than in the first parent, and as in another. */
export const AS_ELSEWHERE = 2;
/** Only the trees tell. */
export const UNKNOWN = 3;

/**
 * The commits of a repository by numbers, with the paths each changed: those of an index, and any other, read when it is
 * asked for. What the index lacks costs time, never a right answer. Paths are text of one character a byte.
 */
export class CommitGraph implements CommitSource {
  readonly objects: ObjectReader;
  readonly columns: GraphColumns;
  readonly names: PathNames;
  readonly #added: Added[] = [];
  readonly #numbers = new Map<Oid, number>();
  readonly #nodes = new Map<Oid, CommitNode>();
  /** How many commits without a row have their changes listed. */
  listed = 0;

  constructor(objects: ObjectReader, columns: GraphColumns = NO_COLUMNS) {
    this.objects = objects;
    this.columns = columns;
    this.names = new PathNames(columns.names);
    for (let at = 0; at < columns.outside.length; at += OID_BYTES) {
      this.#add(oidAt(columns.outside, at));
    }
  }

  /** How many commits have numbers. */
  get size(): number {
    return this.columns.count + this.#added.length;
  }

  /** The commits without rows, in the order of their numbers, which follow those of the rows. */
  get added(): readonly Added[] {
    return this.#added;
  }

  /** Whether a commit has a number. */
  has(oid: Oid): boolean {
    return this.#numbers.has(oid) || this.#row(oid) !== undefined;
  }

  /** The number of a commit; it need not be one that is held. */
  number(oid: Oid): number {
    return this.#numbers.get(oid) ?? this.#row(oid) ?? this.#add(oid);
  }

  oid(number: number): Oid {
    return this.#added[number - this.columns.count]?.oid ??
      oidAt(this.columns.oids, number * OID_BYTES);
  }

  tree(number: number): Oid {
    return number < this.columns.count
      ? oidAt(this.columns.trees, number * OID_BYTES)
      : this.#node(number).tree;
  }

  /** When it was committed, in seconds since 1970. */
  time(number: number): number {
    return number < this.columns.count ? this.columns.times[number] ?? 0 : this.#node(number).time;
  }

  /** The first parent's number, or `NO_PARENT`. */
  parent(number: number): number {
    return number < this.columns.count
      ? this.columns.first[number] ?? NO_PARENT
      : this.#node(number).parents[0] ?? NO_PARENT;
  }

  parents(number: number): readonly number[] {
    const { count, first, second, more } = this.columns;
    if (number >= count) return this.#node(number).parents;
    const one = first[number] ?? NO_PARENT;
    const other = second[number] ?? NO_PARENT;
    if (one === NO_PARENT) return [];
    if (other === NO_PARENT) return [one];
    if (other < MANY_PARENTS) return [one, other];
    const at = other - MANY_PARENTS;
    return [one, ...more.subarray(at + 1, at + 1 + (more[at] ?? 0))];
  }

  /** Whether the paths the commit changed are listed, or known to be too many. */
  hasChanges(number: number): boolean {
    return number < this.columns.count ||
      this.#added[number - this.columns.count]?.changes !== undefined;
  }

  /** Reads a commit from other objects than the graph's own, unless it is known. */
  know(number: number, objects: Pick<ObjectReader, "read">): void {
    if (number >= this.columns.count) this.#node(number, objects);
  }

  /** Lists the paths a commit without a row changed. */
  setChanges(number: number, changes: Uint32Array): void {
    const added = this.#added[number - this.columns.count];
    if (added === undefined || added.changes !== undefined) return;
    added.changes = changes;
    this.listed++;
  }

  /** Gives what says how a path stands in a commit: one of the four above. */
  marks(path: string): (number: number) => number {
    const { count } = this.columns;
    const id = this.names.find(path);
    const marks = new Uint8Array(count);
    if (id !== undefined) {
      this.#mark(marks, id, CHANGED);
      this.#mark(marks, (id | ELSEWHERE) >>> 0, AS_ELSEWHERE);
    }
    this.#mark(marks, UNLISTED, UNKNOWN);
    return (number) => {
      if (number < count) return marks[number] ?? UNKNOWN;
      const changes = this.#added[number - count]?.changes;
      if (changes === undefined || changes[0] === UNLISTED) return UNKNOWN;
      // The path may have got its number since.
      const now = id ?? this.names.find(path);
      if (now === undefined) return UNCHANGED;
      if (changes.includes(now)) return CHANGED;
      return changes.includes((now | ELSEWHERE) >>> 0) ? AS_ELSEWHERE : UNCHANGED;
    };
  }

  commit(oid: Oid): CommitNode {
    const known = this.#nodes.get(oid);
    if (known !== undefined) return known;
    const number = this.number(oid);
    const node = {
      tree: this.tree(number),
      parents: this.parents(number).map((parent) => this.oid(parent)),
      time: this.time(number),
    };
    if (this.#nodes.size >= NODES) this.#nodes.clear();
    this.#nodes.set(oid, node);
    return node;
  }

  /** Marks the rows whose changes hold the value. */
  #mark(marks: Uint8Array, value: number, mark: number): void {
    const { changes, starts } = this.columns;
    let row = 0;
    for (let at = changes.indexOf(value); at >= 0; at = changes.indexOf(value, at + 1)) {
      row = rowAt(starts, at, row);
      marks[row] = mark;
    }
  }

  #add(oid: Oid): number {
    const number = this.size;
    this.#added.push({ oid });
    this.#numbers.set(oid, number);
    return number;
  }

  #row(oid: Oid): number | undefined {
    const { count, oids } = this.columns;
    const bytes = oidBytes(oid);
    let from = 0;
    let to = count;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const order = compareOids(oids, middle * OID_BYTES, bytes, 0);
      if (order === 0) return middle;
      if (order < 0) from = middle + 1;
      else to = middle;
    }
    return undefined;
  }

  #node(
    number: number,
    objects: Pick<ObjectReader, "read"> = this.objects,
  ): NonNullable<Added["node"]> {
    const added = this.#added[number - this.columns.count];
    if (added === undefined) throw new RangeError(`no commit has the number ${number}`);
    if (added.node !== undefined) return added.node;
    const { tree, parents, time } = parseNode(readObject(objects, added.oid, "commit"));
    return added.node = {
      tree,
      time,
      parents: parents.map((parent) => this.number(parent)),
    };
  }
}

/** The row whose changes hold the place, not below `from`: the last one that starts at or before it. */
function rowAt(starts: Uint32Array, place: number, from: number): number {
  let low = from;
  let high = starts.length - 1;
  while (low + 1 < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] ?? 0) <= place) low = middle;
    else high = middle;
  }
  return low;
}
