import { CorruptError } from "../errors.ts";
import type { Oid } from "./object.ts";

/** The oid of git's empty tree, which every repository has without storing it. */
export const EMPTY_TREE: Oid = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** The number of bytes of an oid in binary. */
export const OID_BYTES = 20;

/** Tells whether the text is a whole oid: 40 hex digits, lower case. */
export function isOid(text: string): text is Oid {
  return /^[0-9a-f]{40}$/.test(text);
}

/** Gives the oid whose 20 bytes start at `at`. */
export function oidAt(bytes: Uint8Array, at = 0): Oid {
  if (at + OID_BYTES > bytes.length) throw new CorruptError("an object id is cut short");
  return bytes.subarray(at, at + OID_BYTES).toHex();
}

/** Gives the 20 bytes of an oid. */
export function oidBytes(oid: Oid): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromHex(oid);
}

/** Compares the 20 bytes at `at` with those at `otherAt`: below, equal or above zero. */
export function compareOids(
  bytes: Uint8Array,
  at: number,
  other: Uint8Array,
  otherAt: number,
): number {
  for (let i = 0; i < OID_BYTES; i++) {
    const difference = (bytes[at + i] ?? 0) - (other[otherAt + i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
