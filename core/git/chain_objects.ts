import { crc32 } from "node:zlib";
import { CorruptError } from "../errors.ts";
import { concat } from "./bytes.ts";
import { formatEntryHeader } from "./entry.ts";
import type { MadeObjects } from "./index_pack.ts";
import type { Oid } from "./object.ts";
import { OID_BYTES, oidBytes } from "./oid.ts";
import { OidSet } from "./oid_set.ts";
import type { Chain } from "./pack_resolve.ts";
import { PACK_HEADER } from "./pack_head.ts";
import { NONE, PackTable } from "./pack_table.ts";
import { sealPack } from "./write_pack.ts";

/** Several packs in one have objects twice: which entry of each is kept, and what its delta is then made on. */
export class ChainObjects {
  readonly #table: PackTable;
  /** The base of each delta whose base is outside, by entry. */
  readonly #outer = new Map<number, Oid>();
  readonly #set = new OidSet();
  /** For each entry the number of its object, and for each object its first entry and the one that is kept. */
  readonly #numbers: Uint32Array;
  readonly #first: number[] = [];
  readonly #kept: number[] = [];

  constructor({ table, named }: MadeObjects) {
    this.#table = table;
    this.#numbers = new Uint32Array(table.count);
    for (let entry = 0; entry < table.count; entry++) {
      const number = this.#set.add(table.oids, entry * OID_BYTES);
      this.#numbers[entry] = number;
      this.#first[number] ??= entry;
      const other = this.#kept[number];
      // One that is whole cuts the chains on it.
      const isBetter = other === undefined ||
        table.depths[other] !== 0 && table.depths[entry] === 0;
      if (isBetter) this.#kept[number] = entry;
    }
    for (const [oid, children] of named) {
      for (const child of children) this.#outer.set(child, oid);
    }
  }

  /** The first entry that has an object. */
  firstOf(oid: Oid): number | undefined {
    return this.#first[this.#set.find(oidBytes(oid), 0)];
  }

  /** Gives the pack with each object once, and the table of its entries; `bytes` is the one that has all. */
  once(bytes: Uint8Array): { bytes: Uint8Array; table: PackTable } {
    const from = this.#table;
    const count = this.#set.size;
    if (count === from.count) return { bytes, table: from };
    const table = new PackTable(count);
    const places = new Map<number, number>();
    const entries: Uint8Array[] = [];
    let at = PACK_HEADER;
    for (let entry = 0; entry < from.count; entry++) {
      if (this.#kept[this.#numbers[entry] ?? 0] !== entry) continue;
      const raw = bytes.subarray(from.offsets[entry] ?? 0, from.offsets[entry + 1] ?? 0);
      const written = from.depths[entry] === 0 ? raw : this.#onKept(entry, raw, at, places);
      const next = entries.length;
      table.take(next, from, entry);
      table.offsets[next] = at;
      table.crcs[next] = crc32(written);
      places.set(entry, at);
      entries.push(written);
      at += written.length;
    }
    table.offsets[count] = at;
    return { bytes: sealPack(count, entries), table };
  }

  /** The longest way from a delta to a whole object or one outside, in deltas; ways that come back are a CorruptError. */
  depth(): number {
    const { count } = this.#table;
    const hops = new Int32Array(count).fill(NONE);
    const waiting: number[] = [];
    let deepest = 0;
    for (const start of this.#kept) {
      let entry: number | undefined = start;
      for (; entry !== undefined && hops[entry] === NONE; entry = this.#baseOf(entry)) {
        waiting.push(entry);
        if (waiting.length > count) throw new CorruptError("deltas of packs lean on each other");
      }
      let hop = entry === undefined ? NONE : hops[entry] ?? 0;
      for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
        // On an object outside a delta is one away from it.
        hop = hop === NONE && this.#table.depths[one] !== 0 ? 1 : hop + 1;
        hops[one] = hop;
        deepest = Math.max(deepest, hop);
      }
    }
    return deepest;
  }

  /** The deltas of the pack whose entries these are, as it came. */
  *chainsOf(from: number, to: number): Generator<Chain> {
    const { bases, depths } = this.#table;
    const own = new Map<number, number>();
    const order: number[] = [];
    for (let entry = from; entry < to; entry++) {
      own.set(this.#numbers[entry] ?? 0, entry);
      if (depths[entry] !== 0) order.push(entry);
    }
    const found = new Map<number, Chain>();
    order.sort((one, other) => (depths[one] ?? 0) - (depths[other] ?? 0));
    for (const entry of order) {
      const base = bases[entry] ?? NONE;
      const inside = base === NONE ? undefined : own.get(this.#numbers[base] ?? 0);
      const oid = this.#table.oid(entry);
      const below = inside === undefined ? undefined : found.get(inside);
      const chain = inside === undefined
        ? { oid, depth: 1, outer: this.#outer.get(entry) }
        : { oid, depth: (below?.depth ?? 0) + 1, outer: below?.outer };
      found.set(entry, chain);
      yield chain;
    }
  }

  /** The entry with what a kept entry's delta is made on; undefined for a whole object, or a base outside. */
  #baseOf(entry: number): number | undefined {
    const base = this.#table.depths[entry] === 0 ? NONE : this.#table.bases[entry] ?? NONE;
    return base === NONE ? undefined : this.#kept[this.#numbers[base] ?? 0];
  }

  /** The entry of a delta made anew: its base may lie elsewhere now. */
  #onKept(
    entry: number,
    raw: Uint8Array,
    at: number,
    places: ReadonlyMap<number, number>,
  ): Uint8Array {
    const { headerLengths, sizes } = this.#table;
    const base = this.#baseOf(entry);
    const place = base === undefined ? undefined : places.get(base);
    const oid = base === undefined ? this.#outer.get(entry) ?? "" : this.#table.oid(base);
    const header = formatEntryHeader(place === undefined ? oid : at - place, sizes[entry] ?? 0);
    return concat([Uint8Array.from(header), raw.subarray(headerLengths[entry] ?? 0)]);
  }
}
