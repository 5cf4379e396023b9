import { ID, type Refs } from "../atproto/lexicons.gen.ts";
import type { WriteContext } from "../context.ts";
import { ConflictError, KnotlessError, quote, RemoteError } from "../errors.ts";
import { isAncestor } from "../git/ancestry.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import { indexesOf } from "../mirror/indexes.ts";
import { type Manifest, readManifest } from "../mirror/manifest.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { Sealed } from "../mirror/state.ts";
import type { Latest, Received } from "../mirror/view.ts";
import { applyUpdates } from "./moved.ts";
import { type Change, nextManifest, packedText } from "./next_manifest.ts";
import type { Made } from "./place_pack.ts";
import type { Repository } from "./repository.ts";

const TRIES = 6;
/** A PDS that takes no write in time so often in a row is not waited for again. */
const MOST_SILENCES = 2;

/**
 * Writes a change of refs with the pack it needs, all of it or nothing, and brings the mirror along. `manifest` is what
 * the change was decided on. A race over another ref is tried again; one over a ref of the change is a MovedError. A
 * write whose answer was lost counts when it is found to have landed.
 */
export async function swapManifest(
  context: WriteContext,
  repository: Repository,
  manifest: Manifest,
  change: Change,
): Promise<Manifest> {
  const { mirror, rkey } = repository;
  const made: Made = new Map();
  const logs = new Map<string, string[]>();
  let seen = manifest;
  let blobsAgain = true;
  /** True once a manifest may be there that names what was made. */
  let mayBeNamed = false;
  let silences = 0;
  for (let attempt = 1;; attempt++) {
    const id = context.tid();
    const mine: string[] = [];
    logs.set(id, mine);
    try {
      const next = await nextManifest(context, repository, seen, change, { id, made, logs: mine });
      // What readers would refuse must not be written.
      const text = packedText(next, seen, change);
      const { refs } = readManifest({ ...seen, value: next }, text);
      const failed = await put(context, rkey, next, seen);
      if (!(failed instanceof KnotlessError)) {
        const isSure = !mayBeNamed;
        mayBeNamed = true;
        await forgetOthers(context, logs, id);
        if (isSure) await forget(context, ID.pack, leftOut(made, next));
        const written = { ...failed, record: next, refs };
        return await follow(context, mirror, written, change.received, [...made.values()]);
      }
      if (failed.code === "remote.blob_missing" && blobsAgain) {
        blobsAgain = false;
        continue;
      }
      if (failed.code !== "conflict.swap" && failed.code !== "remote.doubt") throw failed;
      mayBeNamed ||= failed.code === "remote.doubt";
      const { manifest: now, view: { objects } } = await look(mirror, failed);
      const done = landed(now, [...logs.keys()]);
      if (done !== undefined) {
        await forgetOthers(context, logs, done);
        if (change.received) await mirror.discard(change.received);
        return now;
      }
      silences = isSilence(failed) ? silences + 1 : 0;
      if (attempt === TRIES || silences === MOST_SILENCES) throw giveUp(failed, repository);
      applyUpdates(now.refs, change.updates);
      if (change.arrange === undefined) refuseUnled(manifest, now, repository, change, objects);
      seen = now;
      await dropGone(context, made);
      await pause(context, attempt);
    } catch (error) {
      // A write in doubt may still land, and would name them.
      if (!mayBeNamed) {
        const packs = [...made.values()].map(({ listed }) => listed.rkey);
        await forget(context, ID.pack, packs);
        await forget(context, ID.log, [...logs.values()].flat());
      }
      if (change.received) await mirror.discard(change.received);
      throw error;
    }
  }
}

/** What became of the put: the record, or the error that says why not. */
async function put(
  { writer }: WriteContext,
  rkey: string,
  next: Refs,
  { cid }: Manifest,
): Promise<{ uri: string; cid: string } | KnotlessError> {
  try {
    return await writer.put(ID.refs, rkey, next, cid);
  } catch (error) {
    if (error instanceof KnotlessError) return error;
    throw error;
  }
}

