import type { CommitSource } from "../git/history.ts";
import type { ObjectReader, Oid } from "../git/object.ts";

/** Gives what the reader gives, and counts the bytes of the objects that were read. */
export function countBytes(objects: ObjectReader, work: { bytes: number }): ObjectReader {
  return {
    has: (oid) => objects.has(oid),
    read(oid) {
      const object = objects.read(oid);
      work.bytes += object?.bytes.length ?? 0;
      return object;
    },
    info: (oid) => objects.info(oid),
    find: (prefix, limit) => objects.find(prefix, limit),
  };
}

/** Gives what the source gives, and counts how often it was asked. */
export function countCommits(commits: CommitSource, work: { commits: number }): CommitSource {
  return { commit: (oid: Oid) => (work.commits++, commits.commit(oid)) };
}
