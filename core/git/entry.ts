import { CorruptError } from "../errors.ts";
import type { ObjectKind, Oid } from "./object.ts";
import { OID_BYTES, oidAt, oidBytes } from "./oid.ts";

/** The start of an object in a pack, before its compressed data. */
export interface EntryHeader {
  /** The kind of object; undefined for a delta, which has its base's. */
  readonly kind: ObjectKind | undefined;
  /** The size of what inflates: the object, or the delta. */
  readonly size: number;
  /** The bytes of the header itself. */
  readonly length: number;
  /** For a delta on an object before it in the pack: how many bytes before. */
  readonly distance?: number;
  /** For a delta on an object named. */
  readonly base?: Oid;
}

/** No header is longer than this. */
export const ENTRY_HEADER_BYTES = 32;

/** The longest chain of deltas that is followed: as long as git ever writes. */
export const MAX_DEPTH = 4095;

const KINDS: readonly (ObjectKind | undefined)[] = [undefined, "commit", "tree", "blob", "tag"];
const OFS_DELTA = 6;
const REF_DELTA = 7;

/** Reads the header of an entry of a pack. */
export function parseEntryHeader(bytes: Uint8Array, at: number): EntryHeader {
  const start = at;
  let byte = byteAt(bytes, at++);
  const type = byte >>> 4 & 7;
  let size = byte & 15;
  for (let scale = 16; byte >= 0x80; scale *= 128) {
    byte = byteAt(bytes, at++);
    size += (byte & 0x7f) * scale;
    if (size > Number.MAX_SAFE_INTEGER) throw new CorruptError("an object in a pack is too large");
  }
  if (type === OFS_DELTA) {
    byte = byteAt(bytes, at++);
    let distance = byte & 0x7f;
    while (byte >= 0x80) {
      byte = byteAt(bytes, at++);
      distance = (distance + 1) * 128 + (byte & 0x7f);
      if (distance > Number.MAX_SAFE_INTEGER) {
        throw new CorruptError("a delta in a pack has no base before it");
      }
    }
    return { kind: undefined, size, length: at - start, distance };
  }
  if (type === REF_DELTA) {
    const base = oidAt(bytes, at);
    return { kind: undefined, size, length: at + OID_BYTES - start, base };
  }
  const kind = KINDS[type];
  if (kind === undefined) {
    throw new CorruptError(`an object in a pack has the unknown type ${type}`);
  }
  return { kind, size, length: at - start };
}

/** Gives the header of an entry: of a whole object, or of a delta on a base named or so many bytes before. */
export function formatEntryHeader(type: ObjectKind | Oid | number, size: number): number[] {
  const kind = KINDS.findIndex((name) => name !== undefined && name === type);
  const code = kind > 0 ? kind : typeof type === "number" ? OFS_DELTA : REF_DELTA;
  const header: number[] = [];
  let rest = Math.floor(size / 16);
  let byte = code << 4 | size % 16;
  while (rest > 0) {
    header.push(byte | 0x80);
    byte = rest % 128;
    rest = Math.floor(rest / 128);
  }
  header.push(byte);
  if (typeof type === "number") header.push(...formatDistance(type));
  else if (kind < 0) header.push(...oidBytes(type));
  return header;
}

function formatDistance(distance: number): number[] {
  const bytes = [distance % 128];
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest--;
    bytes.unshift(0x80 | rest % 128);
  }
  return bytes;
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new CorruptError("a pack is cut short");
  return byte;
}
