import { CorruptError } from "../errors.ts";
import type { ByteCache } from "./cache.ts";
import { PositionedFile } from "./file.ts";
import type { Oid } from "./object.ts";
import { compareOids, OID_BYTES, oidAt } from "./oid.ts";

/** A run of the sorted oids, with their offsets in the pack. */
export interface IdxChunk {
  readonly names: Uint8Array;
  readonly offsets: Uint8Array;
}

const HEADER = 8;
const NAMES = HEADER + 256 * 4;
/** Runs of the table up to this many oids are read as one. */
const CHUNK = 2048;

/** The index of a pack (version 2), read by position: only what a lookup needs. */
export class PackIdx {
  /** The number of objects in the pack. */
  readonly count: number;
  readonly #file: PositionedFile;
  readonly #fanout: Uint32Array;
  readonly #chunks: ByteCache<IdxChunk>;
  readonly #key: number;

  /** Opens an index; its runs are kept in `chunks`, under keys from `id * 2^32`. */
  constructor(path: string, chunks: ByteCache<IdxChunk>, id: number) {
    this.#file = new PositionedFile(path);
    this.#chunks = chunks;
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
    const chunk = this.#chunkOf(oid[0] ?? 0, oid);
    const at = placeIn(chunk.names, oid);
    if (at >= chunk.names.length / OID_BYTES) return undefined;
    if (compareOids(chunk.names, at * OID_BYTES, oid, 0) !== 0) return undefined;
    return this.#offset(chunk, at);
  }

  /** Gives the place in the order of oids of the first that is not below this one. */
  lowerBound(oid: Uint8Array): number {
    const { low, names } = this.#chunkOf(oid[0] ?? 0, oid);
    return low + placeIn(names, oid);
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

  /** The run that holds the oid, if the index does: the lookups that narrow it down are the same each time. */
  #chunkOf(first: number, oid: Uint8Array): IdxChunk & { low: number } {
    let low = first === 0 ? 0 : this.#fanout[first - 1] ?? 0;
    let high = this.#fanout[first] ?? 0;
    while (high - low > CHUNK) {
      const middle = (low + high) >>> 1;
      const name = this.#file.view(NAMES + middle * OID_BYTES, OID_BYTES);
      if (compareOids(name, 0, oid, 0) <= 0) low = middle;
      else high = middle;
    }
    const key = this.#key + low;
    let chunk = this.#chunks.get(key);
    if (chunk === undefined || chunk.offsets.length !== (high - low) * 4) {
      const names = this.#file.read(NAMES + low * OID_BYTES, (high - low) * OID_BYTES);
      const offsetsAt = NAMES + this.count * (OID_BYTES + 4) + low * 4;
      chunk = { names, offsets: this.#file.read(offsetsAt, (high - low) * 4) };
      this.#chunks.set(key, chunk, names.length + chunk.offsets.length);
    }
    return { low, names: chunk.names, offsets: chunk.offsets };
  }

  #offset({ offsets }: IdxChunk, at: number): number {
    const offset = numbers(offsets).getUint32(at * 4);
    if (offset < 0x80000000) return offset;
    const large = NAMES + this.count * (OID_BYTES + 8) + (offset - 0x80000000) * 8;
    const wide = this.#file.view(large, 8);
    if (wide.length < 8 || large + 8 > this.#file.size - 2 * OID_BYTES) {
      throw new CorruptError("the index of a pack lacks a large offset");
    }
    return Number(numbers(wide).getBigUint64(0));
  }
}

/** The place among sorted oids of the first that is not below this one. */
function placeIn(names: Uint8Array, oid: Uint8Array): number {
  let from = 0;
  let to = names.length / OID_BYTES;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (compareOids(names, middle * OID_BYTES, oid, 0) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

function numbers(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
