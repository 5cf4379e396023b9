import type { ObjectReader, Oid } from "./object.ts";
import { compareOids } from "./oid.ts";
import { compareEntries, isGitlink, isTree } from "./tree.ts";
import { checkDepth, type Found, joinPath, readObject, TreeCursor } from "./walk.ts";

/** A file, symbolic link or submodule on one side of a comparison. */
export interface FileSide extends Found {
  readonly path: Uint8Array;
}

/** A file that came, went or differs; one side at least is there. */
export interface FileChange {
  readonly old?: FileSide | undefined;
  readonly new?: FileSide | undefined;
  /** How alike the two are, in per cent, when the file was renamed. */
  readonly similarity?: number | undefined;
}

/** A file or directory that a comparison is limited to. */
export interface Pathspec {
  readonly path: Uint8Array;
  /** Whether it was given with a slash at its end, which a file does not fit. */
  readonly isDirectory: boolean;
}

const SLASH = 0x2f;
const nowhere = new Uint8Array();

/** Reads the paths a comparison is limited to; an empty one means everything. */
export function parsePathspecs(paths: readonly Uint8Array[]): Pathspec[] {
  return paths.map((path) => {
    let end = path.length;
    while (end > 0 && path[end - 1] === SLASH) end--;
    return { path: path.subarray(0, end), isDirectory: end < path.length };
  });
}

/** Lists the files that differ between two trees in git's order, renames not paired; undefined is the empty tree. */
export function compareTrees(
  objects: ObjectReader,
  a: Oid | undefined,
  b: Oid | undefined,
  limits: readonly Pathspec[] = [],
): FileChange[] {
  const comparison = { objects, limits, changes: [] };
  compareDirectories(comparison, a, b, nowhere, 0);
  return comparison.changes;
}

interface Comparison {
  readonly objects: ObjectReader;
  readonly limits: readonly Pathspec[];
  readonly changes: FileChange[];
}

function compareDirectories(
  comparison: Comparison,
  a: Oid | undefined,
  b: Oid | undefined,
  directory: Uint8Array,
  depth: number,
): void {
  checkDepth(depth);
  eachDifference(comparison.objects, a, b, (oldSide, newSide) => {
    compareEntry(comparison, oldSide, newSide, directory, depth);
  });
}

/** Goes through what differs between two trees, not below them, in git's order; the cursors hold until the next. */
export function eachDifference(
  objects: ObjectReader,
  a: Oid | undefined,
  b: Oid | undefined,
  visit: (a: TreeCursor | undefined, b: TreeCursor | undefined) => void,
): void {
  if (a === b) return;
  const cursorA = new TreeCursor(a === undefined ? nowhere : readObject(objects, a, "tree"));
  const cursorB = new TreeCursor(b === undefined ? nowhere : readObject(objects, b, "tree"));
  let hasA = cursorA.next();
  let hasB = cursorB.next();
  while (hasA || hasB) {
    const order = !hasB ? -1 : !hasA ? 1 : compareNames(cursorA, cursorB);
    if (order !== 0 || !isSame(cursorA, cursorB)) {
      visit(order <= 0 ? cursorA : undefined, order >= 0 ? cursorB : undefined);
    }
    if (order <= 0) hasA = cursorA.next();
    if (order >= 0) hasB = cursorB.next();
  }
}

/** Compares what has one name on both sides, or is on one side only: two directories, or no directory at all. */
function compareEntry(
  comparison: Comparison,
  a: TreeCursor | undefined,
  b: TreeCursor | undefined,
  directory: Uint8Array,
  depth: number,
): void {
  const cursor = a ?? b;
  if (cursor === undefined) return;
  const path = joinPath(directory, cursor.name());
  if (isTree(cursor.mode)) {
    if (!comparison.limits.some((limit) => reaches(limit, path)) && comparison.limits.length > 0) {
      return;
    }
    compareDirectories(comparison, a?.oid(), b?.oid(), path, depth + 1);
    return;
  }
  if (comparison.limits.length > 0) {
    if (!comparison.limits.some((limit) => covers(limit, path, cursor.mode))) return;
  }
  comparison.changes.push({
    old: a && { path, mode: a.mode, oid: a.oid() },
    new: b && { path, mode: b.mode, oid: b.oid() },
  });
}

/** Tells whether something below the directory may be meant. */
function reaches(limit: Pathspec, directory: Uint8Array): boolean {
  return isWithin(directory, limit.path) || isWithin(limit.path, directory);
}

function covers({ path: limit, isDirectory }: Pathspec, path: Uint8Array, mode: number): boolean {
  if (!isWithin(path, limit)) return false;
  return !isDirectory || limit.length < path.length || isGitlink(mode);
}

function isWithin(path: Uint8Array, directory: Uint8Array): boolean {
  if (directory.length === 0) return true;
  if (path.length > directory.length && path[directory.length] !== SLASH) return false;
  for (let at = 0; at < directory.length; at++) if (path[at] !== directory[at]) return false;
  return true;
}

function compareNames(a: TreeCursor, b: TreeCursor): number {
  if (isTree(a.mode) === isTree(b.mode) && a.isNamed(b.name())) return 0;
  return compareEntries({ mode: a.mode, name: a.name() }, { mode: b.mode, name: b.name() });
}

function isSame(a: TreeCursor, b: TreeCursor): boolean {
  return a.mode === b.mode && compareOids(a.bytes, a.nameEnd + 1, b.bytes, b.nameEnd + 1) === 0;
}
