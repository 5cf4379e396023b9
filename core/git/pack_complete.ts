import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { crc32, deflateSync } from "node:zlib";
import { CorruptError } from "../errors.ts";
import { concat } from "./bytes.ts";
import { formatEntryHeader } from "./entry.ts";
import { writeAt } from "./file.ts";
import type { ObjectReader, Oid } from "./object.ts";
import type { PackTable } from "./pack_table.ts";

const PIECE = 1 << 20;

/** Appends whole objects to a pack, and makes its header and trailer right again. */
export async function completePack(
  path: string,
  thin: PackTable,
  needs: readonly Oid[],
  store: ObjectReader,
): Promise<{ table: PackTable; checksum: Uint8Array }> {
  const table = thin.extended(needs.length);
  const fd = openSync(path, "r+");
  try {
    let at = thin.offsets[thin.count] ?? 0;
    for (const [i, oid] of needs.entries()) {
      const object = store.read(oid);
      if (object === undefined) throw new CorruptError(`the object ${oid} is missing`);
      const { kind, bytes } = object;
      const header = Uint8Array.from(formatEntryHeader(kind, bytes.length));
      const entry = concat([header, deflateSync(bytes)]);
      writeAt(fd, entry, at);
      table.offsets[thin.count + i] = at;
      table.crcs[thin.count + i] = crc32(entry);
      table.identify(thin.count + i, kind, oid);
      at += entry.length;
    }
    table.offsets[table.count] = at;
    const count = new DataView(new ArrayBuffer(4));
    count.setUint32(0, table.count);
    writeAt(fd, new Uint8Array(count.buffer), 8);
    const checksum = await hashTo(fd, at);
    writeAt(fd, checksum, at);
    return { table, checksum };
  } finally {
    closeSync(fd);
  }
}

async function hashTo(fd: number, end: number): Promise<Uint8Array> {
  const hash = createHash("sha1");
  const buffer = new Uint8Array(Math.min(PIECE, end));
  for (let at = 0; at < end;) {
    const count = readSync(fd, buffer, 0, Math.min(PIECE, end - at), at);
    if (count === 0) throw new CorruptError("a file of the repository ends early");
    hash.update(buffer.subarray(0, count));
    at += count;
    await setImmediate();
  }
  return hash.digest();
}
