import type { Refs } from "../atproto/lexicons.gen.ts";
import type { WriteContext } from "../context.ts";
import { ConflictError, KnotlessError } from "../errors.ts";
import { oidsIn, repack } from "../git/repack.ts";
import { openStore } from "../git/store.ts";
import type { Manifest } from "../mirror/manifest.ts";
import { withPackFile } from "./pack_file.ts";
import { type Made, writePackRecord } from "./place_pack.ts";
import type { Arrangement } from "./next_manifest.ts";
import type { Repository } from "./repository.ts";
import { retire } from "./retired.ts";
import { swapManifest } from "./swap.ts";

/** With so many packs the newest are folded after a write. */
const MANY_PACKS = 24;
/** A fold goes on to an older pack while that has less than this many times what is folded already. */
const TIER = 2;

/**
 * Folds the newest packs when there are many, as far back as keeps each pack larger than those after it together: what is
 * rewritten over many pushes grows with their logarithm. A fold that fails is left for the next write.
 */
export async function foldNewest(
  context: WriteContext,
  repository: Repository,
  { record: { packs } }: Manifest,
): Promise<void> {
  if (packs.length < MANY_PACKS) return;
  let from = packs.length;
  let bytes = 0;
  for (let pack = packs[from - 1]; pack && (bytes === 0 || pack.bytes < TIER * bytes);) {
    bytes += pack.bytes;
    pack = packs[--from - 1];
  }
  try {
    await fold(context, repository, from);
  } catch (error) {
    if (!(error instanceof KnotlessError)) throw error;
  }
}

/**
 * Folds the packs from the `from`-th on, and the tail, into one that is whole in itself: what refs reach of them. What
 * comes before the fold cannot lean on it, and a push that comes meanwhile leans only on what refs reach. Gives the
 * manifest that has it.
 */
export async function fold(
  context: WriteContext,
  repository: Repository,
  from: number,
): Promise<Manifest> {
  const { mirror } = repository;
  const { manifest } = await mirror.latest({ isWhole: true, toWrite: true });
  const tips = [...manifest.refs.values()].map(({ oid }) => oid);
  const older = oidsIn(await mirror.packPaths(manifest.record.packs.slice(0, from)));
  return await withPackFile(context, mirror, async (file) => {
    const store = openStore(mirror.path);
    let objects: number;
    try {
      ({ objects } = await repack(store, tips, file, { ...context, except: older }));
    } finally {
      store.close();
    }
    const received = objects === 0 ? undefined : await mirror.receive(file, tips);
    const folds = foldedBy(manifest, from, context, repository);
    const arrange = async (record: Refs, made: Made): Promise<Arrangement> => {
      const after = record.packs.slice(manifest.record.packs.length);
      refuseOther(record, manifest.record, repository.spelled);
      const folded = received && await writePackRecord(
        context,
        repository,
        received,
        folds,
        made,
      );
      const gone = record.packs.slice(from, manifest.record.packs.length);
      return {
        packs: [...record.packs.slice(0, from), ...folded ? [folded] : [], ...after],
        tail: record.tail.filter(({ sha256 }) => !folds.includes(sha256)),
        retired: retire(record.retired, gone, context.now()),
      };
    };
    return await swapManifest(context, repository, manifest, { updates: [], received, arrange });
  });
}

/** The SHA-256 of the packs from the `from`-th on and of the tail's. */
function foldedBy(
  { record: { packs, tail } }: Manifest,
  from: number,
  context: WriteContext,
  { mirror }: Repository,
): string[] {
  const state = mirror.state();
  const known = packs.slice(from).map(({ cid }) => state?.records.get(cid));
  context.signal.throwIfAborted();
  return [
    ...known.filter((sha256) => sha256 !== undefined),
    ...tail.map(({ sha256 }) => sha256),
  ];
}

/**
 * Another fold makes this one wrong: its packs are no longer those that were read. So does a seal of the tail: the sealed
 * pack stays beside the fold, and may lean on what that has left out.
 */
function refuseOther(now: Refs, seen: Refs, repo: string): void {
  const isSame = seen.packs.every(({ rkey }, index) => now.packs[index]?.rkey === rkey);
  const tail = new Set(now.tail.map(({ sha256 }) => sha256));
  if (!isSame || seen.tail.some(({ sha256 }) => !tail.has(sha256))) {
    throw new ConflictError("the repository's packs were folded by another", {
      code: "conflict.folded",
      hint: { command: "repo compact", args: { repo } },
    });
  }
}
