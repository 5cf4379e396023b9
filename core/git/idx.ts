import { CorruptError } from "../errors.ts";
import type { ByteCache } from "./cache.ts";
import { PositionedFile } from "./file.ts";
import type { Oid } from "./object.ts";
import { OID_BYTES } from "./oid.ts";
import { type OidPage, OidTable, uint32At } from "./oid_table.ts";

const HEADER = 8;
const NAMES = HEADER + 256 * 4;
/** An offset from here on is the number of a large one. */
const LARGE = 0x80000000;

/** The index of a pack (version 2), read by position: only what a lookup needs. */
export class PackIdx {
  /** The number of objects in the pack. */
  readonly count: number;
  readonly #file: PositionedFile;
  readonly #table: OidTable;

  /** Opens an index; its pages are kept in `pages`, under keys from `id * 2^32`. */
  constructor(path: string, pages: ByteCache<OidPage>, id: number) {
    this.#file = new PositionedFile(path);
    try {
      this.#table = this.#open(pages, id);
      this.count = this.#table.count;
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  #open(pages: ByteCache<OidPage>, id: number): OidTable {
    const head = this.#file.view(0, NAMES);
    if (head.length < NAMES || uint32At(head, 0) !== 0xff744f63 || uint32At(head, 4) !== 2) {
      throw new CorruptError("the index of a pack is not one of version 2");
    }
    const places = { fanout: HEADER, names: NAMES, values: offsetsAt, valueBytes: 4 };
    const table = new OidTable(this.#file, places, pages, id * 2 ** 32);
    const least = NAMES + table.count * (OID_BYTES + 8) + 2 * OID_BYTES;
    const large = this.#file.size - least;
    if (large < 0 || large > table.count * 8 || large % 8 !== 0) {
      throw new CorruptError("the index of a pack is cut short");
    }
    return table;
  }

  /** Gives the offset in the pack of the object with this oid; undefined when the pack has none. */
  find(oid: Uint8Array): number | undefined {
    const found = this.#table.locate(oid);
    return found && this.#offset(found.values, found.at);
  }

  /** Gives the place in the order of oids of the first that is not below this one. */
  lowerBound(oid: Uint8Array): number {
    return this.#table.lowerBound(oid);
  }

  /** Gives the oid at a place in their order. */
  oidAt(position: number): Oid {
    return this.#table.oidAt(position);
  }

  /** Reads the whole table: the oids in their order, 20 bytes each, and where their objects are in the pack. */
  table(): { names: Uint8Array; offsets: Float64Array } {
    const { names, values } = this.#table.all();
    const offsets = new Float64Array(this.count);
    for (let at = 0; at < this.count; at++) offsets[at] = this.#offset(values, at);
    return { names, offsets };
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }

  #offset(offsets: Uint8Array, at: number): number {
    const offset = uint32At(offsets, at * 4);
    if (offset < LARGE) return offset;
    const large = NAMES + this.count * (OID_BYTES + 8) + (offset - LARGE) * 8;
    const wide = this.#file.view(large, 8);
    if (wide.length < 8 || large + 8 > this.#file.size - 2 * OID_BYTES) {
      throw new CorruptError("the index of a pack lacks a large offset");
    }
    return uint32At(wide, 0) * 2 ** 32 + uint32At(wide, 4);
  }
}

/** Where the offsets are: behind the oids and as many checksums. */
function offsetsAt(count: number): number {
  return NAMES + count * (OID_BYTES + 4);
}
