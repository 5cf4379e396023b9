import { latin1, utf8 } from "./bytes.ts";
import type { ConflictKind, Merge } from "./merge_entry.ts";
import { mergeText } from "./merge_text.ts";
import type { Oid } from "./object.ts";
import { isBinary } from "./text.ts";
import { isGitlink } from "./tree.ts";
import { type Found, readObject } from "./walk.ts";

/** Larger texts are taken for binary: to merge one takes many times its size in memory. */
const textLimit = 128 << 20;
const markerSize = 7;

/** The three states of a file, of one type, that are to become one. */
export interface FileToMerge {
  readonly base: Found | undefined;
  readonly ours: Found;
  readonly theirs: Found;
  readonly paths: readonly [string, string, string];
  /** 1 when what comes of it may be merged again, and its markers must be told from those. */
  readonly nesting: 0 | 1;
}

/** What became of it, and what stood in the way of making it well. */
export interface MergedFile {
  readonly file: Found | undefined;
  readonly problem: ConflictKind | undefined;
}

/** Tells whether it is a file, not a link or submodule. */
export function isRegular({ mode }: Found): boolean {
  return (mode & 0o170000) === 0o100000;
}

/** Tells whether both are files, both links or both submodules. */
export function isOneType(one: Found, other: Found): boolean {
  return (one.mode & 0o170000) === (other.mode & 0o170000);
}

/** Merges mode and content of a file, symbolic link or submodule. */
export function mergeFile(merge: Merge, file: FileToMerge): MergedFile {
  const { base, ours, theirs } = file;
  const keepsOurs = ours.mode !== theirs.mode && ours.mode !== base?.mode;
  const mode = keepsOurs ? ours.mode : theirs.mode;
  const modeProblem = keepsOurs && theirs.mode !== base?.mode ? "mode" : undefined;
  if (ours.oid === theirs.oid || ours.oid === base?.oid) {
    return { file: { mode, oid: theirs.oid }, problem: modeProblem };
  }
  if (theirs.oid === base?.oid) return { file: { mode, oid: ours.oid }, problem: modeProblem };
  const sameType = base !== undefined && isOneType(base, ours) ? base : undefined;
  if (isRegular(ours)) {
    const { oid, problem } = mergeContent(merge, file, sameType?.oid);
    return { file: { mode, oid }, problem: problem ?? modeProblem };
  }
  if (isGitlink(ours.mode)) return { file: { mode, oid: ours.oid }, problem: "submodule" };
  if (merge.depth === 0) return { file: { mode, oid: ours.oid }, problem: "symlink" };
  return { file: base, problem: undefined };
}

function mergeContent(
  merge: Merge,
  { ours, theirs, paths, nesting }: FileToMerge,
  base: Oid | undefined,
): { oid: Oid; problem: ConflictKind | undefined } {
  const { store, depth } = merge;
  const read = (oid: Oid | undefined) =>
    oid === undefined ? new Uint8Array() : readObject(store, oid, "blob");
  const isHuge = [base, ours.oid, theirs.oid].some((oid) =>
    oid !== undefined && (store.info(oid)?.size ?? 0) > textLimit
  );
  const texts = isHuge ? [] : [read(base), read(ours.oid), read(theirs.oid)];
  const [baseText, ourText, theirText] = texts;
  if (
    baseText === undefined || ourText === undefined || theirText === undefined ||
    texts.some(isBinary)
  ) {
    if (depth === 0) return { oid: ours.oid, problem: "binary" };
    return { oid: base ?? store.make("blob", new Uint8Array(), undefined), problem: undefined };
  }
  const [basePath, ourPath, theirPath] = paths;
  const isOnePath = basePath === ourPath && basePath === theirPath;
  const label = (name: string, path: string) => bytesOf(isOnePath ? name : `${name}:${path}`);
  const merged = mergeText(baseText, ourText, theirText, {
    ours: label(merge.labels.ours, ourPath),
    theirs: label(merge.labels.theirs, theirPath),
    budget: store.budget.diff,
    markerSize: markerSize + 2 * depth + nesting,
    keepBoth: base === undefined ? undefined : merge.keepBoth,
  });
  if (merged.keptBoth) merge.keptBoth.add(ourPath);
  return {
    oid: store.make("blob", merged.bytes, ours.oid),
    problem: merged.conflicts > 0 ? "content" : undefined,
  };
}

/** Gives the bytes of text that has one character a byte. */
export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

/** Gives a label as text of one character a byte. */
export function labelOf(text: string): string {
  return latin1(utf8(text));
}
