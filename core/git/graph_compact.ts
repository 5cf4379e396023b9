import type { CommitGraph } from "./graph.ts";
import { type GraphColumns, MANY_PARENTS, NO_PARENT } from "./graph_columns.ts";
import { compareOids, OID_BYTES, oidBytes } from "./oid.ts";

/** Gives the columns of a graph with a row for each commit whose changes were listed since it was read. */
export function compactGraph(graph: CommitGraph): GraphColumns {
  const order = rowOrder(graph);
  const { placeOf, outside } = placing(graph.size, order);
  const count = order.length;
  const oids = new Uint8Array(count * OID_BYTES);
  const trees = new Uint8Array(count * OID_BYTES);
  const times = new Float64Array(count);
  const first = new Int32Array(count);
  const second = new Int32Array(count);
  const starts = new Uint32Array(count + 1);
  const changes: Uint32Array[] = [];
  const more: number[] = [];
  let length = 0;
  order.forEach((number, row) => {
    const { oid, tree, listed } = rowOf(graph, number);
    oids.set(oid, row * OID_BYTES);
    trees.set(tree, row * OID_BYTES);
    times[row] = graph.time(number);
    const [one, other, ...rest] = graph.parents(number).map(placeOf);
    first[row] = one ?? NO_PARENT;
    second[row] = rest.length > 0 ? MANY_PARENTS + more.length : other ?? NO_PARENT;
    if (other !== undefined && rest.length > 0) more.push(rest.length + 1, other, ...rest);
    changes.push(listed);
    length += listed.length;
    starts[row + 1] = length;
  });
  return {
    count,
    oids,
    trees,
    times,
    first,
    second,
    more: Int32Array.from(more),
    starts,
    changes: joined(changes, length),
    names: graph.names.bytes(),
    outside: Uint8Array.from(outside.flatMap((number) => [...oidBytes(graph.oid(number))])),
  };
}

/** The numbers of the commits that get rows, in the order of their oids. */
function rowOrder({ columns, added }: CommitGraph): number[] {
  const { count, oids } = columns;
  const fresh = added
    .flatMap(({ oid, changes }, at) => changes ? [{ number: count + at, oid: oidBytes(oid) }] : [])
    .sort((one, other) => compareOids(one.oid, 0, other.oid, 0));
  const order: number[] = [];
  let row = 0;
  for (const { number, oid } of fresh) {
    while (row < count && compareOids(oids, row * OID_BYTES, oid, 0) < 0) order.push(row++);
    order.push(number);
  }
  while (row < count) order.push(row++);
  return order;
}

/** Gives the new number of an old one; what has no row is put outside when it is first asked for. */
function placing(size: number, order: readonly number[]) {
  const places = new Int32Array(size).fill(-1);
  const outside: number[] = [];
  order.forEach((number, row) => places[number] = row);
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

function rowOf({ columns, added }: CommitGraph, number: number) {
  const { count, oids, trees, starts, changes } = columns;
  const commit = added[number - count];
  if (commit?.node !== undefined && commit.changes !== undefined) {
    const { oid, node: { tree }, changes: listed } = commit;
    return { oid: oidBytes(oid), tree: oidBytes(tree), listed };
  }
  const at = number * OID_BYTES;
  return {
    oid: oids.subarray(at, at + OID_BYTES),
    tree: trees.subarray(at, at + OID_BYTES),
    listed: changes.subarray(starts[number], starts[number + 1]),
  };
}

function joined(lists: readonly Uint32Array[], length: number): Uint32Array {
  const whole = new Uint32Array(length);
  let at = 0;
  for (const list of lists) {
    whole.set(list, at);
    at += list.length;
  }
  return whole;
}