/** True when the write was sent and nothing was heard of it. */
function isSilence({ cause }: KnotlessError): boolean {
  return cause instanceof RemoteError && cause.code === "remote.timeout";
}

/** The manifest as it is now; when even that cannot be asked, the doubt is what there is to tell. */
async function look(mirror: Mirror, failed: KnotlessError): Promise<Latest> {
  try {
    return await mirror.latest({ toWrite: true });
  } catch (error) {
    throw error instanceof RemoteError && failed.code === "remote.doubt" ? failed : error;
  }
}

/** Forgets pack records that are gone: to a sweep those of a write that took a day are left over. */
async function dropGone({ records, account }: WriteContext, made: Made): Promise<void> {
  for (const [sha256, { listed: { rkey, cid } }] of made) {
    const there = await records.get(account, ID.pack, rkey);
    if (there?.cid !== cid) made.delete(sha256);
  }
}

/**
 * Refuses to go on when something that the write may lean on is led to no more: a fold leaves it out, one that has read
 * the refs already too.
 */
function refuseUnled(
  { refs }: Manifest,
  now: Manifest,
  { spelled, mirror }: Repository,
  { updates, received }: Change,
  objects: ObjectReader,
): void {
  const commits = indexesOf(mirror.path, objects).commits();
  const targets = new Set([...now.refs.values()].map(({ oid }) => oid));
  const branches = [...now.refs].filter(([name]) => name.startsWith("refs/heads/"));
  const tips = branches.map(([, { oid }]) => oid);
  const isLedTo = (oid: Oid) =>
    targets.has(oid) ||
    objects.info(oid)?.kind === "commit" && isAncestor(commits, oid, ...tips);
  const isBare = received === undefined;
  if (isBare && updates.every(({ new: oid }) => oid === undefined || isLedTo(oid))) return;
  for (const [name, { oid }] of refs) {
    if (isLedTo(oid)) continue;
    throw new ConflictError(`${quote(name)} of ${spelled} was moved or deleted meanwhile`, {
      code: "conflict.unled",
      hint: "try again",
    });
  }
}

function giveUp(cause: KnotlessError, { spelled }: Repository): KnotlessError {
  if (cause.code === "remote.doubt") return cause;
  return new ConflictError(`${spelled} is being written to by others`, {
    code: "conflict.busy",
    cause,
    hint: "try again",
  });
}

/** Brings the mirror along; the write counts whatever becomes of the copy here. */
async function follow(
  context: WriteContext,
  mirror: Mirror,
  manifest: Manifest,
  received: Received | undefined,
  made: readonly Sealed[],
): Promise<Manifest> {
  try {
    await mirror.advance(manifest, received, made);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    context.note(`the copy on this machine could not be brought up to date: ${why}`);
  }
  return manifest;
}

/** The id of the write that the manifest is, or follows. */
function landed({ record }: Manifest, ids: readonly string[]): string | undefined {
  return ids.find((one) => one === record.id || record.log.some(({ id }) => id === one));
}

/** Takes back the pushes that tries of the write before the one that landed have put in records. */
async function forgetOthers(
  context: WriteContext,
  logs: ReadonlyMap<string, readonly string[]>,
  landed: string,
): Promise<void> {
  await forget(context, ID.log, [...logs].flatMap(([id, rkeys]) => id === landed ? [] : rkeys));
}

/** The rkeys of packs that were made for earlier tries: a tail that grew meanwhile was sealed again. */
function leftOut(made: Made, { packs }: Refs): string[] {
  const named = new Set(packs.map(({ rkey }) => rkey));
  return [...made.values()].map(({ listed }) => listed.rkey).filter((rkey) => !named.has(rkey));
}

/** Takes back records that no manifest came to name; one that stays is an orphan for a sweep. */
async function forget(
  context: WriteContext,
  collection: string,
  rkeys: readonly string[],
): Promise<void> {
  for (const rkey of rkeys) {
    try {
      await context.writer.delete(collection, rkey);
    } catch (error) {
      if (!(error instanceof KnotlessError)) throw error;
      return;
    }
  }
}

function pause(context: WriteContext, attempt: number): Promise<void> {
  const milliseconds = context.random() * 50 * 2 ** attempt;
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
