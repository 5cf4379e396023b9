import { createHash } from "node:crypto";
import { OID_BYTES } from "./oid.ts";
import { sortedOrder } from "./oid_sort.ts";
import type { PackTable } from "./pack_table.ts";

const LARGE_OFFSET = 0x80000000;

/** Gives the index (version 2) of a pack, byte for byte as git writes it, and the oids in their order. */
export function formatIdx(
  table: PackTable,
  checksum: Uint8Array,
): { idx: Uint8Array; oids: Uint8Array } {
  const { count, offsets, crcs } = table;
  const order = sortedOrder(table);
  let large = 0;
  for (let i = 0; i < count; i++) if ((offsets[i] ?? 0) >= LARGE_OFFSET) large++;
  const namesAt = 8 + 1024;
  const crcsAt = namesAt + count * OID_BYTES;
  const offsetsAt = crcsAt + count * 4;
  const largeAt = offsetsAt + count * 4;
  const idx = new Uint8Array(largeAt + large * 8 + 2 * OID_BYTES);
  const view = new DataView(idx.buffer);
  view.setUint32(0, 0xff744f63);
  view.setUint32(4, 2);
  let nextLarge = 0;
  for (let i = 0; i < count; i++) {
    const entry = order[i] ?? 0;
    const name = table.oidBytes(entry);
    idx.set(name, namesAt + i * OID_BYTES);
    view.setUint32(8 + (name[0] ?? 0) * 4, i + 1);
    view.setUint32(crcsAt + i * 4, crcs[entry] ?? 0);
    const offset = offsets[entry] ?? 0;
    if (offset < LARGE_OFFSET) {
      view.setUint32(offsetsAt + i * 4, offset);
    } else {
      view.setUint32(offsetsAt + i * 4, LARGE_OFFSET + nextLarge);
      view.setBigUint64(largeAt + nextLarge++ * 8, BigInt(offset));
    }
  }
  for (let first = 1; first < 256; first++) {
    const before = view.getUint32(4 + first * 4);
    if (view.getUint32(8 + first * 4) === 0) view.setUint32(8 + first * 4, before);
  }
  idx.set(checksum, idx.length - 2 * OID_BYTES);
  const digest = createHash("sha1").update(idx.subarray(0, -OID_BYTES)).digest();
  idx.set(digest, idx.length - OID_BYTES);
  return { idx, oids: idx.subarray(namesAt, crcsAt) };
}
