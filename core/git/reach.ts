import { CorruptError } from "../errors.ts";
import { parseCommit } from "./commit.ts";
import type { ObjectKind, ObjectReader, Oid } from "./object.ts";
import { OID_BYTES, oidBytes } from "./oid.ts";
import { parseTag } from "./tag.ts";
import { isGitlink, isTree } from "./tree.ts";
import { readObject, TreeCursor } from "./walk.ts";

/** Notes an object whose oid's 20 bytes start at `at`; false when it has been noted before. */
export type Note = (bytes: Uint8Array, at: number) => boolean;

/**
 * Notes everything that `tips` reach, each of which may be any kind of object: commits, trees, blobs and tags, but not
 * the commits that submodules are at. Gives control back after each object it read. An object that is missing or of
 * another kind than what names it says is a CorruptError; blobs are not read.
 */
export function* reach(objects: ObjectReader, tips: Iterable<Oid>, note: Note): Generator<void> {
  const pending: { oid: Oid; kind: ObjectKind }[] = [];
  const add = (oid: Oid, kind: ObjectKind) => {
    if (note(oidBytes(oid), 0) && kind !== "blob") pending.push({ oid, kind });
  };
  for (const tip of tips) {
    const info = objects.info(tip);
    if (info === undefined) throw new CorruptError(`the object ${tip} is missing`);
    add(tip, info.kind);
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const bytes = readObject(objects, next.oid, next.kind);
      if (next.kind === "commit") {
        const { tree, parents } = parseCommit(bytes);
        for (const parent of parents) add(parent, "commit");
        add(tree, "tree");
      } else if (next.kind === "tag") {
        const { object, kind } = parseTag(bytes);
        add(object, kind);
      } else {
        const cursor = new TreeCursor(bytes);
        while (cursor.next()) {
          if (isGitlink(cursor.mode)) continue;
          const at = cursor.nameEnd + 1;
          if (!note(bytes, at) || !isTree(cursor.mode)) continue;
          pending.push({ oid: bytes.subarray(at, at + OID_BYTES).toHex(), kind: "tree" });
        }
      }
      yield;
    }
  }
}
