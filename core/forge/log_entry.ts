import { lenientText } from "../git/bytes.ts";
import { parseCommit } from "../git/commit.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import { readObject } from "../git/walk.ts";
import { isoDate, messageOf, type Person, personOf, shapeMessage } from "./reading.ts";

/** A commit as a log shows it. */
export interface LogEntry {
  readonly sha: Oid;
  readonly parents: readonly Oid[];
  readonly author: Person;
  /** Only where it differs from the author. */
  readonly committer?: Person;
  readonly summary: string;
  readonly body?: string;
  /** What a file that is followed was called, where that is not what was asked for. */
  readonly path?: string;
}

/** The headers of nearly every commit: each as git writes it, dates of at most twelve digits. */
const HEADERS = new RegExp(
  "tree [0-9a-f]{40}\n((?:parent [0-9a-f]{40}\n)*)" +
    ["author", "committer"].map((who) =>
      `${who} ([^\n<>]*[^\\s<>]) <([^\n<>]*)> ([0-9]{1,12}) [+-][0-9]+\n`
    ).join(""),
  "y",
);
/** The length of a parent's line; its oid starts at 7 and ends before the last. */
const PARENT = 48;

/** What was read of commits, as long as their bytes are kept. */
const read = new WeakMap<Uint8Array, LogEntry>();

/** Reads a commit as a log shows it. */
export function readLogEntry(objects: ObjectReader, sha: Oid): LogEntry {
  const bytes = readObject(objects, sha, "commit");
  const known = read.get(bytes);
  if (known?.sha === sha) return known;
  const entry = parseEntry(bytes, sha);
  read.set(bytes, entry);
  return entry;
}

function parseEntry(bytes: Uint8Array, sha: Oid): LogEntry {
  // One text, cut in places, costs a fraction of each part made text for itself.
  const text = lenientText(bytes);
  HEADERS.lastIndex = 0;
  const found = HEADERS.exec(text);
  const end = found === null ? -1 : text.indexOf("\n\n", HEADERS.lastIndex - 1);
  if (found === null || end < 0 || text.slice(HEADERS.lastIndex - 1, end).includes("\nencoding ")) {
    return readOddEntry(bytes, sha);
  }
  const [, lines = "", name = "", email = "", time, itsName = "", itsEmail = "", itsTime] = found;
  const parents: Oid[] = [];
  for (let at = 0; at < lines.length; at += PARENT) {
    parents.push(lines.slice(at + 7, at + PARENT - 1));
  }
  const isSame = name === itsName && email === itsEmail && time === itsTime;
  const author = { name, email, date: isoDate(Number(time)) };
  const committer = isSame
    ? undefined
    : { name: itsName, email: itsEmail, date: isoDate(Number(itsTime)) };
  return entryOf(sha, parents, author, committer, shapeMessage(text.slice(end + 2)));
}

/** Reads a commit of any shape, in any encoding. */
function readOddEntry(bytes: Uint8Array, sha: Oid): LogEntry {
  const commit = parseCommit(bytes);
  const author = personOf(commit.author, commit.encoding);
  const committer = personOf(commit.committer, commit.encoding);
  const isSame = author.name === committer.name && author.email === committer.email &&
    author.date === committer.date;
  return entryOf(sha, commit.parents, author, isSame ? undefined : committer, messageOf(commit));
}

function entryOf(
  sha: Oid,
  parents: readonly Oid[],
  author: Person,
  committer: Person | undefined,
  { summary, body }: { summary: string; body: string },
): LogEntry {
  return {
    sha,
    parents,
    author,
    ...(committer && { committer }),
    summary,
    ...(body !== "" && { body }),
  };
}
