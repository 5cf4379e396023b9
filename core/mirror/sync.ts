import { join } from "node:path";
import type { Account } from "../atproto/identity.ts";
import type { Records } from "../atproto/records.ts";
import { checkRecord } from "../atproto/validate.ts";
import { ID, type Pack } from "../atproto/lexicons.gen.ts";
import { CorruptError, NotFoundError, RemoteError } from "../errors.ts";
import { layered } from "../git/layered.ts";
import { Links } from "../git/links.ts";
import type { ObjectReader } from "../git/object.ts";
import { openStore } from "../git/store.ts";
import { arrivedBefore, type ArrivedPack, indexPacks } from "./arrive.ts";
import { Chains, readChains } from "./chains.ts";
import { download, type Source, sourceOf } from "./download.ts";
import type { Manifest } from "./manifest.ts";
import { listedIn, type State } from "./state.ts";

/** Packs that together have no more bytes are indexed as one. */
const JOINED_BYTES = 8 << 20;
/** So many packs are fetched at once. */
const AT_ONCE = 4;

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
  let chains = readChains(path) ?? new Chains();
  try {
    const wanted = await listWanted(records, account, manifest, packs, known);
    const total = wanted.reduce((sum, { source }) => sum + sizeOf(source), 0);
    const missing: Wanted[] = [];
    const fresh: Wanted[] = [];
    for (const one of wanted) {
      const { source: { sha256 }, record, folds } = one;
      if (record !== undefined) known.set(record, sha256);
      if (packs.has(sha256)) continue;
      fresh.push(one);
      const isSkipped = !isWhole && folds.length > 0 && folds.every((fold) => packs.has(fold));
      const earlier = isSkipped ? "" : await arrivedBefore(waiting, path, sha256);
      packs.set(sha256, earlier ?? "");
      if (earlier === undefined) missing.push(one);
      else if (earlier !== "") links.giveUp();
    }
    const arrived = new Map<string, ArrivedPack>();
    let done = 0;
    const refresh = () => arriving.refresh();
    const arrival = { account, waiting, store, links, signal, progress, refresh };
    for (const group of inGroups(missing)) {
      const downloaded = group.map((one) => ({ ...one, file: join(waiting, one.source.sha256) }));
      const report = (bytes: number) => progress("receiving packs", done + bytes, total);
      await fetchAll(records, account, downloaded, report);
      done += group.reduce((sum, { source }) => sum + sizeOf(source), 0);
      for (const [sha256, pack] of await indexPacks(downloaded, arrival)) {
        packs.set(sha256, pack.name);
        arrived.set(sha256, pack);
      }
    }
    for (const { source: { sha256 }, folds, isThin } of fresh) {
      if (!isThin) continue;
      chains = packs.get(sha256) === ""
        ? chains.joined(sha256, folds)
        : chains.with(sha256, arrived.get(sha256)?.chains?.());
    }
    return { packs, records: known, chains: chains.of(listedIn(manifest.record, known)), links };
  } finally {
    arriving.close();
  }
}

/** Packs that are small together, in their order. */
function* inGroups(wanted: readonly Wanted[]): Generator<Wanted[]> {
  let group: Wanted[] = [];
  let bytes = 0;
  for (const one of wanted) {
    bytes += sizeOf(one.source);
    if (bytes > JOINED_BYTES && group.length > 0) {
      yield group;
      group = [];
      bytes = sizeOf(one.source);
    }
    group.push(one);
  }
  if (group.length > 0) yield group;
}

/** Downloads packs, some at once; `progress` is told of the bytes of all of them. */
async function fetchAll(
  records: Records,
  account: Account,
  packs: readonly (Wanted & { file: string })[],
  progress: (bytes: number) => void,
): Promise<void> {
  const left = packs.values();
  const came = new Map<string, number>();
  let isOver = false;
  const lane = async () => {
    for (const { uri, source, file } of left) {
      const report = (bytes: number) => {
        if (isOver) throw new Error("another pack could not be fetched");
        came.set(file, bytes);
        progress([...came.values()].reduce((sum, bytes) => sum + bytes, 0));
      };
      try {
        await download(records, account, source, file, report);
      } catch (error) {
        isOver = true;
        // A record that was deleted takes its blobs along.
        const isGone = error instanceof NotFoundError && error.code === "not_found.blob";
        throw isGone ? new LostPackError(uri, account.pds) : error;
      }
      if (isOver) return;
    }
  };
  let failure: { readonly error: unknown } | undefined;
  await Promise.all(
    Array.from({ length: AT_ONCE }, () =>
      lane().catch((error) => {
        failure ??= { error };
      })),
  );
  if (failure) throw failure.error;
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
