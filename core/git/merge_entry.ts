import type { MergeStore } from "./merge_store.ts";
import type { Oid } from "./object.ts";
import type { Found } from "./walk.ts";

/** The trees of a merge, as indexes: what both sides come from, and the sides. */
export const BASE = 0;
export const OURS = 1;
export const THEIRS = 2;
export type Side = typeof OURS | typeof THEIRS;
export type Stage = typeof BASE | Side;

/** One thing of each tree, undefined where it is not. */
export type Stages<T> = [T | undefined, T | undefined, T | undefined];

/** Gives the other side. */
export function otherSide(side: Side): Side {
  return side === OURS ? THEIRS : OURS;
}

/** Which stages there are, as bits: 1 the base, 2 ours, 4 theirs. */
export function maskOf(stages: Stages<unknown>): number {
  return (stages[BASE] === undefined ? 0 : 1) | (stages[OURS] === undefined ? 0 : 2) |
    (stages[THEIRS] === undefined ? 0 : 4);
}

/** Tells whether both are there and the same. */
export function isSame(one: Found | undefined, other: Found | undefined): boolean {
  return one !== undefined && one.oid === other?.oid && one.mode === other.mode;
}

/** Why a path may not merge; kept answers have the numbers. */
export const CONFLICT_KINDS = [
  "content",
  "add/add",
  "binary",
  "mode",
  "symlink",
  "submodule",
  "modify/delete",
  "rename/delete",
  "rename/rename",
  "rename/add",
  "file/directory",
  "distinct types",
  "directory rename",
] as const;

/** Why a path does not merge. */
export type ConflictKind = typeof CONFLICT_KINDS[number];

/** A path whose files differ between the trees. Paths are text of one character a byte. */
export interface Entry {
  readonly path: string;
  /** The file, link or submodule in each tree; renames bring in what had another path. */
  readonly stages: Stages<Found>;
  /** The path each stage had. */
  readonly paths: [string, string, string];
  /** Which trees have a directory at this path, as bits. */
  readonly directories: number;
  /** Which two trees had the same here before renames were followed. */
  readonly same: "none" | "base and ours" | "base and theirs" | "sides";
  /** Whether a rename took away what was here. */
  isGone: boolean;
  /** Whether where the file belongs is in conflict, whatever its content. */
  isMisplaced: boolean;
  readonly kinds: Set<ConflictKind>;
}

/** A directory with paths that differ, or one that a side's tree decides. */
export interface Directory {
  readonly path: string;
  readonly name: string;
  /** What the changes are made to, undefined for none. */
  readonly start: Oid | undefined;
  /** The trees here; undefined when one of them decides alone. */
  readonly trees: Stages<Oid> | undefined;
  readonly directories: Map<string, Directory>;
  readonly entries: Map<string, Entry>;
  /** Files that one tree decides; undefined for none. */
  readonly files: Map<string, Found | undefined>;
}

/** A conflict as the merge notes it; one of a whole directory has no stages. */
export interface Note extends Partial<Pick<Entry, "stages" | "paths">> {
  readonly path: string;
  readonly kind: ConflictKind;
}

/** A merge of two trees under way. */
export interface Merge {
  readonly store: MergeStore;
  /** 0, or how deep among merges of merge bases this one is. */
  readonly depth: number;
  /** What the sides are called in marker lines, as text of one character a byte. */
  readonly labels: { readonly ours: string; readonly theirs: string };
  readonly keepBoth: "ours" | "theirs" | undefined;
  readonly notes: Note[];
  /** The paths where runs of both sides were kept. */
  readonly keptBoth: Set<string>;
}
