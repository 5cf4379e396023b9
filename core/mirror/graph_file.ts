import { join } from "node:path";
import type { GraphColumns } from "../git/graph_columns.ts";
import { OID_BYTES } from "../git/oid.ts";
import { ColumnFile, writeColumns } from "./columns.ts";

const FORMAT = { version: 1, columns: 10 };

function fileOf(path: string): string {
  return join(path, "graph.msgpack");
}

/** Columns of a file that stays open. */
export interface OpenGraph extends GraphColumns, Disposable {}

/** Opens the commit graph of the mirror at `path`, each column read when it is first used; undefined when there is none. */
export function openGraph(path: string): OpenGraph | undefined {
  const file = ColumnFile.open(fileOf(path), FORMAT);
  if (file === undefined) return undefined;
  const { count } = file;
  const sizes = [OID_BYTES, OID_BYTES, 8, 4, 4].map((bytes) => bytes * count);
  if (sizes.some((size, column) => file.size(column) !== size) || file.size(6) !== count * 4 + 4) {
    file.close();
    return undefined;
  }
  const oids = once(() => file.bytes(0));
  const trees = once(() => file.bytes(1));
  const times = once(() => file.floats(2));
  const first = once(() => file.signed(3));
  const second = once(() => file.signed(4));
  const more = once(() => file.signed(5));
  const starts = once(() => file.unsigned(6));
  const changes = once(() => file.unsigned(7));
  const names = once(() => file.bytes(8));
  const outside = once(() => file.bytes(9));
  return {
    count,
    get oids() {
      return oids();
    },
    get trees() {
      return trees();
    },
    get times() {
      return times();
    },
    get first() {
      return first();
    },
    get second() {
      return second();
    },
    get more() {
      return more();
    },
    get starts() {
      return starts();
    },
    get changes() {
      return changes();
    },
    get names() {
      return names();
    },
    get outside() {
      return outside();
    },
    [Symbol.dispose]: () => file.close(),
  };
}

/** Keeps the commit graph of the mirror at `path`. */
export async function saveGraph(path: string, columns: GraphColumns): Promise<void> {
  const { count, oids, trees, times, first, second, more, starts, changes, names, outside } =
    columns;
  await writeColumns(fileOf(path), FORMAT, count, [
    oids,
    trees,
    times,
    first,
    second,
    more,
    starts,
    changes,
    names,
    outside,
  ]);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
