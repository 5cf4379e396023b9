import { CorruptError } from "../errors.ts";
import { concat, utf8 } from "./bytes.ts";
import type { ObjectKind, ObjectReader, Oid } from "./object.ts";
import { EMPTY_TREE, OID_BYTES, oidAt } from "./oid.ts";
import { isGitlink, isSymlink, isTree, MODE, parseTree, type TreeEntry } from "./tree.ts";

const SLASH = 0x2f;
/** Deeper trees than this are made to exhaust whoever walks them. */
const DEPTH_LIMIT = 1000;

/** What a path of a tree is: its mode, one of `MODE`, and object. */
export interface Found {
  readonly mode: number;
  readonly oid: Oid;
}

/** Gives the mode git takes an odd one of an old repository for. */
export function canonicalMode(mode: number): number {
  if ((mode & 0o170000) === 0o100000) return mode & 0o100 ? MODE.executable : MODE.file;
  if (isSymlink(mode)) return MODE.symlink;
  return isTree(mode) ? MODE.tree : MODE.gitlink;
}

/** Gives the kind of object an entry with this mode names. */
export function kindOf(mode: number): ObjectKind {
  if (isTree(mode)) return "tree";
  return isGitlink(mode) ? "commit" : "blob";
}

/** Reads the content of an object; another kind, or none, is a CorruptError. */
export function readObject(
  objects: Pick<ObjectReader, "read">,
  oid: Oid,
  kind: ObjectKind,
): Uint8Array {
  const object = objects.read(oid);
  if (object === undefined) {
    if (oid === EMPTY_TREE && kind === "tree") return new Uint8Array();
    throw new CorruptError(`the ${kind} ${oid} is missing`);
  }
  if (object.kind !== kind) throw new CorruptError(`${oid} is a ${object.kind}, not a ${kind}`);
  return object.bytes;
}

/** Cuts a path at its slashes; empty parts, as a slash at its end makes, are left out. */
export function pathParts(path: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let start = 0;
  while (start <= path.length) {
    const slash = path.indexOf(SLASH, start);
    const end = slash < 0 ? path.length : slash;
    if (end > start) parts.push(path.subarray(start, end));
    start = end + 1;
  }
  return parts;
}

/** Joins a directory's path, empty for the root, and a name. */
export function joinPath(directory: Uint8Array, name: Uint8Array): Uint8Array {
  return directory.length === 0 ? name : concat([directory, utf8("/"), name]);
}

/** Finds a path in a tree, the tree itself for the empty path; undefined when nothing is there. */
export function findEntry(objects: ObjectReader, tree: Oid, path: Uint8Array): Found | undefined {
  let found: Found = { mode: MODE.tree, oid: tree };
  for (const name of pathParts(path)) {
    if (!isTree(found.mode)) return undefined;
    const next = findName(readObject(objects, found.oid, "tree"), name);
    if (next === undefined) return undefined;
    found = next;
  }
  return found;
}

/** Finds a name in the bytes of a tree without reading the other entries. */
export function findName(tree: Uint8Array, name: Uint8Array): Found | undefined {
  const cursor = new TreeCursor(tree);
  while (cursor.next()) {
    if (cursor.isNamed(name)) return { mode: cursor.mode, oid: cursor.oid() };
  }
  return undefined;
}

/** Lists the entries of a tree in git's order, their modes canonical. */
export function listTree(objects: ObjectReader, tree: Oid): TreeEntry[] {
  return parseTree(readObject(objects, tree, "tree")).map((entry) => ({
    ...entry,
    mode: canonicalMode(entry.mode),
  }));
}

/** A file, symbolic link or submodule below a tree. */
export interface WalkedEntry extends Found {
  readonly path: Uint8Array;
}

/** Walks a tree and those below it in git's order, giving everything but the directories. */
export function* walkTree(
  objects: ObjectReader,
  tree: Oid,
  prefix: Uint8Array = new Uint8Array(),
): Generator<WalkedEntry> {
  const stack = [{ entries: listTree(objects, tree).values(), prefix }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const next = top.entries.next();
    if (next.done) {
      stack.pop();
      continue;
    }
    const { mode, oid, name } = next.value;
    const path = joinPath(top.prefix, name);
    if (!isTree(mode)) {
      yield { path, mode, oid };
      continue;
    }
    checkDepth(stack.length);
    stack.push({ entries: listTree(objects, oid).values(), prefix: path });
  }
}

/** Refuses trees nested deeper than any honest one. */
export function checkDepth(depth: number): void {
  if (depth > DEPTH_LIMIT) throw new CorruptError("a tree is nested more than 1000 levels deep");
}

/** Reads a tree entry by entry without making an object for each; the fields tell the entry `next` came to. */
export class TreeCursor {
  readonly bytes: Uint8Array;
  /** Canonical. */
  mode = 0;
  nameStart = 0;
  nameEnd = 0;
  #end = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Goes to the next entry; false at the end. */
  next(): boolean {
    const { bytes } = this;
    let at = this.#end;
    if (at >= bytes.length) return false;
    let mode = 0;
    for (let byte = bytes[at] ?? 0; byte !== 0x20; byte = bytes[++at] ?? 0) {
      if (byte < 0x30 || byte > 0x37 || mode > 0o1777777) {
        throw new CorruptError("a mode in a tree is not an octal number");
      }
      mode = mode * 8 + byte - 0x30;
    }
    this.mode = canonicalMode(mode);
    this.nameStart = at + 1;
    const end = bytes.indexOf(0, at + 1);
    this.nameEnd = end;
    this.#end = end + 1 + OID_BYTES;
    if (end < 0 || this.#end > bytes.length) {
      throw new CorruptError("an entry of a tree is cut short");
    }
    return true;
  }

  name(): Uint8Array {
    return this.bytes.subarray(this.nameStart, this.nameEnd);
  }

  oid(): Oid {
    return oidAt(this.bytes, this.nameEnd + 1);
  }

  isNamed(name: Uint8Array): boolean {
    if (this.nameEnd - this.nameStart !== name.length) return false;
    for (let at = 0; at < name.length; at++) {
      if (this.bytes[this.nameStart + at] !== name[at]) return false;
    }
    return true;
  }
}
