import { CorruptError } from "../errors.ts";
import { ByteCache } from "./cache.ts";
import { ENTRY_HEADER_BYTES, type EntryHeader, parseEntryHeader } from "./entry.ts";
import { PositionedFile } from "./file.ts";
import { PackIdx } from "./idx.ts";
import type { Oid } from "./object.ts";
import { compareOids, OID_BYTES, oidAt, oidBytes } from "./oid.ts";

/** What {@link PackSet.find} gives for an object that no pack has. */
export const NOT_THERE = -1;

const TRAILER = 20;
const PIECE = 1 << 20;

interface OpenPack {
  readonly file: PositionedFile;
  /** The number of its first object among those of the set. */
  readonly first: number;
  /** The numbers of its objects by where they are in the file. */
  readonly order: Uint32Array;
}

/**
 * Several packs seen as one list of numbered objects, for copying them as they lie compressed. Of an object that several
 * packs have, the smallest entry counts. It takes some 40 bytes of memory an object.
 */
export class PackSet implements Disposable {
  /** Objects are numbered from 0 up to below this; those of one pack follow each other. */
  readonly count: number;
  readonly #packs: OpenPack[] = [];
  readonly #names: Uint8Array;
  readonly #starts: Float64Array;
  readonly #ends: Float64Array;
  /** A hash table of the numbers, each one higher so that 0 is an empty place. */
  readonly #slots: Uint32Array;

  /** Opens the packs at these paths, which lack their ending. */
  constructor(paths: readonly string[]) {
    const tables: ReturnType<PackIdx["table"]>[] = [];
    for (const path of paths) tables.push(readTable(path));
    this.count = tables.reduce((sum, { offsets }) => sum + offsets.length, 0);
    this.#names = new Uint8Array(this.count * OID_BYTES);
    this.#starts = new Float64Array(this.count);
    this.#ends = new Float64Array(this.count);
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(this.count * 1.5 + 2)));
    try {
      let first = 0;
      for (const [i, { names, offsets }] of tables.entries()) {
        this.#add(`${paths[i]}.pack`, names, offsets, first);
        first += offsets.length;
      }
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Gives the number of the object whose oid's 20 bytes start at `at`, or `NOT_THERE`. */
  find(bytes: Uint8Array, at: number): number {
    const number = this.#slots[this.#slotOf(bytes, at)] ?? 0;
    return number - 1;
  }

  /** The oid of an object. */
  oid(number: number): Oid {
    return oidAt(this.#names, number * OID_BYTES);
  }

  /** The same in binary. */
  oidBytes(number: number): Uint8Array {
    return this.#names.subarray(number * OID_BYTES, (number + 1) * OID_BYTES);
  }

  /** The numbers of the objects, pack by pack in the order they lie there. */
  *numbers(): Generator<number> {
    for (const { order } of this.#packs) yield* order;
  }

  /** The header of an object's entry. */
  header(number: number): EntryHeader {
    const { file } = this.#packOf(number);
    return parseEntryHeader(file.view(this.#starts[number] ?? 0, ENTRY_HEADER_BYTES), 0);
  }

  /** The number of the object that a delta is made on, or `NOT_THERE` when no pack has it. */
  base(number: number, { base, distance = 0 }: EntryHeader): number {
    if (base !== undefined) return this.find(oidBytes(base), 0);
    const { order } = this.#packOf(number);
    const start = (this.#starts[number] ?? 0) - distance;
    let from = 0;
    let to = order.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#starts[order[middle] ?? 0] ?? 0) < start) from = middle + 1;
      else to = middle;
    }
    const found = order[from];
    if (found === undefined || this.#starts[found] !== start) {
      throw new CorruptError("a delta has no base before it");
    }
    return this.find(this.#names, found * OID_BYTES);
  }

  /** Gives an entry to `sink` in pieces that hold only until it returns, without its first `skip` bytes. */
  copy(number: number, skip: number, sink: (piece: Uint8Array) => void): void {
    const { file } = this.#packOf(number);
    const end = this.#ends[number] ?? 0;
    for (let at = (this.#starts[number] ?? 0) + skip; at < end; at += PIECE) {
      sink(file.view(at, Math.min(PIECE, end - at)));
    }
  }

  /** Closes the files. */
  [Symbol.dispose](): void {
    for (const { file } of this.#packs.splice(0)) file.close();
  }

  #add(path: string, names: Uint8Array, offsets: Float64Array, first: number): void {
    const file = new PositionedFile(path);
    const order = new Uint32Array(offsets.length);
    this.#packs.push({ file, first, order });
    for (let i = 0; i < order.length; i++) order[i] = first + i;
    this.#names.set(names, first * OID_BYTES);
    this.#starts.set(offsets, first);
    order.sort((one, other) => (this.#starts[one] ?? 0) - (this.#starts[other] ?? 0));
    for (let i = 0; i < order.length; i++) {
      const next = order[i + 1];
      const end = next === undefined ? file.size - TRAILER : this.#starts[next] ?? 0;
      this.#ends[order[i] ?? 0] = end;
    }
    for (let number = first; number < first + order.length; number++) {
      const slot = this.#slotOf(this.#names, number * OID_BYTES);
      const other = (this.#slots[slot] ?? 0) - 1;
      if (other < 0 || this.#sizeOf(number) < this.#sizeOf(other)) this.#slots[slot] = number + 1;
    }
  }

  #sizeOf(number: number): number {
    return (this.#ends[number] ?? 0) - (this.#starts[number] ?? 0);
  }

  /** Oids are hashes already: their first bytes spread them. */
  #slotOf(bytes: Uint8Array, at: number): number {
    const mask = this.#slots.length - 1;
    const hash = (bytes[at] ?? 0) << 24 | (bytes[at + 1] ?? 0) << 16 | (bytes[at + 2] ?? 0) << 8 |
      (bytes[at + 3] ?? 0);
    for (let slot = hash & mask;; slot = (slot + 1) & mask) {
      const number = this.#slots[slot] ?? 0;
      if (number === 0) return slot;
      if (compareOids(this.#names, (number - 1) * OID_BYTES, bytes, at) === 0) return slot;
    }
  }

  #packOf(number: number): OpenPack {
    for (const pack of this.#packs) {
      if (number < pack.first + pack.order.length) return pack;
    }
    throw new RangeError(`there is no object ${number}`);
  }
}

/** Reads the table of the pack at a path without its ending: its oids in their order, and where their objects are. */
export function readTable(path: string): ReturnType<PackIdx["table"]> {
  const idx = new PackIdx(`${path}.idx`, new ByteCache(0), 0);
  try {
    return idx.table();
  } finally {
    idx.close();
  }
}
