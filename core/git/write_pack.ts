import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { concat } from "./bytes.ts";
import { makeDelta } from "./deltify.ts";
import { formatEntryHeader } from "./entry.ts";
import type { ObjectKind, Oid } from "./object.ts";
import { PACK_HEADER } from "./pack_head.ts";

/** An object to put in a pack. */
export interface NewEntry {
  readonly oid: Oid;
  readonly kind: ObjectKind;
  readonly bytes: Uint8Array;
  /** An object of the same kind that it may be a delta on; whoever reads the pack must hold it. */
  readonly base?: { readonly oid: Oid; readonly bytes: Uint8Array };
}

/** A delta this small is taken without a look at what the whole object would come to. */
const TINY = 96;

/**
 * Gives a pack of these objects, each once, in their order. One with a base becomes a delta on it when that is smaller,
 * which makes the pack thin unless the base is in it too.
 */
export function writePack(entries: Iterable<NewEntry>): Uint8Array {
  const parts: Uint8Array[] = [];
  const places = new Map<Oid, number>();
  /** Bases that are not in the pack so far: should they come, they must not be made on what is made on them. */
  const outer = new Set<Oid>();
  let at = PACK_HEADER;
  for (const entry of entries) {
    const { oid, kind, bytes, base } = entry;
    if (places.has(oid)) continue;
    const raw = formatEntry(outer.has(oid) ? { oid, kind, bytes } : entry, at, places);
    if (base !== undefined && !places.has(base.oid)) outer.add(base.oid);
    parts.push(raw);
    places.set(oid, at);
    at += raw.length;
  }
  return sealPack(parts.length, parts);
}

/** Gives a pack of entries that are ready: its header, they, and its trailer. */
export function sealPack(objects: number, entries: readonly Uint8Array[]): Uint8Array {
  const header = new DataView(new ArrayBuffer(PACK_HEADER));
  header.setUint32(0, 0x5041434b);
  header.setUint32(4, 2);
  header.setUint32(8, objects);
  const body = concat([new Uint8Array(header.buffer), ...entries]);
  return concat([body, createHash("sha1").update(body).digest()]);
}

function formatEntry(
  { oid, kind, bytes, base }: NewEntry,
  at: number,
  places: ReadonlyMap<Oid, number>,
): Uint8Array {
  const asDelta = formatDelta(oid, bytes, base, at, places);
  if (asDelta !== undefined && asDelta.length <= TINY) return asDelta;
  const whole = concat([
    Uint8Array.from(formatEntryHeader(kind, bytes.length)),
    deflateSync(bytes, { level: 9 }),
  ]);
  return asDelta !== undefined && asDelta.length < whole.length ? asDelta : whole;
}

function formatDelta(
  oid: Oid,
  bytes: Uint8Array,
  base: NewEntry["base"],
  at: number,
  places: ReadonlyMap<Oid, number>,
): Uint8Array | undefined {
  if (base === undefined || base.oid === oid) return undefined;
  const delta = makeDelta(base.bytes, bytes, bytes.length);
  if (delta === undefined) return undefined;
  const place = places.get(base.oid);
  const on = place === undefined ? base.oid : at - place;
  return concat([
    Uint8Array.from(formatEntryHeader(on, delta.length)),
    deflateSync(delta, { level: 9 }),
  ]);
}
