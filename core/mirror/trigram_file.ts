import { join } from "node:path";
import { OID_BYTES } from "../git/oid.ts";
import { BUCKETS, type TrigramColumns } from "../git/trigram.ts";
import { ColumnFile, type IndexFile, writeColumns } from "./columns.ts";

/** The file that a search index is kept in. */
export const TRIGRAMS: IndexFile = { name: "search.msgpack", version: 2, columns: 4 };

const STARTS = 2;
const LISTS = 3;

/** Columns of a file that stays open. */
export interface OpenTrigrams extends TrigramColumns, Disposable {}

/** Opens the search index of the mirror at `path`; lists are read one by one. Undefined when there is none. */
export function openTrigrams(path: string): OpenTrigrams | undefined {
  const file = ColumnFile.open(join(path, TRIGRAMS.name), TRIGRAMS);
  if (file === undefined) return undefined;
  const { count } = file;
  const isWhole = file.size(0) === count * OID_BYTES && file.size(1) === count &&
    file.size(STARTS) === (BUCKETS + 1) * 4;
  if (!isWhole) {
    file.close();
    return undefined;
  }
  return {
    count,
    oids: file.bytes(0),
    kinds: file.bytes(1),
    get starts() {
      return file.unsigned(STARTS);
    },
    get lists() {
      return file.bytes(LISTS);
    },
    list(bucket) {
      const [from = 0, to = 0] = new Uint32Array(
        file.part(STARTS, bucket * 4, bucket * 4 + 8).buffer,
      );
      return file.part(LISTS, from, to);
    },
    [Symbol.dispose]: () => file.close(),
  };
}

/** Keeps the search index of the mirror at `path`. */
export async function saveTrigrams(path: string, columns: TrigramColumns): Promise<void> {
  const { count, oids, kinds, starts, lists } = columns;
  await writeColumns(join(path, TRIGRAMS.name), TRIGRAMS, count, [oids, kinds, starts, lists]);
}
