import { ID, type Refs } from "../atproto/lexicons.gen.ts";
import type { WriteContext } from "../context.ts";
import { ConflictError, KnotlessError } from "../errors.ts";
import { type Manifest, readManifest } from "../mirror/manifest.ts";
import { type Change, nextManifest, packedText } from "./next_manifest.ts";
import type { Made } from "./place_pack.ts";
import type { Repository } from "./repository.ts";

const TRIES = 6;

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
  const ids: string[] = [];
  let seen = manifest;
  let blobsAgain = true;
  let doubtful = false;
  for (let attempt = 1;; attempt++) {
    try {
      const next = await nextManifest(context, repository, seen, change, made);
      ids.push(next.id);
      const failed = await put(context, rkey, next, seen);
      if (!(failed instanceof KnotlessError)) {
        const written = { uri: failed.uri, cid: failed.cid, value: next };
        return await follow(context, repository, written, seen, change);
      }
      if (failed.code === "remote.blob_missing" && blobsAgain) {
        blobsAgain = false;
        made.clear();
        continue;
      }
      if (failed.code !== "conflict.swap" && failed.code !== "remote.doubt") throw failed;
      doubtful ||= failed.code === "remote.doubt";
      const { manifest: now } = await mirror.latest({ toWrite: true });
      if (landed(now, ids)) {
        if (change.received) await mirror.discard(change.received);
        return now;
      }
      if (attempt === TRIES) throw giveUp(failed, repository);
      seen = now;
      await pause(context, attempt);
    } catch (error) {
      // A write in doubt may still land, and would name them.
      if (!doubtful) await forget(context, made);
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
  { mirror }: Repository,
  written: { uri: string; cid: string; value: Refs },
  seen: Manifest,
  change: Change,
): Promise<Manifest> {
  const manifest = readManifest(written, packedText(written.value, seen, change));
  try {
    await mirror.advance(manifest, change.received);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    context.note(`the copy on this machine could not be brought up to date: ${why}`);
  }
  return manifest;
}

/** True when the manifest is one of those writes, or follows one. */
function landed({ record }: Manifest, ids: readonly string[]): boolean {
  return ids.includes(record.id) || record.log.some(({ id }) => ids.includes(id));
}

/** Takes back pack records that no manifest came to name; one that stays is an orphan for a sweep. */
async function forget(context: WriteContext, made: Made): Promise<void> {
  for (const { rkey } of made.values()) {
    try {
      await context.writer.delete(ID.pack, rkey);
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
