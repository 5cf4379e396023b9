import { CorruptError } from "../errors.ts";
import type { ByteCache } from "./cache.ts";
import { PositionedFile } from "./file.ts";
import type { Oid } from "./object.ts";
import { compareOids, OID_BYTES, oidAt } from "./oid.ts";

/** A page of the sorted oids, with their offsets in the pack. */
export interface IdxPage {
  readonly names: Uint8Array;
  readonly offsets: Uint8Array;
}

const HEADER = 8;
const NAMES = HEADER + 256 * 4;
/** So many oids are read as one. */
const PAGE = 64;
/** Oids are spread evenly, so that where one must be is guessed; who picks oids may fool only so many guesses. */
const GUESSES = 3;

/** The index of a pack (version 2), read by position: only what a lookup needs. */
export class PackIdx {
  /** The number of objects in the pack. */
  readonly count: number;
  readonly #file: PositionedFile;
  readonly #fanout: Uint32Array;
  readonly #pages: ByteCache<IdxPage>;
  readonly #key: number;

  /** Opens an index; its pages are kept in `pages`, under keys from `id * 2^32`. */
  constructor(path: string, pages: ByteCache<IdxPage>, id: number) {
    this.#file = new PositionedFile(path);
    this.#pages = pages;
    this.#key = id * 0x100000000;
    this.#fanout = new Uint32Array(256);
    try {
      this.count = this.#readFanout();
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  #readFanout(): number {
    const head = numbers(this.#file.view(0, NAMES));
    if (head.byteLength < NAMES || head.getUint32(0) !== 0xff744f63 || head.getUint32(4) !== 2) {
      throw new CorruptError("the index of a pack is not one of version 2");
    }
    let before = 0;
    for (let first = 0; first < 256; first++) {
      const upTo = head.getUint32(HEADER + first * 4);
      if (upTo < before) throw new CorruptError("the index of a pack is out of order");
      this.#fanout[first] = before = upTo;
    }
    const least = NAMES + before * (OID_BYTES + 8) + 2 * OID_BYTES;
    const large = this.#file.size - least;
    if (large < 0 || large > before * 8 || large % 8 !== 0) {
      throw new CorruptError("the index of a pack is cut short");
    }
    return before;
  }

  /** Gives the offset in the pack of the object with this oid; undefined when the pack has none. */
  find(oid: Uint8Array): number | undefined {
    const position = this.lowerBound(oid);
    if (position >= this.count) return undefined;
    const page = this.#page(position);
    const at = position % PAGE;
    if (compareOids(page.names, at * OID_BYTES, oid, 0) !== 0) return undefined;
    return this.#offset(page, at);
  }

  /** Gives the place in the order of oids of the first that is not below this one. */
  lowerBound(oid: Uint8Array): number {
    const first = oid[0] ?? 0;
    let low = first === 0 ? 0 : this.#fanout[first - 1] ?? 0;
    let high = this.#fanout[first] ?? 0;
    // Of all oids that start with the same byte.
    const part = ((oid[1] ?? 0) * 65536 + (oid[2] ?? 0) * 256 + (oid[3] ?? 0)) / 2 ** 24;
    const likely = low + Math.floor((high - low) * part);
    for (let guesses = 0; low < high; guesses++) {
      const guess = guesses < GUESSES
        ? Math.max(low, Math.min(likely, high - 1))
        : (low + high) >>> 1;
      const { names } = this.#page(guess);
      const start = guess - guess % PAGE;
      const from = Math.max(low, start);
      const to = Math.min(high, start + PAGE);
      if (compareOids(names, (from - start) * OID_BYTES, oid, 0) >= 0) high = from;
      else if (compareOids(names, (to - 1 - start) * OID_BYTES, oid, 0) < 0) low = to;
      else return start + lowerBoundIn(names, oid, from - start, to - start);
    }
    return low;
  }

  /** Gives the oid at a place in their order. */
  oidAt(position: number): Oid {
    return oidAt(this.#file.view(NAMES + position * OID_BYTES, OID_BYTES));
  }

  /** Reads the whole table: the oids in their order, 20 bytes each, and where their objects are in the pack. */
  table(): { names: Uint8Array; offsets: Float64Array } {
    const names = this.#file.read(NAMES, this.count * OID_BYTES);
    const places = this.#file.read(NAMES + this.count * (OID_BYTES + 4), this.count * 4);
    const offsets = new Float64Array(this.count);
    for (let at = 0; at < this.count; at++) {
      offsets[at] = this.#offset({ names, offsets: places }, at);
    }
    return { names, offsets };
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }

  /** The page that holds a place. */
  #page(position: number): IdxPage {
    const start = position - position % PAGE;
    const known = this.#pages.get(this.#key + start);
    if (known !== undefined) return known;
    const length = Math.min(PAGE, this.count - start);
    const names = this.#file.read(NAMES + start * OID_BYTES, length * OID_BYTES);
    const offsetsAt = NAMES + this.count * (OID_BYTES + 4) + start * 4;
    const page = { names, offsets: this.#file.read(offsetsAt, length * 4) };
    this.#pages.set(this.#key + start, page, names.length + page.offsets.length);
    return page;
  }

  #offset({ offsets }: IdxPage, at: number): number {
    const offset = uint32At(offsets, at * 4);
    if (offset < 0x80000000) return offset;
    const large = NAMES + this.count * (OID_BYTES + 8) + (offset - 0x80000000) * 8;
    const wide = this.#file.view(large, 8);
    if (wide.length < 8 || large + 8 > this.#file.size - 2 * OID_BYTES) {
      throw new CorruptError("the index of a pack lacks a large offset");
    }
    return Number(numbers(wide).getBigUint64(0));
  }
}

/** The first place from `from` on, below `to`, whose oid is not below the one given; `to` when there is none. */
function lowerBoundIn(names: Uint8Array, oid: Uint8Array, from: number, to: number): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (compareOids(names, middle * OID_BYTES, oid, 0) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

function uint32At(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 24 | (bytes[at + 1] ?? 0) << 16 | (bytes[at + 2] ?? 0) << 8 |
    (bytes[at + 3] ?? 0)) >>> 0;
}

function numbers(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
