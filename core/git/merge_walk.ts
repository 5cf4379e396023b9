import { CorruptError } from "../errors.ts";
import { latin1 } from "./bytes.ts";
import { eachDifference } from "./diff_tree.ts";
import {
  BASE,
  type Directory,
  type Entry,
  isSame,
  maskOf,
  OURS,
  type Side,
  type Stage,
  type Stages,
  THEIRS,
} from "./merge_entry.ts";
import type { MergeBudget, MergeStore } from "./merge_store.ts";
import type { ObjectReader, Oid } from "./object.ts";
import type { Loose } from "./rename.ts";
import { isTree } from "./tree.ts";
import { checkDepth, type Found, type TreeCursor } from "./walk.ts";

/** A file that went or came on a side. */
export interface Candidate extends Loose {
  readonly path: string;
}

/** What a side did to the base, as far as renames are to be found in it. */
export interface SideChanges {
  readonly gone: Candidate[];
  readonly came: Candidate[];
  /** The gone files whose new place matters: for what the other side did to them, or to tell where their directory went. */
  readonly relevant: Map<string, "content" | "location">;
  /** The directories that went: whether it matters where to, for files the other side added there. */
  readonly directories: Map<string, "not" | "for those above" | "yes">;
  /** Directories that the other side left alone; looked into only when the side has renames to find. */
  readonly deferred: { readonly slot: Slot; readonly watch: Watch; readonly depth: number }[];
}

/** What differs between three trees. */
export interface Walked {
  readonly root: Directory;
  readonly entries: Map<string, Entry>;
  readonly sides: { readonly [side in Side]: SideChanges };
}

/**
 * Whether files that a side adds to a directory may have to follow it: a side while the other has
 * taken the directory away, "renames" once the side did add a file.
 */
type Watch = "no" | Side | "renames";

/** What has one name in three trees. */
interface Slot {
  readonly path: string;
  readonly name: string;
  readonly parent: Directory;
  readonly files: Stages<Found>;
  readonly trees: Stages<Oid>;
}

interface Walk extends Walked {
  readonly objects: ObjectReader;
  /** The sides whose deferred directories must be looked into. */
  readonly opened: Set<Side>;
  readonly budget: MergeBudget;
}

/** Compares two sides with their base, looking into directories only where that can matter. */
export function walkSides(store: MergeStore, trees: Stages<Oid>): Walked {
  const root = newDirectory("", "", trees[OURS], trees);
  const walk: Walk = {
    objects: store,
    root,
    entries: new Map(),
    sides: { [OURS]: newSide(), [THEIRS]: newSide() },
    opened: new Set(),
    budget: store.budget,
  };
  walkDirectory(walk, root, "no", 0);
  for (const side of [OURS, THEIRS] as const) {
    const { relevant, deferred } = walk.sides[side];
    if (relevant.size > 0) walk.opened.add(side);
    for (const { slot, watch, depth } of deferred) {
      if (relevant.size > 0) descend(walk, slot, watch, depth);
      else addDirectory(slot, slot.trees[side], undefined);
    }
  }
  return walk;
}

function newSide(): SideChanges {
  return { gone: [], came: [], relevant: new Map(), directories: new Map(), deferred: [] };
}

/** Makes a directory of a merge. */
export function newDirectory(
  path: string,
  name: string,
  start: Oid | undefined,
  trees: Stages<Oid> | undefined,
): Directory {
  return {
    ...{ path, name, start, trees },
    ...{ directories: new Map(), entries: new Map(), files: new Map() },
  };
}

function addDirectory(
  { path, name, parent }: Slot,
  start: Oid | undefined,
  trees: Stages<Oid> | undefined,
): Directory {
  const directory = newDirectory(path, name, start, trees);
  parent.directories.set(name, directory);
  return directory;
}

function descend(walk: Walk, slot: Slot, watch: Watch, depth: number): void {
  walkDirectory(walk, addDirectory(slot, slot.trees[OURS], slot.trees), watch, depth);
}

function walkDirectory(walk: Walk, directory: Directory, watch: Watch, depth: number): void {
  checkDepth(depth);
  const slots = listSlots(walk.objects, directory);
  walk.budget.paths -= slots.length;
  if (walk.budget.paths < 0) throw new CorruptError("the trees to merge differ in too many paths");
  if (watch === OURS || watch === THEIRS) {
    const mask = 1 << watch;
    if (slots.some(({ files }) => maskOf(files) === mask)) watch = "renames";
  }
  for (const slot of slots) visit(walk, slot, watch, depth);
}

