import { createHash } from "node:crypto";
import { CorruptError } from "../errors.ts";
import { sameBytes } from "./bytes.ts";
import { ENTRY_HEADER_BYTES, type EntryHeader, parseEntryHeader } from "./entry.ts";
import { inflate } from "./inflate.ts";

/** The bytes before the first object of a pack. */
export const PACK_HEADER = 12;

/** The bytes after the last: the SHA-1 of all before. */
export const PACK_TRAILER = 20;

/** No object takes less in a pack: a byte of header and an empty zlib stream. */
export const LEAST_ENTRY = 9;

/** Reads the header of a pack: its version and how many objects it says it has. */
export function packHeader(bytes: Uint8Array): { version: number; objects: number } {
  if (bytes.length < PACK_HEADER) throw new CorruptError("a pack is cut short");
  const view = new DataView(bytes.buffer, bytes.byteOffset, PACK_HEADER);
  const version = view.getUint32(4);
  if (view.getUint32(0) !== 0x5041434b || version < 2 || version > 3) {
    throw new CorruptError("this is not a pack of version 2 or 3");
  }
  return { version, objects: view.getUint32(8) };
}

/** An object as it lies in a pack. */
export interface PackEntry {
  readonly offset: number;
  readonly header: EntryHeader;
  /** The entry as it is: header and compressed data. */
  readonly raw: Uint8Array;
  /** What the data inflate to: the object, or the delta. */
  readonly data: Uint8Array;
}

/** Lists the entries of a small pack held in memory; `limit` bounds the bytes they inflate to. */
export function scanPack(bytes: Uint8Array, limit: number): PackEntry[] {
  const { objects } = packHeader(bytes);
  const end = bytes.length - PACK_TRAILER;
  if (end < PACK_HEADER + objects * LEAST_ENTRY) throw new CorruptError("a pack is cut short");
  const sum = createHash("sha1").update(bytes.subarray(0, end)).digest();
  if (!sameBytes(sum, bytes.subarray(end))) throw new CorruptError("a pack fails its checksum");
  const entries: PackEntry[] = [];
  let offset = PACK_HEADER;
  let left = limit;
  for (let i = 0; i < objects; i++) {
    const start = bytes.subarray(offset, Math.min(offset + ENTRY_HEADER_BYTES, end));
    const header = parseEntryHeader(start, 0);
    left -= header.size;
    if (left < 0) throw new CorruptError(`a pack inflates to more than ${limit} bytes`);
    const found = inflate(bytes.subarray(0, end), offset + header.length, header.size);
    if (found === undefined) throw new CorruptError("an object in a pack is cut short");
    const next = offset + header.length + found.consumed;
    entries.push({ offset, header, raw: bytes.subarray(offset, next), data: found.bytes });
    offset = next;
  }
  if (offset !== end) throw new CorruptError("a pack has bytes after its last object");
  return entries;
}
