import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../atproto/identity.ts";
import type { Records } from "../atproto/records.ts";
import { checkRecord } from "../atproto/validate.ts";
import { ID, type Pack } from "../atproto/lexicons.gen.ts";
import { CorruptError, NotFoundError, RemoteError } from "../errors.ts";
import { isMissing } from "../files.ts";
import { type IndexedPack, indexPack } from "../git/index_pack.ts";
import { Links } from "../git/links.ts";
import type { ObjectReader } from "../git/object.ts";
import { layered } from "../git/layered.ts";
import { openStore } from "../git/store.ts";
import { Chains, readChains } from "./chains.ts";
import { download, refuseOther, type Source, sourceOf } from "./download.ts";
import type { Manifest } from "./manifest.ts";
import { holdsPack, packsOf } from "./place.ts";
import { listedIn, type State } from "./state.ts";

/** Bounds on what one pack may make this machine do; a pack over them is refused. */
export const PACK_LIMITS = {
  objectBytes: 2 ** 31 - 1,
  totalBytes: 64 * 2 ** 30,
  objects: 20_000_000,
  depth: 4095,
} as const;

/** What a sync has put in its waiting folder. */
export interface Arrived {
  readonly packs: Map<string, string>;
  readonly records: Map<string, string>;
  /** The chains across all the manifest's packs. */
  readonly chains: Chains;
  /** What the objects of these packs lead to, unless some came in an earlier try. */
  readonly links: Links;
}

interface Wanted {
  /** The URI of its record, or of the manifest that it is in. */
  readonly uri: string;
  readonly source: Source;
  readonly record?: string;
  /** How many objects the record tells of. */
  readonly objects?: number;
  readonly folds: readonly string[];
  /** True when it leans on objects outside, or will be sealed with packs that may. */
  readonly isThin: boolean;
}

/**
 * Fetches and indexes the packs of a manifest that the mirror at `path` lacks into `waiting`, a folder laid out as a bare
 * repository's. What an interrupted sync left there is used again. Each pack is checked against its SHA-256, each object
 * hashed; a thin pack is completed.
 */
export async function fetchPacks(
  { records, account, path, held, waiting, state, manifest, isWhole, signal, progress }: {
    records: Records;
    account: Account;
    path: string;
    held: ObjectReader;
    waiting: string;
    state: State | undefined;
    manifest: Manifest;
    /** Fetches folds too of whose packs all are held. */
    isWhole: boolean;
    signal: AbortSignal;
    progress: (text: string, done?: number, total?: number) => void;
  },
): Promise<Arrived> {
  const packs = new Map([...state?.packs ?? []].filter(([, name]) => !isWhole || name !== ""));
  const known = new Map(state?.records);
  const arriving = openStore(waiting);
  const store = layered(held, arriving);
  const links = new Links();
  let chains = await readChains(path) ?? new Chains();
  try {
    const wanted = await listWanted(records, account, manifest, packs, known);
    const total = wanted.reduce((sum, { source }) => sum + sizeOf(source), 0);
    let done = 0;
    for (const one of wanted) {
      const { source, record, folds, isThin } = one;
      const { sha256 } = source;
      if (record !== undefined) known.set(record, sha256);
      if (packs.has(sha256)) continue;
      if (!isWhole && folds.length > 0 && folds.every((fold) => packs.has(fold))) {
        packs.set(sha256, "");
        if (isThin) chains = chains.joined(sha256, folds);
        continue;
      }
      const from = done;
      const arrived = await arrive(
        records,
        account,
        { path, waiting, store, links, signal, progress },
        one,
        (bytes) => progress("receiving packs", from + bytes, total),
      );
      packs.set(sha256, arrived.name);
      if (isThin) chains = chains.with(sha256, arrived.chains?.());
      arriving.refresh();
      done += sizeOf(source);
    }
    return { packs, records: known, chains: chains.of(listedIn(manifest.record, known)), links };
  } finally {
    arriving.close();
  }
}

