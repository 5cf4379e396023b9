import { latin1 } from "./bytes.ts";
import { type Directory, type Merge, OURS, type Side } from "./merge_entry.ts";
import { bytesOf } from "./merge_file.ts";
import { resolveEntry } from "./merge_resolve.ts";
import type { Oid } from "./object.ts";
import { formatTree, MODE } from "./tree.ts";
import { type Found, listTree } from "./walk.ts";

/** Makes the tree of a directory, undefined when nothing is left in it. */
export function writeDirectory(merge: Merge, directory: Directory): Oid | undefined {
  const { start, directories, entries, files } = directory;
  if (directories.size + entries.size + files.size === 0) return start;
  const names = new Map<string, Found>();
  for (const { name, mode, oid } of start === undefined ? [] : listTree(merge.store, start)) {
    names.set(latin1(name), { mode, oid });
  }
  const isTaken = new Set([...names.keys(), ...directories.keys(), ...entries.keys()]);
  for (const [name, file] of files) setName(names, name, file);
  const kept = new Set<string>();
  for (const [name, below] of directories) {
    const oid = writeDirectory(merge, below);
    if (oid !== undefined) kept.add(name);
    else if (files.get(name) !== undefined) continue;
    setName(names, name, oid === undefined ? undefined : { mode: MODE.tree, oid });
  }
  const freePath = (path: string, side: Side): string => {
    const label = (side === OURS ? merge.labels.ours : merge.labels.theirs).replaceAll("/", "_");
    let free = `${path}~${label}`;
    const nameOf = (whole: string) => whole.slice(whole.lastIndexOf("/") + 1);
    for (let count = 0; isTaken.has(nameOf(free)); count++) free = `${path}~${label}_${count}`;
    isTaken.add(nameOf(free));
    return free;
  };
  // From the last to the first, as git does, so that free paths are numbered alike.
  for (const name of [...entries.keys()].sort().reverse()) {
    const entry = entries.get(name);
    if (entry === undefined) continue;
    const isDirectory = kept.has(name);
    if (!isDirectory) names.delete(name);
    for (const { path, file } of resolveEntry(merge, entry, { isDirectory, freePath })) {
      names.set(path.slice(path.lastIndexOf("/") + 1), file);
    }
  }
  if (names.size === 0) return undefined;
  const listed = [...names].map(([name, { mode, oid }]) => ({ mode, oid, name: bytesOf(name) }));
  return merge.store.make("tree", formatTree(listed), start);
}

function setName(names: Map<string, Found>, name: string, found: Found | undefined): void {
  if (found === undefined) names.delete(name);
  else names.set(name, found);
}
