import type { ObjectKind, Oid } from "./object.ts";
import { OID_BYTES, oidAt } from "./oid.ts";

const KINDS: readonly ObjectKind[] = ["commit", "tree", "blob", "tag"];

/** No entry: the end of a list of children, or the lack of a base. */
export const NONE = -1;

/** What is known of the entries of a pack while it is indexed, some 70 bytes for each. */
export class PackTable {
  readonly count: number;
  /** Where each entry starts, and where the last ends. */
  readonly offsets: Float64Array;
  readonly headerLengths: Uint8Array;
  /** The bytes that each entry's data inflate to. */
  readonly sizes: Float64Array;
  readonly crcs: Uint32Array;
  readonly oids: Uint8Array;
  /** The entry that each delta is made on; `NONE` for whole objects and bases not yet found. */
  readonly bases: Int32Array;
  /** How many deltas each is away from a whole object. */
  readonly depths: Uint16Array;
  /** The first entry that is a delta on this one by distance, and for each such the next. */
  readonly firstChild: Int32Array;
  readonly nextChild: Int32Array;
  readonly #kinds: Uint8Array;

  constructor(count: number) {
    this.count = count;
    this.offsets = new Float64Array(count + 1);
    this.headerLengths = new Uint8Array(count);
    this.sizes = new Float64Array(count);
    this.crcs = new Uint32Array(count);
    this.oids = new Uint8Array(count * OID_BYTES);
    this.bases = new Int32Array(count).fill(NONE);
    this.depths = new Uint16Array(count);
    this.firstChild = new Int32Array(count).fill(NONE);
    this.nextChild = new Int32Array(count).fill(NONE);
    this.#kinds = new Uint8Array(count);
  }

  /** Notes what an entry turned out to be. */
  identify(entry: number, kind: ObjectKind, oid: Oid): void {
    this.#kinds[entry] = KINDS.indexOf(kind) + 1;
    this.oids.subarray(entry * OID_BYTES, (entry + 1) * OID_BYTES).setFromHex(oid);
  }

  /** The kind of an entry; undefined while it is a delta not yet resolved. */
  kind(entry: number): ObjectKind | undefined {
    return KINDS[(this.#kinds[entry] ?? 0) - 1];
  }

  /** The oid of an entry that has been identified. */
  oid(entry: number): Oid {
    return oidAt(this.oids, entry * OID_BYTES);
  }

  /** The same in binary. */
  oidBytes(entry: number): Uint8Array {
    return this.oids.subarray(entry * OID_BYTES, (entry + 1) * OID_BYTES);
  }

  /** The entry that starts at an offset among the first `before`, or `NONE`. */
  entryAt(offset: number, before: number): number {
    let from = 0;
    let to = before;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.offsets[middle] ?? 0) < offset) from = middle + 1;
      else to = middle;
    }
    return from < before && this.offsets[from] === offset ? from : NONE;
  }

  /** Takes over an entry of another table, but for where it is. */
  take(entry: number, from: PackTable, number: number): void {
    this.oids.set(from.oidBytes(number), entry * OID_BYTES);
    this.#kinds[entry] = from.#kinds[number] ?? 0;
  }

  /** Gives what an index tells of the entries from one to below another. */
  slice(from: number, to: number): PackTable {
    const part = new PackTable(to - from);
    part.offsets.set(this.offsets.subarray(from, to + 1));
    part.crcs.set(this.crcs.subarray(from, to));
    part.oids.set(this.oids.subarray(from * OID_BYTES, to * OID_BYTES));
    part.#kinds.set(this.#kinds.subarray(from, to));
    return part;
  }

  /** Gives a table with room for more entries at the end. */
  extended(more: number): PackTable {
    const longer = new PackTable(this.count + more);
    longer.offsets.set(this.offsets);
    longer.crcs.set(this.crcs);
    longer.oids.set(this.oids);
    longer.#kinds.set(this.#kinds);
    return longer;
  }
}
