import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../atproto/identity.ts";
import { CorruptError } from "../errors.ts";
import { isMissing } from "../files.ts";
import { indexChain } from "../git/index_chain.ts";
import { type IndexedPack, indexPack } from "../git/index_pack.ts";
import type { Links } from "../git/links.ts";
import type { ObjectReader } from "../git/object.ts";
import { packHeader } from "../git/pack_head.ts";
import { refuseOther, type Source } from "./download.ts";
import { holdsPack, LISTS, packsOf } from "./place.ts";

/** Bounds on what one pack may make this machine do; a pack over them is refused. */
export const PACK_LIMITS = {
  objectBytes: 2 ** 31 - 1,
  totalBytes: 64 * 2 ** 30,
  objects: 20_000_000,
  depth: 4095,
} as const;

/** What an arriving pack is indexed with. */
export interface Indexing {
  /** Completes a thin pack. */
  readonly store: ObjectReader;
  /** Learns what the pack's objects lead to. */
  readonly links: Links;
  /** What its SHA-256 must be. */
  readonly sha256?: string;
  readonly signal: AbortSignal;
  progress(text: string, done?: number, total?: number): void;
}

/** Indexes the pack at `file` into the folder `waiting`; what it breaks is a CorruptError. */
export async function indexFile(
  file: string,
  waiting: string,
  indexing: Indexing,
): Promise<IndexedPack> {
  return await indexPack(file, {
    ...indexing,
    outDir: packsOf(waiting),
    limits: PACK_LIMITS,
    complete: true,
  });
}

/** A pack that has been downloaded. */
export interface Downloaded {
  readonly source: Source;
  /** Where it is. */
  readonly file: string;
  /** How many objects its record tells of. */
  readonly objects?: number;
}

/** Where packs arrive, and what with. */
export interface Arriving extends Indexing {
  readonly account: Account;
  /** A folder laid out as a bare repository's. */
  readonly waiting: string;
  /** Makes the store see the packs that have arrived. */
  refresh(): void;
}

/** What has become of a pack. */
export interface ArrivedPack {
  /** The git pack that has its objects. */
  readonly name: string;
  /** Its deltas as it came; not known of one that an earlier try indexed. */
  readonly chains?: IndexedPack["chains"];
}

/**
 * Indexes packs, oldest first, into as few git packs as there can be; what has become of each by SHA-256. Several are
 * taken together; where that cannot be, each half by itself, so that what is wrong is told of the pack that it is wrong
 * with.
 */
export async function indexPacks(
  packs: readonly Downloaded[],
  arriving: Arriving,
): Promise<Map<string, ArrivedPack>> {
  const [only, ...others] = packs;
  if (only === undefined) return new Map();
  if (others.length === 0) return new Map([[only.source.sha256, await indexOne(only, arriving)]]);
  const together = await indexTogether(packs, arriving);
  if (together !== undefined) return together;
  const half = Math.ceil(packs.length / 2);
  const older = await indexPacks(packs.slice(0, half), arriving);
  return new Map([...older, ...await indexPacks(packs.slice(half), arriving)]);
}

/** Indexes packs as one; undefined when they are not to be had so. */
async function indexTogether(
  packs: readonly Downloaded[],
  { account: _, waiting, refresh, ...indexing }: Arriving,
): Promise<Map<string, ArrivedPack> | undefined> {
  const arrived = new Map<string, ArrivedPack>();
  try {
    const parts: Uint8Array[] = [];
    for (const { source, file, objects } of packs) {
      const bytes = await readFile(file);
      if (createHash("sha256").update(bytes).digest("hex") !== source.sha256) return undefined;
      if (objects !== undefined && objects !== packHeader(bytes).objects) return undefined;
      parts.push(bytes);
    }
    const outDir = packsOf(waiting);
    const chain = await indexChain(parts, { ...indexing, outDir, limits: PACK_LIMITS });
    await mkdir(join(waiting, LISTS), { recursive: true });
    for (const [at, { list, chains }] of chain.packs.entries()) {
      const { source: { sha256 } = { sha256: "" } } = packs[at] ?? {};
      await writeFile(join(waiting, LISTS, `${sha256}.idx`), list);
      arrived.set(sha256, { name: chain.name, chains });
    }
    for (const { source, file } of packs) await settle(waiting, source, file, chain.name);
    refresh();
    return arrived;
  } catch (error) {
    if (error instanceof CorruptError) return undefined;
    throw error;
  }
}

/** Indexes a pack by itself: what is wrong with one that its record does not name is that. */
async function indexOne(
  { source, file, objects }: Downloaded,
  { account, waiting, refresh, ...indexing }: Arriving,
): Promise<ArrivedPack> {
  let indexed: IndexedPack;
  try {
    indexed = await indexFile(file, waiting, { ...indexing, sha256: source.sha256 });
  } catch (error) {
    if (error instanceof CorruptError) await refuseOther(account, source, file);
    throw error;
  }
  if (objects !== undefined && objects !== indexed.objects) {
    throw new CorruptError(
      `a pack of ${account.handle} has ${indexed.objects} objects, its record tells of ${objects}`,
    );
  }
  await settle(waiting, source, file, indexed.name);
  refresh();
  return { name: indexed.name, chains: indexed.chains };
}

/** Notes that a pack has arrived; its file is needed no more. */
async function settle(waiting: string, { sha256 }: Source, file: string, name: string) {
  await writeFile(markOf(waiting, sha256), name);
  await rm(file);
}

/** The git pack that an earlier try, which was cut off, has made of the pack: there, or in the mirror at `path` already. */
export async function arrivedBefore(
  waiting: string,
  path: string,
  sha256: string,
): Promise<string | undefined> {
  try {
    const name = await readFile(markOf(waiting, sha256), "utf8");
    return await holdsPack(waiting, name) || await holdsPack(path, name) ? name : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function markOf(waiting: string, sha256: string): string {
  return join(waiting, `${sha256}.name`);
}
