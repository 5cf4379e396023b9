import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CorruptError } from "../errors.ts";
import { ChainObjects } from "./chain_objects.ts";
import { formatIdx } from "./idx_write.ts";
import { type IndexOptions, makeObjects, placeIndexed } from "./index_pack.ts";
import { chainPacks, refuseDisorder } from "./pack_chain.ts";
import { completePack } from "./pack_complete.ts";
import { tooMuch } from "./pack_receive.ts";
import type { Chain } from "./pack_resolve.ts";
import { PACK_TRAILER } from "./pack_head.ts";

/** How packs are indexed together. */
export interface ChainOptions extends Omit<IndexOptions, "complete" | "sha256" | "store"> {
  readonly store: NonNullable<IndexOptions["store"]>;
}

/** Several packs that have become one in the folder. */
export interface IndexedChain {
  /** Its name, without an ending. */
  readonly name: string;
  readonly packs: readonly InChain[];
}

/** One of them. */
export interface InChain {
  /** An index, as git writes it, of its own objects. */
  readonly list: Uint8Array;
  /** Its deltas as it came. */
  chains(): Iterable<Chain>;
}

/** A pack that is read has no longer chain of deltas than this, as it would not have after a few packs by themselves. */
const MOST_DEPTH = 250;

/**
 * Takes in several packs, oldest first, as one: every byte and object is verified as `indexPack` does, and each pack has
 * to stand on itself, on what is held and on the packs before it. Objects that several have are there once. What is
 * wrong, or would make long chains of deltas, is a CorruptError: the packs may do by themselves.
 */
export async function indexChain(
  packs: readonly Uint8Array[],
  options: ChainOptions,
): Promise<IndexedChain> {
  const { store, outDir, limits, links } = options;
  const { bytes: all, objects, seams } = chainPacks(packs);
  if (all.length > limits.totalBytes || objects > limits.objects) {
    throw tooMuch("is too large with others");
  }
  const work = mkdtempSync(join(outDir, "tmp-"));
  try {
    const path = join(work, "pack");
    writeFileSync(path, all, { flag: "wx" });
    links?.expect(objects);
    const made = await makeObjects(path, objects, options, seams);
    const chain = new ChainObjects(made);
    refuseDisorder(made.named, seams, (oid) => chain.firstOf(oid), (oid) => store.has(oid));
    const depth = chain.depth();
    if (depth > MOST_DEPTH) throw new CorruptError(`packs make a chain of ${depth} deltas`);
    const { bytes, table } = chain.once(all);
    if (bytes !== all) writeFileSync(path, bytes);
    const whole = made.outer.length === 0
      ? { table, checksum: bytes.subarray(-PACK_TRAILER) }
      : await completePack(path, table, made.outer.sort(), store);
    const { idx } = formatIdx(whole.table, whole.checksum);
    links?.settle(table);
    const { name } = placeIndexed(work, outDir, whole.checksum, idx);
    const inChain = seams.map(({ entry }, at): InChain => {
      const next = seams[at + 1]?.entry ?? objects;
      return {
        list: formatIdx(made.table.slice(entry, next), whole.checksum).idx,
        chains: () => chain.chainsOf(entry, next),
      };
    });
    return { name, packs: inChain };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
