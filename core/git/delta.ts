import { CorruptError } from "../errors.ts";

/** Reads the start of a delta: the sizes of base and result, and where its instructions start. */
export function deltaSizes(delta: Uint8Array): { base: number; result: number; at: number } {
  const base = parseSize(delta, 0);
  const result = parseSize(delta, base.at);
  return { base: base.size, result: result.size, at: result.at };
}

/** The most bytes {@link deltaSizes} looks at. */
export const DELTA_SIZES_BYTES = 20;

/** Gives so many bytes of memory, whatever is in them. */
export type Room = (size: number) => Uint8Array;

/**
 * Gives what the delta makes of its base, in memory that `room` gives when it is handed in; a CorruptError when it does
 * not fit its base or breaks the format.
 */
export function applyDelta(
  base: Uint8Array,
  delta: Uint8Array,
  limit: number,
  room: Room = (size) => new Uint8Array(size),
): Uint8Array {
  const sizes = deltaSizes(delta);
  if (sizes.base !== base.length) {
    throw new CorruptError(`a delta is for a base of ${sizes.base} bytes, not ${base.length}`);
  }
  if (sizes.result > limit) throw tooLarge(sizes.result, limit);
  const out = room(sizes.result);
  let length = 0;
  let at = sizes.at;
  while (at < delta.length) {
    const code = delta[at++] ?? 0;
    if (code === 0) throw new CorruptError("a delta has an instruction git does not know");
    let from = at;
    let size = code;
    let source = delta;
    if (code >= 0x80) {
      source = base;
      from = 0;
      size = 0;
      if (code & 0x01) from = delta[at++] ?? 0;
      if (code & 0x02) from += (delta[at++] ?? 0) << 8;
      if (code & 0x04) from += (delta[at++] ?? 0) << 16;
      if (code & 0x08) from += (delta[at++] ?? 0) * 0x1000000;
      if (code & 0x10) size = delta[at++] ?? 0;
      if (code & 0x20) size += (delta[at++] ?? 0) << 8;
      if (code & 0x40) size += (delta[at++] ?? 0) << 16;
      if (size === 0) size = 0x10000;
    } else {
      at += code;
    }
    if (at > delta.length || from + size > source.length || length + size > out.length) {
      throw new CorruptError("a delta copies from or to outside its base or result");
    }
    if (size > 48) {
      out.set(source.subarray(from, from + size), length);
      length += size;
    } else {
      for (const end = from + size; from < end;) out[length++] = source[from++] ?? 0;
    }
  }
  if (length !== out.length) throw new CorruptError("a delta does not fill its result");
  return out;
}

/** The error for an object above the limit. */
export function tooLarge(size: number, limit: number): CorruptError {
  return new CorruptError(`an object of ${size} bytes is over the limit of ${limit}`, {
    code: "corrupt.too_large",
    facts: { size, limit },
  });
}

function parseSize(delta: Uint8Array, at: number): { size: number; at: number } {
  let size = 0;
  for (let scale = 1;; scale *= 128) {
    const byte = delta[at++];
    if (byte === undefined || size > Number.MAX_SAFE_INTEGER) {
      throw new CorruptError("a delta is cut short");
    }
    size += (byte & 0x7f) * scale;
    if (byte < 0x80) return { size, at };
  }
}
