import type { GitObject, ObjectKind, ObjectReader, Oid } from "./object.ts";

/** Reads from the first of `readers` that holds an object: a repository's store and packs that are not in it yet. */
export function layered(...readers: readonly ObjectReader[]): ObjectReader {
  return {
    has: (oid) => readers.some((reader) => reader.has(oid)),
    read: (oid) => first(readers, (reader): GitObject | undefined => reader.read(oid)),
    info: (oid) =>
      first(readers, (reader): { kind: ObjectKind; size: number } | undefined => reader.info(oid)),
    find: (prefix, limit) => {
      const found = new Set<Oid>(readers.flatMap((reader) => reader.find(prefix, limit)));
      return [...found].sort().slice(0, limit);
    },
  };
}

function first<T>(
  readers: readonly ObjectReader[],
  look: (reader: ObjectReader) => T | undefined,
): T | undefined {
  for (const reader of readers) {
    const found = look(reader);
    if (found !== undefined) return found;
  }
  return undefined;
}
