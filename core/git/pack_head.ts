import { CorruptError } from "../errors.ts";

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
