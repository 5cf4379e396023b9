import { statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { CorruptError } from "../errors.ts";
import { namesIn } from "../files.ts";
import { ByteCache } from "../git/cache.ts";
import { MIDX, MultiPackIndex } from "../git/midx.ts";
import { formatMidx } from "../git/midx_write.ts";
import { readTable } from "../git/pack_set.ts";
import { packsOf } from "./place.ts";

/** With more small packs than this that no index over packs is of, one is written. */
const MOST_ALONE = 8;
/** An index of more bytes, of some 70,000 objects, is read by itself: to write them all again takes longer. */
const SMALL_BYTES = 2 << 20;

/**
 * Puts one index over the small packs of the mirror at `path` when there are many, so that what is looked for is looked
 * for once, and only the packs that have it are opened. Run under the mirror's lock.
 */
export async function coverPacks(path: string, unique: string): Promise<void> {
  const small = smallPacks(path);
  const covered = new Set(coveredPacks(path));
  // One that cannot be read, or names what is not there, is read by nobody, and git complains of it.
  const isFit = covered.size > 0 && covered.isSubsetOf(new Set(small));
  if (!isFit) {
    await uncoverPacks(path);
    covered.clear();
  }
  if (small.filter((name) => !covered.has(name)).length <= MOST_ALONE) return;
  const listed = small.map((name) => ({ name, ...readTable(join(packsOf(path), name)) }));
  // Not among the packs, where nothing takes away what is left of a write that was cut off.
  const temporary = join(path, `${MIDX}.${unique}.tmp`);
  try {
    const file = await open(temporary, "w");
    try {
      await file.writeFile(formatMidx(listed));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, midxOf(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Takes the index over packs away: packs that it names are about to go. */
export async function uncoverPacks(path: string): Promise<void> {
  await rm(midxOf(path), { recursive: true, force: true });
}

/** The index over packs of the mirror at `path`. */
export function midxOf(path: string): string {
  return join(packsOf(path), MIDX);
}

function smallPacks(path: string): string[] {
  return namesIn(packsOf(path)).filter((name) => /^pack-[0-9a-f]{40}\.idx$/.test(name))
    .filter((name) => statSync(join(packsOf(path), name)).size <= SMALL_BYTES)
    .map((name) => name.slice(0, -".idx".length));
}

function coveredPacks(path: string): readonly string[] {
  try {
    const index = new MultiPackIndex(midxOf(path), new ByteCache(0), 0);
    index.close();
    return index.packs;
  } catch (error) {
    if (error instanceof CorruptError || error instanceof Error && "code" in error) return [];
    throw error;
  }
}
