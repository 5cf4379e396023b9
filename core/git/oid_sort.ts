import { compareOids, OID_BYTES } from "./oid.ts";

/**
 * The numbers of oids, 20 bytes each, in the order of these; of equal ones the lower number first. Sorted natively by the
 * first bits, with the number below them.
 */
export function sortedOrder(
  { count, oids }: { readonly count: number; readonly oids: Uint8Array },
): Uint32Array {
  const bits = Math.max(1, Math.ceil(Math.log2(count + 1)));
  const scale = 2 ** bits;
  const cut = 2 ** Math.max(0, 48 + bits - 53);
  const view = new DataView(oids.buffer, oids.byteOffset, oids.length);
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const head = view.getUint32(i * OID_BYTES) * 0x10000 + view.getUint16(i * OID_BYTES + 4);
    keys[i] = Math.floor(head / cut) * scale + i;
  }
  keys.sort();
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const entry = (keys[i] ?? 0) % scale;
    let at = i;
    // Oids that share their first bits are next to each other: they are put in order one by one.
    for (; at > 0; at--) {
      const before = order[at - 1] ?? 0;
      if (compareOids(oids, before * OID_BYTES, oids, entry * OID_BYTES) <= 0) break;
      order[at] = before;
    }
    order[at] = entry;
  }
  return order;
}
