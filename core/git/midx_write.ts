import { createHash } from "node:crypto";
import { compareOids, OID_BYTES } from "./oid.ts";
import { sortedOrder } from "./oid_sort.ts";
import { LARGE_OFFSET, MIDX_HEAD, MIDX_MARK, PART_ENTRY } from "./midx.ts";

/** A pack that an index over packs is to be of: its name without ending, its sorted oids, and where their objects are. */
export interface ListedPack {
  readonly name: string;
  readonly names: Uint8Array;
  readonly offsets: Float64Array;
}

const FANOUT_BYTES = 1024;
/** Without large offsets all 32 bits count. */
const MOST_OFFSET = 0xffffffff;

/** Gives the index over packs as git writes it; of an object that several hold, the one in the first by name counts. */
export function formatMidx(packs: readonly ListedPack[]): Uint8Array {
  const sorted = packs.toSorted((one, other) => one.name < other.name ? -1 : 1);
  const all = gather(sorted);
  const order = withoutTwins(all.oids, sortedOrder(all));
  const isLarge = all.offsets.some((offset) => offset > MOST_OFFSET);
  const parts = [
    ["PNAM", nameBytes(sorted)],
    ["OIDF", fanoutOf(all.oids, order)],
    ["OIDL", namesOf(all.oids, order)],
    ["OOFF", placesOf(all, order, isLarge)],
    ...(isLarge ? [["LOFF", largeOffsets(all.offsets, order)] as const] : []),
  ] as const;
  return assemble(parts, sorted.length);
}

/** The objects of all packs, pack by pack. */
interface Gathered {
  readonly count: number;
  readonly oids: Uint8Array;
  /** The number of the pack of each. */
  readonly owners: Uint32Array;
  readonly offsets: Float64Array;
}

function gather(packs: readonly ListedPack[]): Gathered {
  const count = packs.reduce((sum, { offsets }) => sum + offsets.length, 0);
  const oids = new Uint8Array(count * OID_BYTES);
  const owners = new Uint32Array(count);
  const offsets = new Float64Array(count);
  let at = 0;
  for (const [number, pack] of packs.entries()) {
    oids.set(pack.names, at * OID_BYTES);
    offsets.set(pack.offsets, at);
    owners.fill(number, at, at + pack.offsets.length);
    at += pack.offsets.length;
  }
  return { count, oids, owners, offsets };
}

function withoutTwins(oids: Uint8Array, order: Uint32Array): Uint32Array {
  let before = -1;
  return order.filter((entry) => {
    const isTwin = before >= 0 &&
      compareOids(oids, before * OID_BYTES, oids, entry * OID_BYTES) === 0;
    before = entry;
    return !isTwin;
  });
}

/** The names of the packs' indexes, a zero after each, up to a whole number of words. */
function nameBytes(packs: readonly ListedPack[]): Uint8Array {
  const text = packs.map(({ name }) => `${name}.idx\0`).join("");
  return new TextEncoder().encode(text.padEnd(Math.ceil(text.length / 4) * 4, "\0"));
}

function fanoutOf(oids: Uint8Array, order: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(FANOUT_BYTES);
  const view = new DataView(bytes.buffer);
  let count = 0;
  for (let first = 0; first < 256; first++) {
    while (count < order.length && oids[(order[count] ?? 0) * OID_BYTES] === first) count++;
    view.setUint32(first * 4, count);
  }
  return bytes;
}

function namesOf(oids: Uint8Array, order: Uint32Array): Uint8Array {
  const names = new Uint8Array(order.length * OID_BYTES);
  order.forEach((entry, at) => {
    names.set(oids.subarray(entry * OID_BYTES, (entry + 1) * OID_BYTES), at * OID_BYTES);
  });
  return names;
}

function placesOf(
  { owners, offsets }: Gathered,
  order: Uint32Array,
  isLarge: boolean,
): Uint8Array {
  const bytes = new Uint8Array(order.length * 8);
  const view = new DataView(bytes.buffer);
  let large = 0;
  order.forEach((entry, at) => {
    const offset = offsets[entry] ?? 0;
    view.setUint32(at * 8, owners[entry] ?? 0);
    view.setUint32(
      at * 8 + 4,
      isLarge && offset >= LARGE_OFFSET ? LARGE_OFFSET + large++ : offset,
    );
  });
  return bytes;
}

function largeOffsets(offsets: Float64Array, order: Uint32Array): Uint8Array {
  const large = Array.from(order, (entry) => offsets[entry] ?? 0)
    .filter((offset) => offset >= LARGE_OFFSET);
  const view = new DataView(new ArrayBuffer(large.length * 8));
  large.forEach((offset, at) => view.setBigUint64(at * 8, BigInt(offset)));
  return new Uint8Array(view.buffer);
}

function assemble(
  parts: readonly (readonly [name: string, bytes: Uint8Array])[],
  packs: number,
): Uint8Array {
  let next = MIDX_HEAD + (parts.length + 1) * PART_ENTRY;
  const size = parts.reduce((sum, [, bytes]) => sum + bytes.length, next) + OID_BYTES;
  const file = new Uint8Array(size);
  const view = new DataView(file.buffer);
  view.setUint32(0, MIDX_MARK);
  file.set([1, 1, parts.length, 0], 4);
  view.setUint32(8, packs);
  for (const [number, [name, bytes]] of parts.entries()) {
    file.set(new TextEncoder().encode(name), MIDX_HEAD + number * PART_ENTRY);
    view.setBigUint64(MIDX_HEAD + number * PART_ENTRY + 4, BigInt(next));
    file.set(bytes, next);
    next += bytes.length;
  }
  view.setBigUint64(MIDX_HEAD + parts.length * PART_ENTRY + 4, BigInt(next));
  file.set(createHash("sha1").update(file.subarray(0, next)).digest(), next);
  return file;
}
