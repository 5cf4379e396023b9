import { createHash, type Hash } from "node:crypto";
import type { ObjectKind, Oid } from "./object.ts";

/** Starts the hash of an object of this kind and size; its content is to follow. */
export function startObjectHash(kind: ObjectKind, size: number): Hash {
  return createHash("sha1").update(`${kind} ${size}\0`);
}

/** Gives the oid of an object with this content. */
export function hashObject(kind: ObjectKind, bytes: Uint8Array): Oid {
  return startObjectHash(kind, bytes.length).update(bytes).digest("hex");
}
