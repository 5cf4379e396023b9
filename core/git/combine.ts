import { createHash } from "node:crypto";
import { applyDelta } from "./delta.ts";
import { type EntryHeader, formatEntryHeader } from "./entry.ts";
import { concat } from "./bytes.ts";
import { hashObject } from "./hash.ts";
import type { GitObject, ObjectReader, Oid } from "./object.ts";
import { PACK_HEADER } from "./pack_head.ts";
import { type PackEntry, scanPack } from "./pack_scan.ts";
import { sealPack } from "./write_pack.ts";

/** Several packs made one. */
export interface CombinedPack {
  readonly bytes: Uint8Array;
  readonly objects: number;
  /** The objects outside it that its deltas are made on. */
  readonly needs: readonly Oid[];
}

/** Packs that inflate to more are not for memory; nor are more objects than this made to know their oids. */
const MOST_BYTES = 64 << 20;

/** An entry of one of the packs. */
interface Item {
  readonly entry: PackEntry;
  /** The entry of the same pack that this is a delta on. */
  base: Item | undefined;
  object: GitObject | undefined;
  oid: Oid | undefined;
  key: string | undefined;
  isBeingPlaced: boolean;
}

/**
 * Makes one pack of several small ones, given oldest first: entries stay as they are compressed, and an object comes once.
 * With `store` objects are told apart by their oids; without, deltas on objects outside the packs by what they say.
 */
export function combinePacks(packs: readonly Uint8Array[], store?: ObjectReader): CombinedPack {
  const combiner = new Combiner(store);
  for (const pack of packs) combiner.add(scanPack(pack, MOST_BYTES));
  combiner.place();
  const { parts, needs } = combiner;
  return {
    bytes: sealPack(parts.length, parts),
    objects: parts.length,
    needs: [...needs].sort(),
  };
}

class Combiner {
  readonly parts: Uint8Array[] = [];
  readonly needs = new Set<Oid>();
  readonly #store: ObjectReader | undefined;
  /** The objects that could be made, by oid. */
  readonly #objects = new Map<Oid, GitObject>();
  /** Where an entry is in the new pack, by oid or what it is a delta of. */
  readonly #places = new Map<string, number>();
  readonly #items: Item[] = [];
  #at = PACK_HEADER;
  #left = MOST_BYTES;

  constructor(store: ObjectReader | undefined) {
    this.#store = store;
  }

  add(entries: readonly PackEntry[]): void {
    const items = entries.map((entry): Item => ({
      entry,
      base: undefined,
      object: undefined,
      oid: undefined,
      key: undefined,
      isBeingPlaced: false,
    }));
    const byOffset = new Map(items.map((item) => [item.entry.offset, item]));
    for (const item of items) {
      const { header: { distance }, offset } = item.entry;
      if (distance !== undefined) item.base = byOffset.get(offset - distance);
    }
    this.#identify(items);
    const byOid = new Map(items.map((item) => [item.oid, item]));
    for (const item of items) item.base ??= byOid.get(item.entry.header.base ?? "");
    this.#items.push(...items);
  }

  /** Puts all in the new pack; of an object that is there both whole and as a delta the former, which cuts its chain. */
  place(): void {
    for (const item of this.#items) if (item.entry.header.kind !== undefined) this.#place(item);
    for (const item of this.#items) this.#place(item);
  }

  /** Makes what can be made, again and again since a base may come after what is made on it. */
  #identify(items: readonly Item[]): void {
    let waiting = items;
    for (let before = Infinity; waiting.length < before;) {
      before = waiting.length;
      waiting = waiting.filter((item) => {
        item.object = this.#make(item);
        if (item.object === undefined) return true;
        item.oid = hashObject(item.object.kind, item.object.bytes);
        this.#objects.set(item.oid, item.object);
        return false;
      });
    }
  }

  #make({ entry: { header, data }, base }: Item): GitObject | undefined {
    if (header.kind !== undefined) return { kind: header.kind, bytes: data };
    const on = base?.object ?? this.#find(header);
    if (on === undefined || on.bytes.length > this.#left) return undefined;
    const bytes = applyDelta(on.bytes, data, MOST_BYTES);
    this.#left -= bytes.length;
    return { kind: on.kind, bytes };
  }

  #find({ base }: EntryHeader): GitObject | undefined {
    if (base === undefined) return undefined;
    return this.#objects.get(base) ?? this.#store?.read(base);
  }

  /** Puts an entry, after its base, in the new pack unless the object is there or known to be outside. */
  #place(item: Item): void {
    const key = keyOf(item);
    // An object that an earlier pack leans on is held outside: here it could be made on what is made on it.
    if (this.#places.has(key) || this.needs.has(key) || item.isBeingPlaced) return;
    item.isBeingPlaced = true;
    const { header, raw, data } = item.entry;
    let part = raw;
    if (header.kind === undefined) {
      const on = this.#baseOf(item);
      const start = Uint8Array.from(formatEntryHeader(on, data.length));
      part = concat([start, raw.subarray(header.length)]);
      // Its base may have turned out to be made on it, and to need it from outside.
      if (this.needs.has(key)) return;
    }
    this.parts.push(part);
    this.#places.set(key, this.#at);
    this.#at += part.length;
    item.isBeingPlaced = false;
  }

  /** The base of a delta: how many bytes before, or its oid. */
  #baseOf({ entry: { header }, base }: Item): Oid | number {
    if (base !== undefined) this.#place(base);
    const key = base === undefined ? header.base ?? "" : keyOf(base);
    const place = this.#places.get(key);
    if (place !== undefined) return this.#at - place;
    this.needs.add(key);
    return key;
  }
}

/** What tells an entry from others: its oid or, where that is not known, its base and delta. */
function keyOf(item: Item): string {
  const { oid, base, entry: { header, data } } = item;
  if (oid !== undefined) return oid;
  item.key ??= `${base === undefined ? header.base : keyOf(base)}:${digest(data)}`;
  return item.key;
}

function digest(bytes: Uint8Array): string {
  return createHash("sha1").update(bytes).digest("hex");
}
