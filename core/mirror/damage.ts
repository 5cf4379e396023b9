import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { type FileHandle, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "../files.ts";
import { ColumnFile } from "./columns.ts";
import { midxOf, uncoverPacks } from "./cover.ts";
import { GRAPH } from "./graph_file.ts";
import { LISTS, packsOf } from "./place.ts";
import { TRIGRAMS } from "./trigram_file.ts";

/** The bytes of a SHA-1, which packs and indexes end in: that of all before it. */
const SEAL = 20;
const PIECE = 1 << 20;

/**
 * True when a pack or an index of the mirror at `path`, or of what waits to come into it, is not as it was written.
 * Reads all of them; run under the mirror's lock.
 */
export async function isDamaged(path: string, signal: AbortSignal): Promise<boolean> {
  for (const dir of [packsOf(path), packsOf(join(path, "incoming"))]) {
    for (const file of await listIndexes(dir)) {
      const idx = await readSeals(file, signal);
      const pack = await readSeals(file.replace(/idx$/, "pack"), signal);
      // An index names its pack's seal before its own.
      if (!idx?.isWhole || !pack?.isWhole || !idx.before.equals(pack.seal)) return true;
    }
  }
  for (const file of await listIndexes(join(path, LISTS))) {
    if (!(await readSeals(file, signal))?.isWhole) return true;
  }
  return false;
}

/** Takes away the index over packs of the mirror at `path` that is not as it was written; true when that was so. */
export async function dropDamagedCover(path: string, signal: AbortSignal): Promise<boolean> {
  const isDamaged = existsSync(midxOf(path)) && !(await readSeals(midxOf(path), signal))?.isWhole;
  if (isDamaged) await uncoverPacks(path);
  return isDamaged;
}

/** Takes away the indexes beside the mirror at `path` that are not as they were written; true when there was one. */
export async function dropDamagedIndexes(path: string): Promise<boolean> {
  let isDamaged = false;
  for (const format of [GRAPH, TRIGRAMS]) {
    const file = ColumnFile.open(join(path, format.name), format);
    try {
      file?.check();
    } catch {
      isDamaged = true;
      await rm(join(path, format.name), { force: true });
    } finally {
      file?.close();
    }
  }
  return isDamaged;
}

/** Takes away the mirror at `path`, but for what pushes of other processes keep there. */
export async function clearCopy(path: string): Promise<void> {
  for (const name of await readNames(path)) {
    if (!name.startsWith("push-")) await rm(join(path, name), { recursive: true, force: true });
  }
}

async function listIndexes(dir: string): Promise<string[]> {
  const names = await readNames(dir);
  return names.filter((name) => name.endsWith(".idx")).map((name) => join(dir, name));
}

async function readNames(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

interface Seals {
  readonly seal: Buffer;
  /** As many bytes as the seal's that come before it. */
  readonly before: Buffer;
  readonly isWhole: boolean;
}

/** The seal that a file ends in, and whether it fits the rest; undefined for a file that is missing or too short. */
async function readSeals(path: string, signal: AbortSignal): Promise<Seals | undefined> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    const { size } = await file.stat();
    if (size < 2 * SEAL) return undefined;
    const end = Buffer.alloc(2 * SEAL);
    await file.read(end, 0, end.length, size - end.length);
    const hash = createHash("sha1");
    const piece = Buffer.alloc(Math.min(PIECE, size));
    for (let at = 0; at < size - SEAL;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(piece, 0, Math.min(PIECE, size - SEAL - at), at);
      if (bytesRead === 0) return undefined;
      hash.update(piece.subarray(0, bytesRead));
      at += bytesRead;
    }
    const seal = end.subarray(SEAL);
    return { seal, before: end.subarray(0, SEAL), isWhole: hash.digest().equals(seal) };
  } finally {
    await file.close();
  }
}
