import { join } from "node:path";
import type { GraphColumns } from "../git/graph_columns.ts";
import { OID_BYTES } from "../git/oid.ts";
import { ColumnFile, type IndexFile, writeColumns } from "./columns.ts";

/** The file that a commit graph is kept in. */
export const GRAPH: IndexFile = { name: "graph.msgpack", version: 2, columns: 10 };

const STARTS = 6;

/** Opens the commit graph of the mirror at `path`, each column read when it is first used; undefined when there is none. */
export function openGraph(path: string): OpenGraph | undefined {
  const file = ColumnFile.open(join(path, GRAPH.name), GRAPH);
  if (file === undefined) return undefined;
  const { count } = file;
  const sizes = [OID_BYTES, OID_BYTES, 8, 4, 4].map((bytes) => bytes * count);
  const isWhole = sizes.every((size, column) => file.size(column) === size) &&
    file.size(STARTS) === count * 4 + 4;
  if (isWhole) return new OpenGraph(file);
  file.close();
  return undefined;
}

/** Columns of a file that stays open. Walks read a column for each commit: the fields are what that costs least with. */
export class OpenGraph implements GraphColumns, Disposable {
  readonly count: number;
  readonly #file: ColumnFile;
  #oids: Uint8Array | undefined;
  #trees: Uint8Array | undefined;
  #times: Float64Array | undefined;
  #first: Int32Array | undefined;
  #second: Int32Array | undefined;
  #more: Int32Array | undefined;
  #starts: Uint32Array | undefined;
  #changes: Uint32Array | undefined;
  #names: Uint8Array | undefined;
  #outside: Uint8Array | undefined;

  constructor(file: ColumnFile) {
    this.#file = file;
    this.count = file.count;
  }

  get oids(): Uint8Array {
    return this.#oids ??= this.#file.bytes(0);
  }

  get trees(): Uint8Array {
    return this.#trees ??= this.#file.bytes(1);
  }

  get times(): Float64Array {
    return this.#times ??= this.#file.floats(2);
  }

  get first(): Int32Array {
    return this.#first ??= this.#file.signed(3);
  }

  get second(): Int32Array {
    return this.#second ??= this.#file.signed(4);
  }

  get more(): Int32Array {
    return this.#more ??= this.#file.signed(5);
  }

  get starts(): Uint32Array {
    return this.#starts ??= this.#file.unsigned(STARTS);
  }

  get changes(): Uint32Array {
    return this.#changes ??= this.#file.unsigned(7);
  }

  get names(): Uint8Array {
    return this.#names ??= this.#file.bytes(8);
  }

  get outside(): Uint8Array {
    return this.#outside ??= this.#file.bytes(9);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}

/** Keeps the commit graph of the mirror at `path`. */
export async function saveGraph(path: string, columns: GraphColumns): Promise<void> {
  const { count, oids, trees, times, first, second, more, starts, changes, names, outside } =
    columns;
  await writeColumns(join(path, GRAPH.name), GRAPH, count, [
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