async function arrive(
  records: Records,
  account: Account,
  place: Indexing & { path: string; waiting: string },
  { uri, source, objects }: Wanted,
  progress: (bytes: number) => void,
): Promise<{ name: string; chains?: IndexedPack["chains"] }> {
  const { path, waiting, ...indexing } = place;
  const mark = join(waiting, `${source.sha256}.name`);
  const earlier = await readMark(mark);
  // A sync that was cut off may have moved it into the mirror, or half of it.
  if (earlier && (await holdsPack(waiting, earlier) || await holdsPack(path, earlier))) {
    place.links.giveUp();
    return { name: earlier };
  }
  const file = join(waiting, source.sha256);
  try {
    await download(records, account, source, file, progress);
  } catch (error) {
    // A record that was deleted takes its blobs along.
    const isGone = error instanceof NotFoundError && error.code === "not_found.blob";
    throw isGone ? new LostPackError(uri, account.pds) : error;
  }
  const { name, objects: actual, chains } = await index(account, source, file, waiting, indexing);
  if (objects !== undefined && objects !== actual) {
    throw new CorruptError(
      `a pack of ${account.handle} has ${actual} objects, its record tells of ${objects}`,
    );
  }
  await writeFile(mark, name);
  await rm(file);
  return { name, chains };
}

/** Indexes a pack that was downloaded: what is wrong with one that its record does not name is that. */
async function index(
  account: Account,
  source: Source,
  file: string,
  waiting: string,
  indexing: Indexing,
): Promise<IndexedPack> {
  try {
    return await indexFile(file, waiting, { ...indexing, sha256: source.sha256 });
  } catch (error) {
    if (error instanceof CorruptError) await refuseOther(account, source, file);
    throw error;
  }
}

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

async function readMark(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function listWanted(
  records: Records,
  account: Account,
  { uri, record: { packs: listed, tail } }: Manifest,
  packs: ReadonlyMap<string, string>,
  known: ReadonlyMap<string, string>,
): Promise<Wanted[]> {
  const lacking = listed.filter(({ cid }) => {
    const sha256 = known.get(cid);
    return sha256 === undefined || !packs.has(sha256);
  });
  const found = lacking.length === 0
    ? new Map<string, unknown>()
    : await records.getBlocks(account, lacking.map(({ cid }) => cid));
  const wanted: Wanted[] = lacking.map(({ rkey, cid, bytes, objects }) => {
    const packUri = `${uri.replace(/\/[^/]+\/[^/]+$/, "")}/${ID.pack}/${rkey}`;
    const value = found.get(cid);
    if (value === undefined) throw new LostPackError(packUri, account.pds);
    checkRecord(ID.pack, value, packUri);
    const pack = value as Pack;
    if (pack.bytes !== bytes || pack.objects !== objects) {
      throw new CorruptError(
        `${packUri} has ${pack.objects} objects in ${pack.bytes} bytes, ` +
          `${uri} tells of ${objects} in ${bytes}`,
      );
    }
    return {
      uri: packUri,
      source: sourceOf(packUri, pack),
      record: cid,
      objects,
      folds: pack.folds,
      isThin: pack.needs.length > 0,
    };
  });
  for (const { bytes, sha256 } of tail) {
    if (packs.has(sha256)) continue;
    wanted.push({ uri, source: { bytes, sha256 }, folds: [], isThin: true });
  }
  return wanted;
}

/** A pack that the manifest lists is not at the PDS. */
export class LostPackError extends RemoteError {
  constructor(uri: string, pds: string) {
    super(`the PDS lost pack ${uri}`, {
      host: pds,
      retryable: false,
      code: "remote.pack_lost",
      hint: "its owner pushes it again from a copy that has it",
    });
  }
}

function sizeOf(source: Source): number {
  return "bytes" in source ? source.bytes.length : source.size;
}
