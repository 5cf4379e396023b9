import { NotFoundError, UsageError } from "../errors.ts";
import type { Oid } from "../git/object.ts";
import { quotePath } from "../git/path.ts";
import { isGitlink, isTree, MODE } from "../git/tree.ts";
import { countLines, lineAt, splitLines } from "../git/text.ts";
import { findEntry, type Found, listTree, readObject } from "../git/walk.ts";
import { noSuchPath } from "./no_path.ts";
import { type Page, readCursor, writeCursor } from "./paging.ts";
import {
  commitAt,
  type FilePlace,
  type LineRange,
  pathBytes,
  type Place,
  readableText,
  type Reading,
  treeOf,
} from "./reading.ts";

type EntryType = "file" | "executable" | "symlink" | "directory" | "submodule";

const TYPES: Readonly<Record<number, EntryType>> = {
  [MODE.file]: "file",
  [MODE.executable]: "executable",
  [MODE.symlink]: "symlink",
  [MODE.tree]: "directory",
  [MODE.gitlink]: "submodule",
};

/** One entry of a directory; `mode` is git's six digits, `size` bytes. */
export type Entry = {
  readonly name: string;
  readonly type: EntryType;
  readonly mode: string;
  readonly sha: Oid;
  readonly size?: number;
};

/** A directory's entries in git's order, at most `limit` from the cursor on; a file answers its one entry. */
export function listDirectory(
  reading: Reading,
  { rev: given, path = "", limit, cursor }: Place & Page,
) {
  const { objects } = reading;
  const { pinned, start } = readCursor(cursor);
  const { rev, commit } = commitAt(reading, pinned ?? given);
  const bytes = pathBytes(path);
  const found = entryAt(reading, commit, bytes);
  const all = isTree(found.mode)
    ? listTree(objects, found.oid)
    : [{ ...found, name: bytes.subarray(bytes.lastIndexOf(0x2f) + 1) }];
  const entries = all.slice(start, start + limit).map(({ name, mode, oid }): Entry => {
    const size = isTree(mode) || isGitlink(mode) ? undefined : objects.info(oid)?.size;
    return {
      name: quotePath(name),
      type: TYPES[mode] ?? "file",
      mode: sixDigits(mode),
      sha: oid,
      ...(size !== undefined && { size }),
    };
  });
  const next = start + entries.length;
  return {
    rev: given ?? rev,
    commit,
    path: quotePath(bytes),
    entries,
    ...(next < all.length && { more: true, cursor: writeCursor(commit, next) }),
  };
}

/** A file of a commit: text when it is UTF-8, else base64; with `start` or `end` only those lines, from 1. */
export function readFile(
  reading: Reading,
  { rev, path, start, end }: FilePlace & LineRange,
) {
  const { commit } = commitAt(reading, rev);
  const bytes = pathBytes(path);
  const shown = quotePath(bytes);
  const { mode, oid } = entryAt(reading, commit, bytes);
  if (isTree(mode) || isGitlink(mode)) {
    throw new NotFoundError(`${shown} is a ${TYPES[mode]}, not a file`, {
      hint: {
        command: "repo tree",
        args: { repo: reading.repository.spelled, ...(isTree(mode) && { path: shown }) },
      },
    });
  }
  const content = readObject(reading.objects, oid, "blob");
  if (start !== undefined || end !== undefined) return linesOf(shown, content, start, end);
  const text = readableText(content);
  return {
    path: shown,
    commit,
    mode: sixDigits(mode),
    size: content.length,
    ...(text !== undefined ? { text } : { base64: Buffer.from(content).toString("base64") }),
  };
}

function linesOf(path: string, content: Uint8Array, start = 1, end = Infinity) {
  if (readableText(content) === undefined) {
    throw new UsageError(`${path} is not text: leave start and end out to have it whole`);
  }
  const lines = countLines(content);
  if (start > lines) throw new UsageError(`start is ${start}: ${path} has ${lines} lines`);
  if (end < start) throw new UsageError(`end is ${end}: it is before start, which is ${start}`);
  const last = Math.min(end, lines);
  const split = splitLines(content);
  const from = split.starts[start - 1];
  const to = (split.starts[last - 1] ?? 0) + lineAt(split, last - 1).length;
  return { start, end: last, lines, text: readableText(content.subarray(from, to)) ?? "" };
}

function entryAt(reading: Reading, commit: Oid, bytes: Uint8Array): Found {
  const { objects } = reading;
  const found = findEntry(objects, treeOf(objects, commit), bytes);
  if (found === undefined) throw noSuchPath(reading, commit, bytes);
  return found;
}

/** A mode as git shows it: six octal digits. */
export function sixDigits(mode: number): string {
  return mode.toString(8).padStart(6, "0");
}
