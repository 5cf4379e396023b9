import { type Merge, otherSide, OURS, type Side, THEIRS } from "./merge_entry.ts";
import { isOccupied, moveEntry } from "./merge_place.ts";
import {
  type DirectoryCounts,
  directoryOf,
  type Rename,
  type SideRenames,
} from "./merge_rename.ts";
import type { Walked } from "./merge_walk.ts";

/** By old path, where a side renamed its directories to. */
type DirectoryRenames = Map<string, string>;

type BySide<T> = { readonly [side in Side]: T };

/**
 * Lets what a side added or renamed follow a directory that the other side renamed, and notes that
 * as a conflict, as git does by default. Renames of the sides are changed to lead there.
 */
export function followDirectories(
  merge: Merge,
  walked: Walked,
  renames: BySide<SideRenames>,
): void {
  const moved = {
    [OURS]: directoryRenames(merge, renames[OURS].counts),
    [THEIRS]: directoryRenames(merge, renames[THEIRS].counts),
  };
  for (const directory of [...moved[OURS].keys()]) {
    if (moved[THEIRS].delete(directory)) moved[OURS].delete(directory);
  }
  const targets = {
    [OURS]: listTargets(walked, OURS, moved[THEIRS]),
    [THEIRS]: listTargets(walked, THEIRS, moved[OURS]),
  };
  for (const side of [OURS, THEIRS] as const) {
    const other = otherSide(side);
    if (moved[other].size === 0) continue;
    const reported = new Set<string>();
    for (const { path } of walked.sides[side].came) {
      if (targets[other].has(path)) continue;
      const target = followed(path, moved[other]);
      if (target === undefined || moved[side].has(target.directory)) continue;
      const isAmbiguous = (targets[side].get(target.path) ?? 0) > 1;
      if (isAmbiguous || isOccupied(merge.store, walked, target.path, side)) {
        if (!reported.has(target.path)) {
          merge.notes.push({ path: target.path, kind: "directory rename" });
        }
        reported.add(target.path);
        continue;
      }
      const entry = moveEntry(merge.store, walked, path, target.path, side);
      if (entry === undefined) continue;
      entry.isMisplaced = true;
      entry.kinds.add("directory rename");
      const rename: Rename | undefined = renames[side].byTarget.get(path);
      if (rename !== undefined) rename.to = target.path;
    }
  }
}

/** Says of each directory where most of its files went; a tie is noted. */
function directoryRenames(merge: Merge, counts: DirectoryCounts): DirectoryRenames {
  const renames: DirectoryRenames = new Map();
  for (const [old, targets] of counts) {
    const most = Math.max(...targets.values());
    const [target, ...others] = [...targets.keys()].filter((key) => targets.get(key) === most);
    if (target === undefined) continue;
    if (others.length === 0) renames.set(old, target);
    else merge.notes.push({ path: old, kind: "directory rename" });
  }
  return renames;
}

/** Counts how many of a side's new files would follow a directory to each path. */
function listTargets(walked: Walked, side: Side, moved: DirectoryRenames): Map<string, number> {
  const targets = new Map<string, number>();
  if (moved.size === 0) return targets;
  for (const { path } of walked.sides[side].came) {
    const target = followed(path, moved);
    if (target !== undefined) targets.set(target.path, (targets.get(target.path) ?? 0) + 1);
  }
  return targets;
}

/** Gives where a path is when it follows the innermost renamed directory it is in. */
function followed(
  path: string,
  moved: DirectoryRenames,
): { path: string; directory: string } | undefined {
  for (let old = directoryOf(path); old !== ""; old = directoryOf(old)) {
    const directory = moved.get(old);
    if (directory === undefined) continue;
    const below = path.slice(old.length + 1);
    return { path: directory === "" ? below : `${directory}/${below}`, directory };
  }
  return undefined;
}
