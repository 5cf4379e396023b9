import type { FileSide } from "./diff_tree.ts";
import type { CommitSource } from "./history.ts";
import { baseTree } from "./merge_base.ts";
import { type ConflictKind, type Note, type Stage } from "./merge_entry.ts";
import { bytesOf, labelOf } from "./merge_file.ts";
import { MergeStore } from "./merge_store.ts";
import { mergeInStore } from "./merge_tree.ts";
import type { ObjectReader, Oid } from "./object.ts";
import { type NewObject, NewObjects } from "./tree_build.ts";

/** How a merge is made. */
export interface MergeOptions {
  /** What the sides are called in marker lines and in the names of files that made way. */
  readonly labels?: { readonly ours: string; readonly theirs: string } | undefined;
  /** Keeps runs of lines that both sides inserted in one place, this side's first, instead of a conflict. */
  readonly keepBoth?: "ours" | "theirs" | undefined;
}

/** A path that does not merge and why; a path may have several. */
export interface MergeConflict {
  /** Where it is in the merged tree, or was. */
  readonly path: Uint8Array;
  readonly kind: ConflictKind;
  /** The file each tree has for it, by the path it has there. */
  readonly base?: FileSide | undefined;
  readonly ours?: FileSide | undefined;
  readonly theirs?: FileSide | undefined;
}

/** What a merge comes to. */
export interface MergeOutcome {
  /** The merged tree; with conflicts, texts in it have marker lines and the rest is as git leaves it. */
  readonly tree: Oid;
  /** None when the merge is clean. */
  readonly conflicts: readonly MergeConflict[];
  /** The paths where `keepBoth` kept lines of both sides. */
  readonly keptBoth: readonly Uint8Array[];
}

/** A merge made, of which nothing is written yet. */
export interface MergeResult extends MergeOutcome {
  /** What must be written with it: the blobs and trees that are not held, each after what it needs. */
  readonly objects: readonly NewObject[];
}

/** Merges two trees that come from `base`, undefined for none; a revert is a merge with the reverted commit as the base. */
export function mergeTrees(
  objects: ObjectReader,
  trees: { readonly base: Oid | undefined; readonly ours: Oid; readonly theirs: Oid },
  options: MergeOptions = {},
): MergeResult {
  return finish(objects, new MergeStore(objects), trees, options);
}

/** Merges two commits by their merge bases; of several, or none, as git's recursive merge would. */
export function mergeCommits(
  objects: ObjectReader,
  commits: CommitSource,
  ours: Oid,
  theirs: Oid,
  options: MergeOptions = {},
): MergeResult {
  const store = new MergeStore(objects);
  return finish(objects, store, {
    base: baseTree(store, commits, ours, theirs),
    ours: commits.commit(ours).tree,
    theirs: commits.commit(theirs).tree,
  }, options);
}

function finish(
  objects: ObjectReader,
  store: MergeStore,
  { base, ours, theirs }: { base: Oid | undefined; ours: Oid; theirs: Oid },
  { labels = { ours: "ours", theirs: "theirs" }, keepBoth }: MergeOptions,
): MergeResult {
  const { tree, notes, keptBoth } = mergeInStore(store, [base, ours, theirs], {
    depth: 0,
    labels: { ours: labelOf(labels.ours), theirs: labelOf(labels.theirs) },
    keepBoth,
  });
  const added = new NewObjects(objects);
  store.collect(tree, added);
  return {
    tree,
    objects: added.list,
    conflicts: notes.map(conflictOf),
    keptBoth: [...keptBoth].sort().map(bytesOf),
  };
}

function conflictOf({ path, kind, stages, paths }: Note): MergeConflict {
  const side = (stage: Stage): FileSide | undefined => {
    const file = stages?.[stage];
    return file && { ...file, path: bytesOf(paths?.[stage] ?? path) };
  };
  return { path: bytesOf(path), kind, base: side(0), ours: side(1), theirs: side(2) };
}
