import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { crc32, deflateSync } from "node:zlib";
import { CorruptError } from "../errors.ts";
import { concat, sameBytes } from "./bytes.ts";
import { checkObject } from "./check.ts";
import { formatEntryHeader } from "./entry.ts";
import { PositionedFile } from "./file.ts";
import { hashObject } from "./hash.ts";
import { formatIdx } from "./idx_write.ts";
import type { ObjectKind, ObjectReader, Oid } from "./object.ts";
import { type PackLimits, parsePack, type Taker } from "./pack_parse.ts";
import { receivePack } from "./pack_receive.ts";
import { DeltaResolver } from "./pack_resolve.ts";
import type { PackTable } from "./pack_table.ts";

/** How a pack is indexed. */
export interface IndexOptions {
  /** Has the bases that a thin pack lacks; what it holds is never taken in other bytes. */
  readonly store?: ObjectReader | undefined;
  /** The folder that gets the pack and its index. */
  readonly outDir: string;
  readonly limits: PackLimits;
  /** Puts the bases that a thin pack lacks at its end. */
  readonly complete: boolean;
}

/** A pack that has been indexed. */
export interface IndexedPack {
  /** Its name in the folder, without an ending: `pack-<checksum>`. */
  readonly name: string;
  readonly packPath: string;
  readonly idxPath: string;
  /** The SHA-1 at the end of the pack as it is in the folder. */
  readonly checksum: string;
  /** Every oid in the folder's pack, 20 bytes each, in order. */
  readonly oids: Uint8Array;
  /** The SHA-256, bytes and number of objects of the pack as it came. */
  readonly sha256: string;
  readonly bytes: number;
  readonly objects: number;
  /** The objects outside the pack that its deltas are made on. */
  readonly needs: readonly Oid[];
  /** For each of these, the longest chain of deltas on it. */
  readonly depths: ReadonlyMap<Oid, number>;
  /** The longest chain of deltas in the pack. */
  readonly depth: number;
}

/** Other work gets its turn after this many objects or bytes. */
const SLICE_OBJECTS = 512;
const SLICE_BYTES = 8 << 20;
const PIECE = 1 << 20;
const MOST_ROUNDS = 4;

/**
 * Takes a pack in: copies it, verifies every byte, makes and hashes every object and writes an index as git does. What is
 * wrong with it is a CorruptError, and nothing is left of it. Whether the objects lead to others is for `checkConnected`.
 */
export async function indexPack(
  input: string | AsyncIterable<Uint8Array>,
  { store, outDir, limits, complete }: IndexOptions,
): Promise<IndexedPack> {
  const work = mkdtempSync(join(outDir, "tmp-"));
  try {
    const packPath = join(work, "pack");
    const received = await receivePack(input, packPath, limits);
    const taker = takerFor(store);
    const { table: thin, outer, depth } = await resolve(
      packPath,
      received.objects,
      limits,
      taker,
      store,
    );
    const needs = [...outer.keys()].sort();
    let table = thin;
    let { checksum } = received;
    if (complete && store !== undefined && needs.length > 0) {
      ({ table, checksum } = await completePack(packPath, table, needs, store));
    }
    const { idx, oids } = formatIdx(table, checksum);
    return {
      ...place(work, outDir, checksum, idx),
      checksum: checksum.toHex(),
      oids,
      sha256: received.sha256,
      bytes: received.bytes,
      objects: received.objects,
      needs,
      depths: outer,
      depth,
    };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Makes every object of a pack. A base is looked for outside the pack while it is not known to be inside, which only shows
 * once everything is made: then it is done again without the outside's.
 */
async function resolve(
  path: string,
  objects: number,
  limits: PackLimits,
  taker: Taker,
  store: ObjectReader | undefined,
): Promise<{ table: PackTable; outer: ReadonlyMap<Oid, number>; depth: number }> {
  using file = new PositionedFile(path);
  const inside = new Set<Oid>();
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const parsed = await inSlices(parsePack(file, objects, limits, taker));
    const { table } = parsed;
    const resolver = new DeltaResolver(
      file,
      parsed,
      limits,
      taker,
      (oid) => inside.has(oid) ? undefined : store?.read(oid),
    );
    await inSlices(resolver.run());
    const { outer, depth } = resolver;
    const known = inside.size;
    for (let entry = 0; entry < table.count && outer.size > 0; entry++) {
      const oid = table.oid(entry);
      if (outer.has(oid)) inside.add(oid);
    }
    if (inside.size === known) return { table, outer, depth };
  }
  throw new CorruptError("a pack has deltas on its own objects that lean on each other");
}

/** Checks and hashes each object, and compares it with the one held under its oid, if there is one. */
function takerFor(store: ObjectReader | undefined): Taker {
  const isHeld = (oid: Oid): boolean => store?.has(oid) ?? false;
  const take = (kind: ObjectKind, bytes: Uint8Array): Oid => {
    const oid = hashObject(kind, bytes);
    checkObject(kind, bytes, oid);
    const held = isHeld(oid) ? store?.read(oid) : undefined;
    if (held !== undefined && (held.kind !== kind || !sameBytes(held.bytes, bytes))) {
      throw new CorruptError(`the object ${oid} is held with other content`);
    }
    return oid;
  };
  return { take, isHeld };
}

async function inSlices<T>(steps: Generator<number, T>): Promise<T> {
  let objects = 0;
  let bytes = 0;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    bytes += step.value;
    if (++objects < SLICE_OBJECTS && bytes < SLICE_BYTES) continue;
    objects = bytes = 0;
    await setImmediate();
  }
}

/** Appends whole objects to a pack, and makes its header and trailer right again. */
async function completePack(
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
  const buffer = new Uint8Array(PIECE);
  for (let at = 0; at < end;) {
    const count = readSync(fd, buffer, 0, Math.min(PIECE, end - at), at);
    if (count === 0) throw new CorruptError("a file of the repository ends early");
    hash.update(buffer.subarray(0, count));
    at += count;
    await setImmediate();
  }
  return hash.digest();
}

function writeAt(fd: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(fd, bytes, done, bytes.length - done, at + done);
  }
}

/** Gives pack and index their names once they are safely on the disk; the index last, since readers look for it. */
function place(
  work: string,
  outDir: string,
  checksum: Uint8Array,
  idx: Uint8Array,
): { name: string; packPath: string; idxPath: string } {
  const name = `pack-${checksum.toHex()}`;
  const idxFd = openSync(join(work, "idx"), "wx");
  try {
    writeAt(idxFd, idx, 0);
  } finally {
    closeSync(idxFd);
  }
  for (const ending of ["pack", "idx"]) {
    const path = join(work, ending);
    const fd = openSync(path, "r+");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    const target = join(outDir, `${name}.${ending}`);
    renameSync(path, target);
    chmodSync(target, 0o444);
  }
  return { name, packPath: join(outDir, `${name}.pack`), idxPath: join(outDir, `${name}.idx`) };
}
