import { sameBytes } from "./bytes.ts";
import { compareTrees, type FileSide } from "./diff_tree.ts";
import type { ObjectReader, Oid } from "./object.ts";
import { pairRenames } from "./rename.ts";
import { isGitlink, isTree } from "./tree.ts";
import { findEntry } from "./walk.ts";

/** A file with its path. */
export type FoundFile = FileSide;

const TYPE = 0o170000;

/** Finds a file's version of the same path in the tree of a parent; undefined when there is none of its type. */
export function blobIn(
  objects: ObjectReader,
  tree: Oid,
  { path, mode }: FoundFile,
): FoundFile | undefined {
  const found = findEntry(objects, tree, path);
  return found !== undefined && (found.mode & TYPE) === (mode & TYPE)
    ? { ...found, path }
    : undefined;
}

/** Finds what in the tree of a parent became a file that came with a commit: the likest of the files that went. */
export function renamedFrom(
  objects: ObjectReader,
  tree: Oid,
  file: FoundFile,
  newTree: Oid,
): FoundFile | undefined {
  const found = findEntry(objects, tree, file.path);
  if (found !== undefined && !isTree(found.mode)) return undefined;
  const changes = compareTrees(objects, tree, newTree).filter(({ old, new: now }) =>
    now === undefined || (old === undefined && sameBytes(now.path, file.path))
  );
  return pairRenames(objects, changes).find(({ old, new: now }) =>
    old !== undefined && now !== undefined && !isGitlink(old.mode)
  )?.old;
}
