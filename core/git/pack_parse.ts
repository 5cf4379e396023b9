import { crc32 } from "node:zlib";
import { CorruptError } from "../errors.ts";
import { deltaSizes, tooLarge } from "./delta.ts";
import { ENTRY_HEADER_BYTES, type EntryHeader, parseEntryHeader } from "./entry.ts";
import { LARGE, readData, streamData } from "./entry_data.ts";
import { PositionedFile } from "./file.ts";
import { startObjectHash } from "./hash.ts";
import type { ObjectKind, Oid } from "./object.ts";
import { type Seam, SeamWalk } from "./pack_chain.ts";
import { PACK_HEADER, PACK_TRAILER } from "./pack_head.ts";
import { tooMuch } from "./pack_receive.ts";
import { NONE, PackTable } from "./pack_table.ts";

/** Bounds on what indexing a pack may take. */
export interface PackLimits {
  /** The size of an object. */
  readonly objectBytes: number;
  /** The size of the pack, and that of all its objects together. */
  readonly totalBytes: number;
  readonly objects: number;
  /** The length of a chain of deltas. */
  readonly depth: number;
}

/** What is done with each object as it is made. */
export interface Taker {
  /** Checks a whole object; gives its oid. */
  take(kind: ObjectKind, bytes: Uint8Array): Oid;
  /** Tells whether an object is held already, so that its content must be compared. */
  isHeld(oid: Oid): boolean;
}

const AHEAD = 1 << 20;
/** Commits, trees and tags are made in memory; what a delta makes too, and git makes none of a larger file. */
const STRUCTURE_BYTES = 128 << 20;
const DELTA_BYTES = 512 << 20;
/** A few bytes of deltas can stand for any number: past so much, a pack may make so many times its size. */
const FREE_BYTES = 2 ** 31;
const MOST_TIMES = 4096;
/** Deltas are kept for the second pass up to this many bytes. */
const KEPT = 24 << 20;

/** What the first pass over a pack found. */
export interface ParsedPack {
  readonly table: PackTable;
  /** The entries that are deltas on an object named, by its oid. */
  readonly named: Map<Oid, number[]>;
  /** Deltas that were small enough to keep. */
  readonly deltas: Map<number, Uint8Array>;
  /** How many entries are deltas. */
  readonly deltaCount: number;
}

/**
 * Goes through the entries of a pack: identifies the whole objects, and notes which deltas are made on what. Gives control
 * back after each. With `seams` the packs between them are kept apart.
 */
export function* parsePack(
  path: string,
  count: number,
  limits: PackLimits,
  taker: Taker,
  seams: readonly Seam[] = [],
): Generator<number, ParsedPack> {
  const walk = new SeamWalk(seams);
  using file = new PositionedFile(path, AHEAD);
  const table = new PackTable(count);
  const named = new Map<Oid, number[]>();
  const deltas = new Map<number, Uint8Array>();
  const end = file.size - PACK_TRAILER;
  const most = Math.min(limits.totalBytes, Math.max(FREE_BYTES, file.size * MOST_TIMES));
  let at = PACK_HEADER;
  let total = 0;
  let kept = 0;
  let deltaCount = 0;
  for (let entry = 0; entry < count; entry++) {
    walk.step(entry, at);
    const start = file.view(at, Math.min(ENTRY_HEADER_BYTES, end - at));
    const header = parseEntryHeader(start, 0);
    const { kind, size, length } = header;
    refuseLarge(size, kind === "blob" ? limits.objectBytes : STRUCTURE_BYTES, limits);
    table.offsets[entry] = at;
    table.headerLengths[entry] = length;
    table.sizes[entry] = size;
    let consumed: number;
    if (kind === "blob" && size > LARGE) {
      const hash = startObjectHash(kind, size);
      consumed = streamData(file, at + length, end, size, (piece) => hash.update(piece));
      const oid = hash.digest("hex");
      if (taker.isHeld(oid)) taker.take(kind, readData(file, at + length, end, size).bytes);
      table.identify(entry, kind, oid);
      total += size;
    } else {
      const found = readData(file, at + length, end, size);
      consumed = found.consumed;
      total += size;
      if (kind !== undefined) {
        table.identify(entry, kind, taker.take(kind, found.bytes));
      } else {
        const { result } = deltaSizes(found.bytes);
        refuseLarge(result, DELTA_BYTES, limits);
        total += result;
        noteBase(table, named, entry, header, walk.floor);
        deltaCount++;
        if (kept + size <= KEPT) {
          kept += size;
          deltas.set(entry, found.bytes);
        }
      }
    }
    if (total > most) throw tooMuch(`inflates to over ${most} bytes`);
    table.crcs[entry] = checksum(file, at, at + length + consumed);
    at += length + consumed;
    yield size;
  }
  table.offsets[count] = at;
  walk.step(count, at);
  if (at !== end) throw new CorruptError("a pack has bytes after its last object");
  return { table, named, deltas, deltaCount };
}

function refuseLarge(size: number, most: number, { objectBytes }: PackLimits): void {
  const limit = Math.min(most, objectBytes);
  if (size > limit) throw tooLarge(size, limit);
}

function noteBase(
  table: PackTable,
  named: Map<Oid, number[]>,
  entry: number,
  { base, distance = 0 }: EntryHeader,
  floor: number,
): void {
  if (base !== undefined) {
    const others = named.get(base);
    if (others === undefined) named.set(base, [entry]);
    else others.push(entry);
    return;
  }
  const start = (table.offsets[entry] ?? 0) - distance;
  const found = start < floor ? NONE : table.entryAt(start, entry);
  if (found === NONE) throw new CorruptError("a delta has no base where it says");
  table.bases[entry] = found;
  table.nextChild[entry] = table.firstChild[found] ?? NONE;
  table.firstChild[found] = entry;
}

function checksum(file: PositionedFile, start: number, end: number): number {
  let crc = 0;
  for (let at = start; at < end; at += AHEAD) {
    crc = crc32(file.view(at, Math.min(AHEAD, end - at)), crc);
  }
  return crc;
}
