import { CorruptError, NotFoundError, RefusedError, UsageError } from "../errors.ts";
import { latin1, sameBytes } from "./bytes.ts";
import { applyEdits, type Edit } from "./edit.ts";
import { hashObject } from "./hash.ts";
import type { ObjectKind, ObjectReader, Oid } from "./object.ts";
import { EMPTY_TREE } from "./oid.ts";
import { quotePath } from "./path.ts";
import { checkPath } from "./safe_path.ts";
import {
  formatTree,
  isGitlink,
  isSymlink,
  isTree,
  MODE,
  parseTree,
  type TreeEntry,
} from "./tree.ts";
import { canonicalMode, joinPath, pathParts, readObject } from "./walk.ts";

/** A change to the file at `path`: its new content, edits in it, or its end. */
export type Change =
  & { readonly path: Uint8Array }
  & (
    | { readonly content: Uint8Array }
    | { readonly edits: readonly Edit[] }
    | { readonly delete: true }
  );

/** An object to write, and a held one of the same kind that a delta of it would be short against. */
export interface NewObject {
  readonly oid: Oid;
  readonly kind: ObjectKind;
  readonly bytes: Uint8Array;
  readonly base?: Oid | undefined;
}

/**
 * Collects objects to write. One that is its own base is left out, and one of `reached`. That an object is merely held
 * does not do: what no ref reaches may be folded away while this is being published.
 */
export class NewObjects {
  readonly list: NewObject[] = [];
  readonly #known = new Set<Oid>();
  readonly #reached: Pick<ObjectReader, "has"> | undefined;

  /** `reached` has objects that refs are sure to reach when this is published. */
  constructor(reached?: Pick<ObjectReader, "has">) {
    this.#reached = reached;
  }

  /** Adds an object and gives its oid; `base` is one it may be a delta of. */
  add(kind: ObjectKind, bytes: Uint8Array, base?: Oid): Oid {
    const oid = hashObject(kind, bytes);
    if (this.#known.has(oid) || oid === base || this.#reached?.has(oid)) return oid;
    this.#known.add(oid);
    this.list.push({ oid, kind, bytes, base: base !== EMPTY_TREE ? base : undefined });
    return oid;
  }
}

/** The changes at and below one path. */
interface Node {
  readonly path: Uint8Array;
  readonly name: Uint8Array;
  change?: Change;
  readonly below: Map<string, Node>;
}

/** What the changes are made in. */
interface Site {
  readonly objects: ObjectReader;
  readonly added: NewObjects;
}

/**
 * Makes changes to a tree, from nothing when it is undefined, and gives the new tree's oid. Every
 * path may be named once. A change that does not fit the tree is a UsageError, NotFoundError or
 * RefusedError that names its path; directories that lose their last file vanish.
 */
export function changeTree(
  objects: ObjectReader,
  added: NewObjects,
  tree: Oid | undefined,
  changes: readonly Change[],
): Oid {
  const root = newNode(new Uint8Array(), new Uint8Array());
  for (const change of changes) plant(root, change);
  return rebuild({ objects, added }, root, tree, undefined) ?? added.add("tree", new Uint8Array());
}

function newNode(path: Uint8Array, name: Uint8Array): Node {
  return { path, name, below: new Map() };
}

function plant(root: Node, change: Change): void {
  checkPath(change.path);
  let node = root;
  for (const name of pathParts(change.path)) {
    const key = latin1(name);
    let next = node.below.get(key);
    if (next === undefined) node.below.set(key, next = newNode(joinPath(node.path, name), name));
    node = next;
  }
  if (node.change !== undefined) {
    throw new UsageError(`${quotePath(change.path)}: a path may be changed once in a commit`);
  }
  node.change = change;
}

/** Gives the new tree at a node, undefined when nothing is left in it. `file` is the path of what stands where its directory should. */
function rebuild(
  site: Site,
  node: Node,
  tree: Oid | undefined,
  file: Uint8Array | undefined,
): Oid | undefined {
  const old = tree === undefined ? [] : parseTree(readObject(site.objects, tree, "tree"));
  const entries = new Map(old.map((entry) => [latin1(entry.name), entry]));
  if (entries.size < old.length) throw new CorruptError(`the tree ${tree} has a name twice`);
  for (const [key, below] of node.below) {
    const entry = changeEntry(site, below, entries.get(key), file);
    if (entry === undefined) entries.delete(key);
    else entries.set(key, entry);
  }
  if (entries.size === 0) return undefined;
  return site.added.add("tree", formatTree(entries.values()), tree);
}

/** Makes the changes at and below one path: a deletion there makes way for files below, and files below for one there. */
function changeEntry(
  site: Site,
  node: Node,
  old: TreeEntry | undefined,
  file: Uint8Array | undefined,
): TreeEntry | undefined {
  const { change } = node;
  let entry = old;
  if (change !== undefined && "delete" in change) {
    entry = changeFile(site, change, node, entry, file);
  }
  if (node.below.size > 0) {
    const isDirectory = entry !== undefined && isTree(entry.mode);
    const blocked = file ?? (entry === undefined || isDirectory ? undefined : node.path);
    const tree = rebuild(site, node, isDirectory ? entry?.oid : undefined, blocked);
    entry = tree === undefined ? undefined : { mode: MODE.tree, name: node.name, oid: tree };
  }
  if (change !== undefined && !("delete" in change)) {
    entry = changeFile(site, change, node, entry, file);
  }
  return entry;
}

function changeFile(
  { objects, added }: Site,
  change: Change,
  { path, name }: Node,
  old: TreeEntry | undefined,
  file: Uint8Array | undefined,
): TreeEntry | undefined {
  const shown = quotePath(path);
  const special = old === undefined ? undefined : specialKind(old.mode);
  if ("delete" in change) {
    if (old === undefined) throw new NotFoundError(`${shown}: no file there to delete`);
    if (isTree(old.mode)) throw new UsageError(`${shown}: a directory is there; delete its files`);
    return undefined;
  }
  if ("edits" in change) {
    if (old === undefined || special !== undefined) {
      throw new NotFoundError(`${shown}: no file there to edit`);
    }
    const before = readObject(objects, old.oid, "blob");
    const content = applyEdits(before, change.edits, shown);
    if (sameBytes(content, before)) return old;
    return { ...old, oid: added.add("blob", content, old.oid) };
  }
  if (file !== undefined) throw new UsageError(`${shown}: ${quotePath(file)} is not a directory`);
  if (special === "directory") throw new UsageError(`${shown}: a directory is there`);
  if (special !== undefined) {
    throw new RefusedError(`${shown}: a ${special} is there`, { hint: "delete it first" });
  }
  const mode = old === undefined ? MODE.file : canonicalMode(old.mode);
  const oid = added.add("blob", change.content, old?.oid);
  return old !== undefined && oid === old.oid ? old : { mode, name, oid };
}

function specialKind(mode: number): "directory" | "symbolic link" | "submodule" | undefined {
  if (isTree(mode)) return "directory";
  if (isSymlink(mode)) return "symbolic link";
  return isGitlink(mode) ? "submodule" : undefined;
}
