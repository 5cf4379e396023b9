import { BASE, type Entry, isSame, type Merge, otherSide, OURS, THEIRS } from "./merge_entry.ts";
import { isRegular, mergeFile } from "./merge_file.ts";
import type { Rename } from "./merge_rename.ts";

/** Brings together, at the new path of each renamed file, what belongs to it; what cannot be is noted. */
export function followRenames(
  merge: Merge,
  entries: ReadonlyMap<string, Entry>,
  renames: readonly Rename[],
): void {
  const sorted = renames.toSorted((one, other) =>
    one.from < other.from ? -1 : one.from > other.from ? 1 : one.side - other.side
  );
  for (let at = 0; at < sorted.length; at++) {
    const rename = sorted[at];
    const old = rename && entries.get(rename.from);
    if (rename === undefined || old === undefined || old.isGone) continue;
    const next = sorted[at + 1];
    if (next?.from !== rename.from) {
      const now = entries.get(rename.to);
      if (now !== undefined) followOne(merge, rename, old, now);
      continue;
    }
    at++;
    const ours = entries.get(rename.to);
    const theirs = entries.get(next.to);
    if (ours !== undefined && theirs !== undefined) followBoth(merge, old, ours, theirs);
  }
}

/** Follows the renames of one file by both sides. */
function followBoth(merge: Merge, old: Entry, ours: Entry, theirs: Entry): void {
  if (ours === theirs) {
    ours.stages[BASE] = old.stages[BASE];
    old.isGone = true;
    return;
  }
  const paths = [old.path, ours.path, theirs.path] as const;
  const [base, own, other] = [old.stages[BASE], ours.stages[OURS], theirs.stages[THEIRS]];
  if (own === undefined || other === undefined) return;
  const merged = mergeFile(merge, { base, ours: own, theirs: other, paths, nesting: 1 });
  ours.stages[OURS] = merged.file;
  // What could not be merged is not one content for both paths: each keeps that of its side.
  const isOurs = isSame(own, merged.file);
  theirs.stages[THEIRS] = merged.problem !== undefined && isOurs ? other : merged.file;
  for (const entry of [old, ours, theirs]) {
    entry.isMisplaced = true;
    entry.kinds.add("rename/rename");
  }
}

/** Follows a rename by one side only. */
function followOne(merge: Merge, { side }: Rename, old: Entry, now: Entry): void {
  const other = otherSide(side);
  const left = old.stages[other];
  const renamed = now.stages[side];
  if (renamed === undefined) return;
  const changedType = left !== undefined && isRegular(left) !== isRegular(renamed);
  // With another type at the old path the other side renamed it too, only its own file is in the way of seeing it.
  const collides = now.stages[other] !== undefined && !changedType;
  if (collides && left !== undefined) {
    const paths: [string, string, string] = [old.path, old.path, old.path];
    paths[side] = now.path;
    const [ours, theirs] = side === OURS ? [renamed, left] : [left, renamed];
    const merged = mergeFile(merge, { base: old.stages[BASE], ours, theirs, paths, nesting: 1 });
    now.stages[side] = merged.file;
    if (merged.problem !== undefined) now.kinds.add("rename/add");
  } else if (collides) {
    now.isMisplaced = true;
    now.kinds.add("rename/delete");
  } else {
    now.stages[BASE] = old.stages[BASE];
    now.paths[BASE] = old.path;
    if (changedType) {
      old.stages[BASE] = undefined;
      return;
    }
    if (left === undefined) {
      now.isMisplaced = true;
      now.kinds.add("rename/delete");
    } else {
      now.stages[other] = left;
      now.paths[other] = old.path;
    }
  }
  old.isGone = true;
}
