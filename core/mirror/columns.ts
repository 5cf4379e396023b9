import { mkdtemp, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import type { Packr } from "msgpackr";
import { CorruptError } from "../errors.ts";
import { concat } from "../git/bytes.ts";
import { PositionedFile } from "../git/file.ts";

/** The arrays an index file can hold. */
export type Column = Uint8Array | Uint32Array | Int32Array | Float64Array;

/** What tells one kind of index file from another, and one layout of it from the next. */
export interface Format {
  readonly version: number;
  readonly columns: number;
}

/** A file that a mirror's folder has one of. */
export interface IndexFile extends Format {
  readonly name: string;
}

const MARK = 0x6b6e6f74;
/** The head has this many numbers: mark, version, count, the file's size, and the bytes of each column. */
const HEAD = 16;
const FIXED = 4;
/** Every so many bytes of a column have a checksum of their own, so that a part can be read and still be trusted. */
const BLOCK = 16384;
/** The first byte of a MessagePack array of up to 15, beside their number. */
const FIXED_ARRAY = 0x90;
/** What the packer wants beside the bytes. */
const PACKED_ROOM = 4096;

/**
 * An index file: one MessagePack array of typed arrays, of which the first is its head and the second the checksums of
 * the columns, which follow. As the size of all that comes before an array follows from the head, a column is read by
 * position, the others not at all. Bytes that fail their checksum are a CorruptError, `corrupt.index`.
 */
export class ColumnFile {
  readonly count: number;
  readonly #file: PositionedFile;
  readonly #places: { at: number; length: number; block: number }[] = [];
  readonly #sums: Uint32Array;

  private constructor(file: PositionedFile, { version, columns }: Format) {
    this.#file = file;
    const at = 1 + prefix(HEAD * 8);
    const head = new Float64Array(file.read(at, HEAD * 8).buffer);
    const [mark, itsVersion, count = 0, size] = head;
    const sizes = head.subarray(FIXED, FIXED + columns);
    const blocks = sizes.reduce((sum, length) => sum + Math.ceil(length / BLOCK), 0);
    const start = at + HEAD * 8 + prefix(blocks * 4);
    let next = start + blocks * 4;
    let block = 0;
    for (const length of sizes) {
      next += prefix(length);
      this.#places.push({ at: next, length, block });
      next += length;
      block += Math.ceil(length / BLOCK);
    }
    if (mark !== MARK || itsVersion !== version || size !== file.size || next !== size) {
      throw new RangeError("not an index file of this version");
    }
    this.count = count;
    this.#sums = new Uint32Array(file.read(start, blocks * 4).buffer);
  }

  /** Opens an index file; undefined when there is none, or it is another version's or cut short. */
  static open(path: string, format: Format): ColumnFile | undefined {
    let file: PositionedFile | undefined;
    try {
      file = new PositionedFile(path);
      return new ColumnFile(file, format);
    } catch {
      file?.close();
      return undefined;
    }
  }

  /** The bytes that a column takes. */
  size(column: number): number {
    return this.#places[column]?.length ?? 0;
  }

  bytes(column: number): Uint8Array {
    return this.part(column, 0, Infinity);
  }

  signed(column: number): Int32Array {
    return new Int32Array(this.bytes(column).buffer);
  }

  unsigned(column: number): Uint32Array {
    return new Uint32Array(this.bytes(column).buffer);
  }

  floats(column: number): Float64Array {
    return new Float64Array(this.bytes(column).buffer);
  }

  /** Reads some bytes of a column, and little else. */
  part(column: number, from: number, to: number): Uint8Array {
    const { at, length, block } = this.#places[column] ?? { at: 0, length: 0, block: 0 };
    const end = Math.min(to, length);
    if (from >= end) return new Uint8Array();
    // Only now: what reads no index need not load it.
    const { crc32 } = process.getBuiltinModule("node:zlib");
    const first = Math.floor(from / BLOCK);
    const start = first * BLOCK;
    const bytes = this.#file.read(
      at + start,
      Math.min(Math.ceil(end / BLOCK) * BLOCK, length) - start,
    );
    for (let done = 0; done < bytes.length; done += BLOCK) {
      const sum = this.#sums[block + first + done / BLOCK];
      if (crc32(bytes.subarray(done, done + BLOCK)) !== sum) throw damaged();
    }
    return start === from && end === length ? bytes : bytes.slice(from - start, end - start);
  }

  /** Reads all of it; a CorruptError when some of it is not as it was written. */
  check(): void {
    this.#places.forEach((_, column) => this.bytes(column));
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }
}