/** Lists the names at which a side differs from the base, in git's order. */
function listSlots(objects: ObjectReader, directory: Directory): Slot[] {
  const { trees = [undefined, undefined, undefined] } = directory;
  const slots = new Map<string, { slot: Slot; differs: Set<Side> }>();
  const compare = (side: Side) => {
    eachDifference(objects, trees[BASE], trees[side], (base, now) => {
      const cursor = base ?? now;
      if (cursor === undefined) return;
      const name = latin1(cursor.bytes, cursor.nameStart, cursor.nameEnd);
      let known = slots.get(name);
      if (known === undefined) {
        slots.set(name, known = { slot: newSlot(directory, name), differs: new Set() });
      }
      known.differs.add(side);
      put(known.slot, BASE, base);
      put(known.slot, side, now);
    });
  };
  compare(OURS);
  compare(THEIRS);
  const all = [...slots.values()].map(({ slot, differs }) => {
    for (const side of [OURS, THEIRS] as const) {
      if (differs.has(side)) continue;
      slot.files[side] = slot.files[BASE];
      slot.trees[side] = slot.trees[BASE];
    }
    return { slot, key: maskOf(slot.files) === 0 ? `${slot.name}/` : slot.name };
  });
  return all.sort((one, other) => one.key < other.key ? -1 : 1).map(({ slot }) => slot);
}

function newSlot(parent: Directory, name: string): Slot {
  const path = parent.path === "" ? name : `${parent.path}/${name}`;
  return {
    ...{ path, name, parent },
    files: [undefined, undefined, undefined],
    trees: [undefined, undefined, undefined],
  };
}

function put(slot: Slot, stage: Stage, cursor: TreeCursor | undefined): void {
  if (cursor === undefined) return;
  if (isTree(cursor.mode)) slot.trees[stage] = cursor.oid();
  else slot.files[stage] = { mode: cursor.mode, oid: cursor.oid() };
}

function visit(walk: Walk, slot: Slot, watch: Watch, depth: number): void {
  const { files, trees, path, name, parent } = slot;
  const fileMask = maskOf(files);
  const treeMask = maskOf(trees);
  const same = sameStages(files);
  if (fileMask === 7 && same !== "none") {
    if (same === "base and ours") parent.files.set(name, files[THEIRS]);
    return;
  }
  if ((treeMask === 3 || treeMask === 5) && watch !== "renames") {
    watch = treeMask === 3 ? OURS : THEIRS;
  }
  noteChanges(walk, slot, watch, same);
  if (fileMask !== 0) {
    const entry: Entry = {
      path,
      stages: files,
      paths: [path, path, path],
      directories: treeMask,
      same,
      isGone: false,
      isMisplaced: false,
      kinds: new Set(),
    };
    walk.entries.set(path, entry);
    parent.entries.set(name, entry);
  }
  if (treeMask === 0) return;
  const side = trees[BASE] !== undefined && trees[BASE] === trees[OURS]
    ? THEIRS
    : trees[BASE] !== undefined && trees[BASE] === trees[THEIRS]
    ? OURS
    : fileMask === 0 && treeMask === 2
    ? OURS
    : fileMask === 0 && treeMask === 4
    ? THEIRS
    : undefined;
  if (side !== undefined && watch !== "renames" && !walk.opened.has(side)) {
    walk.sides[side].deferred.push({ slot, watch, depth: depth + 1 });
  } else {
    descend(walk, slot, watch, depth + 1);
  }
}

function sameStages([base, ours, theirs]: Stages<Found>): Entry["same"] {
  if (isSame(base, ours)) return "base and ours";
  if (isSame(base, theirs)) return "base and theirs";
  return isSame(ours, theirs) ? "sides" : "none";
}

/** Notes what renames may be found from and whether that matters. */
function noteChanges(walk: Walk, slot: Slot, watch: Watch, same: Entry["same"]): void {
  const { files, trees, path, name, parent } = slot;
  const fileMask = maskOf(files);
  for (const side of [OURS, THEIRS] as const) {
    const changes = walk.sides[side];
    const bit = 1 << side;
    if (trees[BASE] !== undefined && trees[side] === undefined) {
      changes.directories.set(path, watch === "renames" ? "for those above" : "not");
    }
    if (watch === "renames" && fileMask === (bit ^ 6)) changes.directories.set(parent.path, "yes");
    const file = files[side];
    if (files[BASE] !== undefined && file === undefined) {
      changes.gone.push({ file: files[BASE], name, path, isPaired: false });
      if (same === "none") changes.relevant.set(path, "content");
      else if (watch === "renames") changes.relevant.set(path, "location");
    } else if (files[BASE] === undefined && file !== undefined) {
      changes.came.push({ file, name, path, isPaired: false });
    }
  }
}
