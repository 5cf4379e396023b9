import { sameBytes } from "../git/bytes.ts";
import { log, readCommits } from "../git/history.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import { readCursor, writeCursor } from "./browse.ts";
import {
  commitAt,
  messageOf,
  pathBytes,
  type Person,
  personOf,
  readCommit,
  type Reading,
} from "./reading.ts";

/** A commit as a log shows it. */
export interface LogEntry {
  readonly sha: Oid;
  readonly parents: readonly Oid[];
  readonly author: Person;
  /** Only where it differs from the author. */
  readonly committer?: Person;
  readonly summary: string;
  readonly body?: string;
}

/** The history of a rev, of one path when given, as `git log` orders and simplifies it. */
export function readLog(
  reading: Reading,
  { rev, path, limit, cursor }: {
    rev?: string | undefined;
    path?: string | undefined;
    limit: number;
    cursor?: string | undefined;
  },
) {
  const { objects } = reading;
  const { pinned, start } = readCursor(cursor);
  const { commit } = commitAt(reading, pinned ?? rev);
  const history = log({
    commits: readCommits(objects),
    tips: [commit],
    skip: start,
    ...(path !== undefined && { path: { objects, bytes: pathBytes(path) } }),
  });
  const commits: LogEntry[] = [];
  for (const sha of history) {
    if (commits.length === limit) {
      return { commits, more: true, cursor: writeCursor(commit, start + limit) };
    }
    commits.push(logEntry(objects, sha));
  }
  return { commits };
}

function logEntry(objects: ObjectReader, sha: Oid): LogEntry {
  const commit = readCommit(objects, sha);
  const { author, committer, encoding, parents } = commit;
  const { summary, body } = messageOf(commit);
  const isSame = author.time === committer.time && sameBytes(author.name, committer.name) &&
    sameBytes(author.email, committer.email);
  return {
    sha,
    parents,
    author: personOf(author, encoding),
    ...(!isSame && { committer: personOf(committer, encoding) }),
    summary,
    ...(body !== "" && { body }),
  };
}
