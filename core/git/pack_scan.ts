import { createHash } from "node:crypto";
import { CorruptError } from "../errors.ts";
import { sameBytes } from "./bytes.ts";
import { ENTRY_HEADER_BYTES, type EntryHeader, parseEntryHeader } from "./entry.ts";
import { inflate } from "./inflate.ts";
import { LEAST_ENTRY, PACK_HEADER, PACK_TRAILER, packHeader } from "./pack_head.ts";

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
