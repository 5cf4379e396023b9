import { CorruptError } from "../errors.ts";
import type { ByteCache } from "./cache.ts";
import type { PositionedFile } from "./file.ts";
import type { Oid } from "./object.ts";
import { compareOids, OID_BYTES, oidAt } from "./oid.ts";

/** A part of the sorted oids, with what the file has for each. */
export interface OidPage {
  readonly names: Uint8Array;
  readonly values: Uint8Array;
}

/** Where in a file the parts of a table are. */
export interface OidTablePlaces {
  /** 256 numbers: how many oids start with this byte or a lower one. */
  readonly fanout: number;
  readonly names: number;
  readonly values: (count: number) => number;
  /** The bytes of each value. */
  readonly valueBytes: number;
}

const FANOUT = 256;
/** So many oids are read as one. */
const PAGE = 64;
/** Oids are spread evenly, so that where one must be is guessed; who picks oids may fool only so many guesses. */
const GUESSES = 3;

/** The sorted oids of an index file with a value each, read by position: only what a lookup needs. */
export class OidTable {
  readonly count: number;
  readonly #file: PositionedFile;
  readonly #names: number;
  readonly #values: number;
  readonly #valueBytes: number;
  readonly #fanout = new Uint32Array(FANOUT);
  readonly #pages: ByteCache<OidPage>;
  readonly #key: number;

  /** Its pages are kept in `pages`, under keys from `key` on. A CorruptError when the file is out of order. */
  constructor(
    file: PositionedFile,
    places: OidTablePlaces,
    pages: ByteCache<OidPage>,
    key: number,
  ) {
    this.#file = file;
    this.#pages = pages;
    this.#key = key;
    this.count = this.#readFanout(places.fanout);
    this.#names = places.names;
    this.#values = places.values(this.count);
    this.#valueBytes = places.valueBytes;
  }

  #readFanout(at: number): number {
    const bytes = this.#file.view(at, FANOUT * 4);
    if (bytes.length < FANOUT * 4) throw new CorruptError("the index of a pack is cut short");
    let before = 0;
    for (let first = 0; first < FANOUT; first++) {
      const upTo = uint32At(bytes, first * 4);
      if (upTo < before) throw new CorruptError("the index of a pack is out of order");
      this.#fanout[first] = before = upTo;
    }
    return before;
  }

  /** The place of an oid, and the page that has it; undefined when it is not in the table. */
  locate(oid: Uint8Array): { values: Uint8Array; at: number } | undefined {
    const position = this.lowerBound(oid);
    if (position >= this.count) return undefined;
    const { names, values } = this.#page(position);
    const at = position % PAGE;
    return compareOids(names, at * OID_BYTES, oid, 0) === 0 ? { values, at } : undefined;
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
    return oidAt(this.#file.view(this.#names + position * OID_BYTES, OID_BYTES));
  }

  /** Reads all oids in their order, 20 bytes each, and all values. */
  all(): OidPage {
    return this.#read(0, this.count);
  }

  /** The page that holds a place. */
  #page(position: number): OidPage {
    const start = position - position % PAGE;
    const known = this.#pages.get(this.#key + start);
    if (known !== undefined) return known;
    const page = this.#read(start, Math.min(PAGE, this.count - start));
    this.#pages.set(this.#key + start, page, page.names.length + page.values.length);
    return page;
  }

  #read(start: number, length: number): OidPage {
    const bytes = this.#valueBytes;
    return {
      names: this.#file.read(this.#names + start * OID_BYTES, length * OID_BYTES),
      values: this.#file.read(this.#values + start * bytes, length * bytes),
    };
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

/** The number that four bytes are, the highest first. */
export function uint32At(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 24 | (bytes[at + 1] ?? 0) << 16 | (bytes[at + 2] ?? 0) << 8 |
    (bytes[at + 3] ?? 0)) >>> 0;
}