/** Tells whether an error is of an index file that is not as it was written. */
export function isIndexDamage(error: unknown): boolean {
  return error instanceof CorruptError && error.code === "corrupt.index";
}

function damaged(): CorruptError {
  return new CorruptError("an index of the copy on this machine is damaged", {
    code: "corrupt.index",
    hint: "run it again: the index is made anew",
  });
}

/** Puts an index file in place; a reader has the old one or the new one. */
export async function writeColumns(
  path: string,
  format: Format,
  count: number,
  columns: readonly Column[],
): Promise<void> {
  const parts = await partsOf(format, count, columns);
  await placeFile(path, async (temporary) => {
    const file = await open(temporary, "w");
    try {
      for (const part of parts) await file.writeFile(part);
      await file.sync();
    } finally {
      await file.close();
    }
  });
}

/** The bytes of an index file. */
export async function packColumns(
  format: Format,
  count: number,
  columns: readonly Column[],
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (const part of await partsOf(format, count, columns)) parts.push(new Uint8Array(part));
  return concat(parts);
}

/** Gives an index file piece by piece, each in memory that the next is in too. */
async function partsOf(
  { version, columns: most }: Format,
  count: number,
  columns: readonly Column[],
): Promise<Generator<Uint8Array>> {
  if (columns.length !== most) throw new RangeError(`${columns.length} columns, not ${most}`);
  // Reading needs nothing of it, so only what writes pays for loading it.
  const { Packr } = await import("msgpackr");
  const sums = Uint32Array.from(columns.flatMap(sumsOf));
  const head = new Float64Array(HEAD);
  const sizes = columns.map(({ byteLength }) => byteLength);
  const start = 1 + prefix(HEAD * 8) + HEAD * 8;
  const size = [sums.byteLength, ...sizes]
    .reduce((sum, length) => sum + prefix(length) + length, start);
  head.set([MARK, version, count, size, ...sizes]);
  return packInParts(new Packr({ moreTypes: true }), [head, sums, ...columns], size);
}

/** An array's own bytes are packed as they would be in the whole: packed at once they would be in memory several times. */
function* packInParts(
  packr: Packr,
  columns: readonly Column[],
  size: number,
): Generator<Uint8Array> {
  const largest = Math.max(...columns.map(({ byteLength }) => byteLength));
  const buffer = new Uint8Array(largest + PACKED_ROOM);
  const start = Uint8Array.of(FIXED_ARRAY | columns.length);
  let length = start.length;
  yield start;
  for (const column of columns) {
    packr.useBuffer(buffer);
    const packed = packr.pack(column);
    length += packed.length;
    yield packed;
  }
  // What it was given last it keeps.
  packr.useBuffer(new Uint8Array(PACKED_ROOM));
  if (length !== size) throw new RangeError("an index file is not laid out as it is read");
}

/** Has a file written under another name and gives it its own at once. */
export async function placeFile(
  path: string,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(dirname(path), "index-"));
  try {
    const temporary = join(folder, "columns");
    await write(temporary);
    await rename(temporary, path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function sumsOf({ buffer, byteOffset, byteLength }: Column): number[] {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  const { crc32 } = process.getBuiltinModule("node:zlib");
  const sums: number[] = [];
  for (let at = 0; at < byteLength; at += BLOCK) sums.push(crc32(bytes.subarray(at, at + BLOCK)));
  return sums;
}

/** The bytes before an array's own: of an extension whose length, with the array's type, is one more. */
function prefix(length: number): number {
  return length + 1 < 0x100 ? 4 : length + 1 < 0x10000 ? 5 : 7;
}
