import {
  type ConflictKind,
  type Entry,
  maskOf,
  type Merge,
  OURS,
  type Side,
  type Stages,
  THEIRS,
} from "./merge_entry.ts";
import { isOneType, isRegular, mergeFile } from "./merge_file.ts";
import type { Found } from "./walk.ts";

/** What stands at a path when all is done. */
export interface Placed {
  readonly path: string;
  readonly file: Found;
}

/** Where an entry is resolved: whether a directory stays at its path, and what gives a free path named after a side. */
export interface Place {
  readonly isDirectory: boolean;
  freePath(path: string, side: Side): string;
}

interface Outcome {
  readonly file: Found | undefined;
  readonly problems: readonly ConflictKind[];
}

/** Decides what becomes of a path, and notes what is in conflict. */
export function resolveEntry(merge: Merge, entry: Entry, place: Place): Placed[] {
  const mask = maskOf(entry.stages);
  if (entry.isGone || mask === 0) return [];
  const isBlocked = place.isDirectory && entry.directories !== 0;
  if (isBlocked && mask === 1) return [];
  const side = (entry.directories & 2) !== 0 ? THEIRS : OURS;
  const path = isBlocked ? place.freePath(entry.path, side) : entry.path;
  const { stages, same } = entry;
  const [base, ours, theirs] = stages;
  if (same === "none" && ours !== undefined && theirs !== undefined && !isOneType(ours, theirs)) {
    return placeTypes(merge, entry, path, place);
  }
  const { file, problems } = settle(merge, entry);
  const isRemoved = same !== "none" && same !== "sides" && file === undefined;
  const kinds = new Set([...entry.kinds, ...problems]);
  if (isBlocked) kinds.add("file/directory");
  if (!isRemoved && (problems.length > 0 || isBlocked || entry.isMisplaced)) {
    const isMerged = isBlocked && problems.length === 0 && same === "none" && mask >= 6;
    const left: Stages<Found> = isMerged ? [undefined, undefined, undefined] : [base, ours, theirs];
    if (isMerged) left[side] = file;
    for (const kind of kinds) merge.notes.push({ path, kind, stages: left, paths: entry.paths });
  }
  return file === undefined ? [] : [{ path, file }];
}

/** Settles mode and content where the types do not stand in the way. */
function settle(merge: Merge, entry: Entry): Outcome {
  const { stages: [base, ours, theirs], same, paths } = entry;
  if (same !== "none") return { file: same === "base and ours" ? theirs : ours, problems: [] };
  if (ours !== undefined && theirs !== undefined) {
    const { file, problem } = mergeFile(merge, { base, ours, theirs, paths, nesting: 0 });
    const isAdded = base === undefined && problem === "content";
    return { file, problems: problem === undefined ? [] : [isAdded ? "add/add" : problem] };
  }
  const left = ours ?? theirs;
  if (base === undefined || left === undefined) return { file: left, problems: [] };
  // A rename that the other side's deletion met is told as such, unless the content changed too.
  const isTold = entry.isMisplaced && base.oid === left.oid;
  const file = merge.depth > 0 ? base : left;
  return { file, problems: [isTold ? "rename/delete" : "modify/delete"] };
}

/** Keeps a file and a link or submodule that the sides have at one path: files make way. */
function placeTypes(merge: Merge, entry: Entry, path: string, place: Place): Placed[] {
  const { stages: [base, ours, theirs], paths } = entry;
  if (ours === undefined || theirs === undefined) return [];
  if (merge.depth > 0) {
    merge.notes.push({ path, kind: "distinct types", stages: entry.stages, paths });
    return base === undefined ? [] : [{ path, file: base }];
  }
  const ourPath = isRegular(ours) || !isRegular(theirs) ? place.freePath(path, OURS) : path;
  const theirPath = isRegular(ours) ? path : place.freePath(path, THEIRS);
  const baseFor = (file: Found) => base !== undefined && isOneType(base, file) ? base : undefined;
  const note = (at: string, stages: Stages<Found>) => {
    for (const kind of new Set<ConflictKind>([...entry.kinds, "distinct types"])) {
      merge.notes.push({ path: at, kind, stages, paths });
    }
  };
  note(ourPath, [baseFor(ours), ours, undefined]);
  note(theirPath, [baseFor(theirs), undefined, theirs]);
  return [{ path: ourPath, file: ours }, { path: theirPath, file: theirs }];
}
