import { type Directory, type Entry, maskOf, type Side } from "./merge_entry.ts";
import { newDirectory, type Walked } from "./merge_walk.ts";
import type { ObjectReader } from "./object.ts";
import { isTree } from "./tree.ts";
import { findName, type Found, readObject } from "./walk.ts";

/** Finds what both sides have unchanged, or one tree decides, at a name of a directory. */
function findUnchanged(
  objects: ObjectReader,
  { start }: Directory,
  name: string,
): Found | undefined {
  if (start === undefined) return undefined;
  const bytes = Uint8Array.from(name, (letter) => letter.charCodeAt(0));
  return findName(readObject(objects, start, "tree"), bytes);
}

/** Gives the directory at a path, made when no change was in it. */
function openDirectory(objects: ObjectReader, root: Directory, path: string): Directory {
  let directory = root;
  for (const name of path === "" ? [] : path.split("/")) {
    let next = directory.directories.get(name);
    if (next === undefined) {
      const found = findUnchanged(objects, directory, name);
      const start = found !== undefined && isTree(found.mode) ? found.oid : undefined;
      const below = directory.path === "" ? name : `${directory.path}/${name}`;
      directory.directories.set(name, next = newDirectory(below, name, start, undefined));
    }
    directory = next;
  }
  return directory;
}

function partPath(path: string): { parent: string; name: string } {
  const slash = path.lastIndexOf("/");
  return { parent: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) };
}

/** Tells whether a file of `side` cannot be moved to a path, for what the side or the whole merge has there or in place of a directory above. */
export function isOccupied(
  objects: ObjectReader,
  { root, entries }: Walked,
  path: string,
  side: Side,
): boolean {
  const entry = entries.get(path);
  const has = 1 << side;
  if (entry !== undefined) return ((maskOf(entry.stages) | entry.directories) & has) !== 0;
  let directory = root;
  const { parent, name } = partPath(path);
  for (const part of parent === "" ? [] : parent.split("/")) {
    const next = directory.directories.get(part);
    if (next === undefined) {
      const found = findUnchanged(objects, directory, part);
      if (found === undefined) return false;
      if (!isTree(found.mode)) return true;
      directory = newDirectory("", part, found.oid, undefined);
    } else {
      directory = next;
    }
  }
  const there = directory.directories.get(name);
  if (there !== undefined) return there.trees === undefined || there.trees[side] !== undefined;
  return directory.files.get(name) !== undefined ||
    (!directory.files.has(name) && findUnchanged(objects, directory, name) !== undefined);
}

/** Moves what a side has at a path, beside what the other side may have at the new one, and gives the entry there. */
export function moveEntry(
  objects: ObjectReader,
  { root, entries }: Walked,
  from: string,
  to: string,
  side: Side,
): Entry | undefined {
  const entry = entries.get(from);
  if (entry === undefined) return undefined;
  const old = partPath(from);
  const parent = openDirectory(objects, root, old.parent);
  entries.delete(from);
  parent.entries.delete(old.name);
  parent.files.set(old.name, undefined);
  const there = entries.get(to);
  if (there !== undefined) {
    there.stages[side] = entry.stages[side];
    there.paths[side] = entry.paths[side];
    return there;
  }
  const now = partPath(to);
  const newParent = openDirectory(objects, root, now.parent);
  const trees = newParent.directories.get(now.name)?.trees;
  const moved: Entry = { ...entry, path: to, directories: trees === undefined ? 0 : maskOf(trees) };
  newParent.entries.set(now.name, moved);
  entries.set(to, moved);
  return moved;
}
