import type { Refs } from "../atproto/lexicons.gen.ts";
import type { WriteContext } from "../context.ts";
import { RefusedError } from "../errors.ts";
import {
  compareNames,
  formatPackedRefs,
  type Manifest,
  type RefTarget,
} from "../mirror/manifest.ts";
import type { Received } from "../mirror/view.ts";
import { applyUpdates, hasBranches, type RefUpdate, refuseCurrent } from "./moved.ts";
import { jsonBytes, type Made, placePack } from "./place_pack.ts";
import { logPush } from "./push_log.ts";
import type { Repository } from "./repository.ts";
import { uploadSurely } from "./write_again.ts";

/** Over this many bytes of JSON the refs go to the packedRefs blob. */
const REFS_BYTES = 40_000;
/** The most bytes of JSON that a manifest may be. */
const MANIFEST_BYTES = 100_000;

/** A small push is to be so many bytes of JSON at most, with what goes around the manifest. */
const PUT_BYTES = 32 * 1024 - 600;
/** The tail gets so many however many the refs are, or each push would be two writes. */
const LEAST_TAIL = 8000;

/** What one write changes of a repository's manifest. */
export interface Change {
  readonly updates: readonly RefUpdate[];
  /** The full name of the ref that HEAD is to name. */
  readonly head?: string | undefined;
  /** The same, if there still is no branch when the write lands. */
  readonly firstHead?: string | undefined;
  /** The pack that brings what the updates need. */
  readonly received?: Received | undefined;
  /** Puts the manifest's packs in order anew, a fold; without it the received pack is placed after the others. */
  readonly arrange?: ((record: Refs, made: Made) => Promise<Arrangement>) | undefined;
}

/** How a manifest lists its packs. */
export type Arrangement = Pick<Refs, "packs" | "tail" | "retired">;

/**
 * The manifest that a change makes of the one that was seen, its packs and older pushes put where it names them; the
 * records made for that are put into `made` and `logs`.
 */
export async function nextManifest(
  context: WriteContext,
  repository: Repository,
  seen: Manifest,
  { updates, head, firstHead, received, arrange }: Change,
  { id, made, logs }: { id: string; made: Made; logs: string[] },
): Promise<Refs> {
  const refs = applyUpdates(seen.refs, updates);
  const nextHead = head ?? (hasBranches(seen.refs) ? undefined : firstHead) ?? seen.record.head;
  const gone = updates.find(({ ref, new: made }) => ref === nextHead && made === undefined);
  if (gone) throw refuseCurrent(gone.ref, repository.spelled);
  const state = repository.mirror.state();
  const rest: Refs = {
    ...seen.record,
    head: nextHead,
    ...await placeRefs(context, seen.record, refs, updates),
    log: updates.length === 0 ? seen.record.log : await logPush(
      context,
      repository.uri,
      seen.record.log,
      { id, by: context.account.did, updates },
      logs,
    ),
    generation: Math.max(seen.record.generation, state?.generation ?? 0) + 1,
    prev: seen.cid,
    id,
  };
  const arrangement = arrange
    ? await arrange(seen.record, made)
    : received
    ? await placePack(context, repository, seen.record, received, made, roomFor(rest))
    : {};
  const next = { ...rest, ...arrangement };
  const bytes = jsonBytes(next);
  if (bytes > MANIFEST_BYTES) {
    throw new RefusedError(
      `the manifest would be ${bytes} bytes, over ${MANIFEST_BYTES}: compact the repository first`,
      { code: "refused.manifest_full" },
    );
  }
  return next;
}

/** The bytes of JSON that the tail may be beside the rest. */
function roomFor(rest: Refs): number {
  return Math.max(PUT_BYTES - jsonBytes({ ...rest, tail: [] }), LEAST_TAIL);
}

async function placeRefs(
  context: WriteContext,
  { refs: listed, packedRefs }: Refs,
  refs: ReadonlyMap<string, RefTarget>,
  updates: readonly RefUpdate[],
): Promise<Pick<Refs, "refs" | "packedRefs">> {
  const changed = new Map(updates.map(({ ref }) => [ref, refs.get(ref)]));
  const kept = listed.filter(({ name }) => !changed.has(name));
  const added = [...changed]
    // Over a packedRefs blob a deleted ref stays as a name without oid, which stands over the blob's.
    .filter(([, target]) => target !== undefined || packedRefs !== undefined)
    .map(([name, target]) => ({ name, ...target }));
  const next = [...kept, ...added].sort((a, b) => compareNames(a.name, b.name));
  if (JSON.stringify(next).length <= REFS_BYTES) {
    return { refs: next, ...(packedRefs && { packedRefs }) };
  }
  const text = formatPackedRefs(refs);
  const blob = await uploadSurely(context.writer, new TextEncoder().encode(text));
  return { refs: [], packedRefs: blob };
}

/** The text of a written manifest's packedRefs blob, known without reading it back. */
export function packedText(next: Refs, seen: Manifest, { updates }: Change): string | undefined {
  return next.packedRefs && formatPackedRefs(applyUpdates(seen.refs, updates));
}
