import type { Added, CommitGraph } from "./graph.ts";
import { type GraphColumns, MANY_PARENTS, NO_PARENT } from "./graph_columns.ts";
import { compareOids, OID_BYTES, oidBytes } from "./oid.ts";

/** A commit that gets a row: its number so far, and its oid. */
interface Fresh {
  readonly number: number;
  readonly oid: Uint8Array;
  readonly node: NonNullable<Added["node"]>;
  readonly changes: Uint32Array;
}

/**
 * Gives the columns of a graph with a row for each commit whose changes were listed since it was read. A long history has
 * very many rows: none gets an object of its own.
 */
export function compactGraph(graph: CommitGraph): GraphColumns {
  const { columns } = graph;
  const fresh = freshOf(graph);
  const order = rowOrder(columns, fresh);
  const { placeOf, outside } = placing(graph.size, order);
  const count = order.length;
  const added = new Map(fresh.map((commit) => [commit.number, commit]));
  const oids = new Uint8Array(count * OID_BYTES);
  const trees = new Uint8Array(count * OID_BYTES);
  const times = new Float64Array(count);
  const first = new Int32Array(count);
  const second = new Int32Array(count);
  const starts = new Uint32Array(count + 1);
  const length = fresh.reduce((sum, { changes }) => sum + changes.length, columns.changes.length);
  const changes = new Uint32Array(length);
  const more: number[] = [];
  let at = 0;
  const setParents = (row: number, one: number, other: number, rest: readonly number[]) => {
    first[row] = one === NO_PARENT ? one : placeOf(one);
    const place = other === NO_PARENT ? other : placeOf(other);
    second[row] = rest.length > 0 ? MANY_PARENTS + more.length : place;
    if (rest.length > 0) more.push(rest.length + 1, place, ...rest.map(placeOf));
  };
  for (let row = 0; row < count; row++) {
    const number = order[row] ?? 0;
    const commit = added.get(number);
    if (commit === undefined) {
      copyOid(columns.oids, number, oids, row);
      copyOid(columns.trees, number, trees, row);
      times[row] = columns.times[number] ?? 0;
      const other = columns.second[number] ?? NO_PARENT;
      const [, last = other, ...rest] = other < MANY_PARENTS ? [] : graph.parents(number);
      setParents(row, columns.first[number] ?? NO_PARENT, last, rest);
      const end = columns.starts[number + 1] ?? 0;
      for (let from = columns.starts[number] ?? 0; from < end;) {
        changes[at++] = columns.changes[from++] ?? 0;
      }
    } else {
      const { oid, node: { tree, time, parents: [one, other, ...rest] } } = commit;
      oids.set(oid, row * OID_BYTES);
      trees.set(oidBytes(tree), row * OID_BYTES);
      times[row] = time;
      setParents(row, one ?? NO_PARENT, other ?? NO_PARENT, rest);
      changes.set(commit.changes, at);
      at += commit.changes.length;
    }
    starts[row + 1] = at;
  }
  const outsiders = new Uint8Array(outside.length * OID_BYTES);
  outside.forEach((number, place) => outsiders.set(oidBytes(graph.oid(number)), place * OID_BYTES));
  return {
    count,
    oids,
    trees,
    times,
    first,
    second,
    more: Int32Array.from(more),
    starts,
    changes,
    names: graph.names.bytes(),
    outside: outsiders,
  };
}

/** The commits that get a row now, in the order of their oids. */
function freshOf({ columns: { count }, added }: CommitGraph): Fresh[] {
  return added
    .flatMap(({ oid, node, changes }, at) =>
      node && changes ? [{ number: count + at, oid: oidBytes(oid), node, changes }] : []
    )
    .sort((one, other) => compareOids(one.oid, 0, other.oid, 0));
}

/** The numbers of the commits that have rows, in the order of their oids. */
function rowOrder({ count, oids }: GraphColumns, fresh: readonly Fresh[]): Int32Array {
  const order = new Int32Array(count + fresh.length);
  let row = 0;
  let at = 0;
  for (const { number, oid } of fresh) {
    while (row < count && compareOids(oids, row * OID_BYTES, oid, 0) < 0) order[at++] = row++;
    order[at++] = number;
  }
  while (row < count) order[at++] = row++;
  return order;
}

/** Gives the new number of an old one; what has no row is put outside when it is first asked for. */
function placing(size: number, order: Int32Array) {
  const places = new Int32Array(size).fill(-1);
  const outside: number[] = [];
  for (let row = 0; row < order.length; row++) places[order[row] ?? 0] = row;
  const placeOf = (number: number): number => {
    let place = places[number] ?? -1;
    if (place < 0) {
      place = order.length + outside.length;
      places[number] = place;
      outside.push(number);
    }
    return place;
  };
  return { placeOf, outside };
}

function copyOid(from: Uint8Array, row: number, to: Uint8Array, toRow: number): void {
  const start = row * OID_BYTES;
  const shift = (toRow - row) * OID_BYTES;
  for (let at = start; at < start + OID_BYTES; at++) to[at + shift] = from[at] ?? 0;
}
