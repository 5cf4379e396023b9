import { CorruptError } from "../errors.ts";
import type { PositionedFile } from "./file.ts";
import { inflate, inflateThrough } from "./inflate.ts";
import type { Sink } from "./inflater.ts";

/** Data above this are inflated piece by piece, so that their compressed form is never held whole. */
export const LARGE = 16 << 20;

const PIECE = 1 << 18;

/** Inflates the data of an entry at `at`, before `end`, to just `size` bytes; tells how long they are compressed. */
export function readData(
  file: PositionedFile,
  at: number,
  end: number,
  size: number,
): { bytes: Uint8Array; consumed: number } {
  if (size <= LARGE) {
    // zlib never takes more than this; another encoder may, and gets the second try.
    const likely = Math.min(size + (size >>> 9) + 64, end - at);
    const found = inflate(file.view(at, likely), 0, size);
    if (found !== undefined) return found;
  }
  // Deflate makes at most 1,032 bytes of one: what says more must not be given the memory.
  if (size > (end - at) * 1032 + 1032) throw new CorruptError("an object in a pack is cut short");
  const bytes = new Uint8Array(size);
  let length = 0;
  const consumed = streamData(file, at, end, size, (piece) => {
    bytes.set(piece, length);
    length += piece.length;
  });
  return { bytes, consumed };
}

/** Inflates the data of an entry into `sink` and tells how long they are compressed. */
export function streamData(
  file: PositionedFile,
  at: number,
  end: number,
  size: number,
  sink: Sink,
): number {
  const pieces = (): Uint8Array | undefined => {
    const piece = file.view(at, Math.min(PIECE, end - at));
    at += piece.length;
    return piece.length === 0 ? undefined : piece;
  };
  const found = inflateThrough(pieces, size, sink);
  if (found === undefined) throw new CorruptError("an object in a pack is cut short");
  return found.consumed;
}
