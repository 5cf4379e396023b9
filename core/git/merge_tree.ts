import { followDirectories } from "./merge_directories.ts";
import { type Merge, type Note, OURS, type Stages, THEIRS } from "./merge_entry.ts";
import { followRenames } from "./merge_moves.ts";
import { findRenames } from "./merge_rename.ts";
import type { MergeStore } from "./merge_store.ts";
import { walkSides } from "./merge_walk.ts";
import { writeDirectory } from "./merge_write.ts";
import type { Oid } from "./object.ts";
import { EMPTY_TREE } from "./oid.ts";

/** How the trees are merged, as `Merge` has it. */
export type TreeMergePlan = Pick<Merge, "depth" | "labels" | "keepBoth">;

/** A merged tree, made in the store, with what is in conflict in it. */
export interface MergedTree {
  readonly tree: Oid;
  readonly notes: readonly Note[];
  readonly keptBoth: ReadonlySet<string>;
}

/** Merges two trees that come from a third, renames followed. */
export function mergeInStore(
  store: MergeStore,
  trees: Stages<Oid>,
  plan: TreeMergePlan,
): MergedTree {
  const merge: Merge = { ...plan, store, notes: [], keptBoth: new Set() };
  const walked = walkSides(store, trees);
  const renames = {
    [OURS]: findRenames(store, walked.sides[OURS], OURS),
    [THEIRS]: findRenames(store, walked.sides[THEIRS], THEIRS),
  };
  if (merge.depth === 0) followDirectories(merge, walked, renames);
  followRenames(merge, walked.entries, [
    ...renames[OURS].byTarget.values(),
    ...renames[THEIRS].byTarget.values(),
  ]);
  const tree = writeDirectory(merge, walked.root) ?? EMPTY_TREE;
  return { tree, notes: merge.notes, keptBoth: merge.keptBoth };
}
