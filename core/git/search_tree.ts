import { latin1 } from "./bytes.ts";
import { isGlob, readGlob } from "./glob.ts";
import type { ObjectReader, Oid } from "./object.ts";
import type { LineFinder } from "./search.ts";
import { isBinary } from "./text.ts";
import { isTree, MODE } from "./tree.ts";
import { checkDepth, findEntry, readObject, TreeCursor } from "./walk.ts";

/** Larger files are not searched. */
const MAX_BYTES = 32 << 20;

/** A file that may be searched; its path is text of one character a byte. */
export interface SearchedFile {
  readonly path: string;
  readonly oid: Oid;
}

/** Lists the files of a tree in git's order; links and submodules are left out. */
export function listFiles(objects: ObjectReader, tree: Oid): SearchedFile[] {
  const files: SearchedFile[] = [];
  const list = (oid: Oid, prefix: string, depth: number): void => {
    checkDepth(depth);
    const cursor = new TreeCursor(readObject(objects, oid, "tree"));
    while (cursor.next()) {
      const isFile = cursor.mode === MODE.file || cursor.mode === MODE.executable;
      if (!isFile && !isTree(cursor.mode)) continue;
      const path = prefix + latin1(cursor.bytes, cursor.nameStart, cursor.nameEnd);
      if (isFile) files.push({ path, oid: cursor.oid() });
      else list(cursor.oid(), `${path}/`, depth + 1);
    }
  };
  list(tree, "", 0);
  return files;
}

/**
 * Gives what tells whether a file's path is in the scope of another: a directory's, a file's or a glob; undefined when
 * the tree has nothing at the path.
 */
export function scopeOf(
  objects: ObjectReader,
  tree: Oid,
  path: Uint8Array,
): ((path: string) => boolean) | undefined {
  const text = latin1(path);
  const found = findEntry(objects, tree, path);
  if (found === undefined) return isGlob(text) ? readGlob(text) : undefined;
  if (!isTree(found.mode)) return (other) => other === text;
  return text === "" ? () => true : (other) => other.startsWith(`${text}/`);
}

/** How to look, and how far. */
export interface SearchPlan {
  readonly find: LineFinder;
  readonly isInScope: (path: string) => boolean;
  /** Says of a blob whether it may hold what is looked for; undefined when that is not known. */
  readonly mayHold: (blob: Oid) => boolean | undefined;
  /** The first file to look into, by its place in the list. */
  readonly from: number;
  /** The bytes of files of which nothing is known that may be read. */
  readonly allowance: { left: number };
}

/** A file with lines, counted from 0, that hold what is looked for. */
export interface FoundLines {
  readonly place: number;
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly lines: readonly number[];
}

/**
 * Looks into the files one by one, undefined for what holds nothing; ends at the first that the allowance does not let it
 * read, and gives its place.
 */
export function* searchFiles(
  objects: ObjectReader,
  files: readonly SearchedFile[],
  { find, isInScope, mayHold, from, allowance }: SearchPlan,
): Generator<FoundLines | undefined, number | undefined> {
  for (let place = from; place < files.length; place++) {
    const file = files[place];
    if (file === undefined) break;
    const holds = mayHold(file.oid);
    if (holds === false || !isInScope(file.path)) continue;
    if (holds === undefined && allowance.left <= 0) return place;
    const bytes = holds ? readObject(objects, file.oid, "blob") : readText(objects, file.oid);
    if (holds === undefined) allowance.left -= bytes?.length ?? 0;
    const lines = bytes === undefined ? [] : find(bytes);
    yield bytes === undefined || lines.length === 0
      ? undefined
      : { place, path: file.path, bytes, lines };
  }
  return undefined;
}

/** Reads a blob that is text; undefined when it is not, or too large to be searched. */
export function readText(
  objects: Pick<ObjectReader, "read" | "info">,
  oid: Oid,
): Uint8Array | undefined {
  if ((objects.info(oid)?.size ?? 0) > MAX_BYTES) return undefined;
  const bytes = readObject(objects, oid, "blob");
  return isBinary(bytes) ? undefined : bytes;
}
