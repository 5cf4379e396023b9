import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { CorruptError } from "../errors.ts";
import { sameBytes } from "./bytes.ts";
import { checkObject } from "./check.ts";
import { PositionedFile, writeAt } from "./file.ts";
import { hashObject } from "./hash.ts";
import { formatIdx } from "./idx_write.ts";
import type { Links } from "./links.ts";
import type { ObjectKind, ObjectReader, Oid } from "./object.ts";
import type { Seam } from "./pack_chain.ts";
import { completePack } from "./pack_complete.ts";
import { type PackLimits, parsePack, type Taker } from "./pack_parse.ts";
import { type ReceivedPack, receivePack } from "./pack_receive.ts";
import { type Chain, DeltaResolver } from "./pack_resolve.ts";
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
  /** The SHA-256 that the pack must have. */
  readonly sha256?: string | undefined;
  /** Learns what the pack's objects lead to. */
  readonly links?: Links | undefined;
  readonly signal?: AbortSignal | undefined;
  progress?(text: string, done: number, total: number): void;
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
  /** The deltas of the pack as it came. */
  chains(): Iterable<Chain>;
}

/** Other work gets its turn after this many objects or bytes. */
const SLICE_OBJECTS = 512;
const SLICE_BYTES = 8 << 20;
const MOST_ROUNDS = 4;

/**
 * Takes a pack in: copies it, verifies every byte, makes and hashes every object and writes an index as git does. What is
 * wrong with it is a CorruptError, and nothing is left of it. Whether the objects lead to others is for `checkConnected`.
 */
export async function indexPack(
  input: string | AsyncIterable<Uint8Array>,
  options: IndexOptions,
): Promise<IndexedPack> {
  const { store, outDir, limits, complete, links, signal } = options;
  const work = mkdtempSync(join(outDir, "tmp-"));
  try {
    const packPath = join(work, "pack");
    const received = await receivePack(input, packPath, limits, signal);
    refuseOther(received, options.sha256);
    links?.expect(received.objects);
    const { table: thin, outer, chains } = await makeObjects(
      packPath,
      received.objects,
      options,
    );
    links?.settle(thin);
    const needs = outer.sort();
    let table = thin;
    let { checksum } = received;
    if (complete && store !== undefined && needs.length > 0) {
      ({ table, checksum } = await completePack(packPath, table, needs, store));
    }
    const { idx, oids } = formatIdx(table, checksum);
    return {
      ...placeIndexed(work, outDir, checksum, idx),
      checksum: checksum.toHex(),
      oids,
      sha256: received.sha256,
      bytes: received.bytes,
      objects: received.objects,
      needs,
      chains,
    };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** What came of making every object of a pack. */
export interface MadeObjects {
  readonly table: PackTable;
  /** The objects outside the pack that its deltas are made on. */
  readonly outer: Oid[];
  /** The entries that are deltas on an object named, by its oid. */
  readonly named: ReadonlyMap<Oid, readonly number[]>;
  chains(): Iterable<Chain>;
}

/**
 * Makes every object of a pack; with `seams`, of several that lie in one. A base is looked for outside the pack while it is
 * not known to be inside, which only shows once everything is made: then it is done again without the outside's.
 */
export async function makeObjects(
  path: string,
  objects: number,
  { store, limits, links, signal, progress }: Omit<IndexOptions, "outDir" | "complete">,
  seams: readonly Seam[] = [],
): Promise<MadeObjects> {
  using file = new PositionedFile(path);
  const taker = takerFor(store, links);
  const inside = new Set<Oid>();
  const inSlices = slicer(signal);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const parsed = await inSlices(
      parsePack(path, objects, limits, taker, seams),
      (done) => progress?.("indexing objects", done, objects),
    );
    const { table, deltaCount } = parsed;
    const named = new Map(parsed.named);
    const resolver = new DeltaResolver(
      file,
      parsed,
      limits,
      taker,
      (oid) => inside.has(oid) ? undefined : store?.read(oid),
    );
    await inSlices(resolver.run(), (done) => progress?.("resolving deltas", done, deltaCount));
    const outer = new Set(resolver.outer);
    const known = inside.size;
    for (let entry = 0; entry < table.count && outer.size > 0; entry++) {
      const oid = table.oid(entry);
      if (outer.has(oid)) inside.add(oid);
    }
    if (inside.size > known) continue;
    return { table, outer: [...outer], named, chains: () => resolver.chains() };
  }
  throw new CorruptError("a pack has deltas on its own objects that lean on each other");
}

function refuseOther({ sha256 }: ReceivedPack, expected: string | undefined): void {
  if (expected === undefined || sha256 === expected) return;
  throw new CorruptError(`a pack has the SHA-256 ${sha256}, and is to have ${expected}`, {
    code: "corrupt.checksum",
    facts: { sha256, expected },
  });
}

/** Checks and hashes each object, and compares it with the one held under its oid, if there is one. */
function takerFor(store: ObjectReader | undefined, links: Links | undefined): Taker {
  const isHeld = (oid: Oid): boolean => store?.has(oid) ?? false;
  const take = (kind: ObjectKind, bytes: Uint8Array): Oid => {
    const oid = hashObject(kind, bytes);
    checkObject(kind, bytes, oid);
    const held = isHeld(oid) ? store?.read(oid) : undefined;
    if (held !== undefined && (held.kind !== kind || !sameBytes(held.bytes, bytes))) {
      throw new CorruptError(`the object ${oid} is held with other content`);
    }
    links?.note({ kind, bytes });
    return oid;
  };
  return { take, isHeld };
}

/** Gives what runs work in slices, each of which ends with a report of how many steps are done. */
function slicer(signal: AbortSignal | undefined) {
  return async <T>(steps: Generator<number, T>, report: (done: number) => void): Promise<T> => {
    let objects = 0;
    let bytes = 0;
    for (let done = 1;; done++) {
      const step = steps.next();
      if (step.done) return step.value;
      bytes += step.value;
      if (++objects < SLICE_OBJECTS && bytes < SLICE_BYTES) continue;
      objects = bytes = 0;
      report(done);
      await setImmediate();
      signal?.throwIfAborted();
    }
  };
}

/** Gives pack and index their names once they are safely on the disk; the index last, since readers look for it. */
export function placeIndexed(
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
