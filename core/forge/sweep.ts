import { ID, type Log, type Refs } from "../atproto/lexicons.gen.ts";
import { matchesLexicon } from "../atproto/validate.ts";
import type { Write } from "../atproto/writer.ts";
import type { WriteContext } from "../context.ts";
import { ConflictError, KnotlessError } from "../errors.ts";
import { formatPackedRefs, type Manifest, readManifest } from "../mirror/manifest.ts";
import type { Repository } from "./repository.ts";
import { isOver } from "./retired.ts";
import { readUnnamed } from "./unnamed.ts";

const TRIES = 5;
/** The most writes a PDS takes in one commit is 200; one of them is the manifest's. */
const MOST_DELETES = 199;

/** What a sweep took away: pack records, pushes of the log, and names of deleted refs. */
export interface Swept {
  readonly packs: number;
  readonly claims: number;
  readonly refs: number;
}

/** A record to delete, and how many pushes of the log go with it. */
interface Leftover {
  readonly collection: string;
  readonly rkey: string;
  readonly pushes: number;
}

/**
 * Deletes what a repository has left behind for more than a day: packs that a fold replaced, packs that no manifest came
 * to name, and old pushes of the log that merged no pull. The deletions are one commit with a new manifest, made only if
 * the account wrote nothing since it was looked at, so that no push can come to list a pack that goes.
 */
export async function sweep(context: WriteContext, repository: Repository): Promise<Swept> {
  const { mirror, rkey, uri } = repository;
  for (let attempt = 1;; attempt++) {
    const commit = await context.records.latestCommit(context.account);
    const { manifest } = await mirror.latest({ toWrite: true });
    const leftovers = await findLeftovers(context, uri, manifest, commit);
    const deletes = leftovers.slice(0, MOST_DELETES);
    const seen = Math.max(manifest.record.generation, mirror.state()?.generation ?? 0);
    const { next, refs } = await trim(context, manifest, deletes, seen + 1);
    if (deletes.length === 0 && refs === 0) return { packs: 0, claims: 0, refs: 0 };
    try {
      const { results } = await context.writer.apply([
        ...deletes.map(({ collection, rkey }): Write => ({ action: "delete", collection, rkey })),
        { action: "update", collection: ID.refs, rkey, value: next },
      ], commit);
      const cid = results.at(-1)?.cid;
      if (cid !== undefined) {
        const packed = next.packedRefs && formatPackedRefs(manifest.refs);
        const written = { uri: manifest.uri, cid, value: next };
        await mirror.advance(readManifest(written, packed), undefined, []);
      }
      const packs = deletes.filter(({ collection }) => collection === ID.pack).length;
      const claims = deletes.reduce((sum, { pushes }) => sum + pushes, 0);
      if (leftovers.length <= MOST_DELETES) return { packs, claims, refs };
      const rest = await sweep(context, repository);
      return { packs: packs + rest.packs, claims: claims + rest.claims, refs: refs + rest.refs };
    } catch (error) {
      if (!(error instanceof KnotlessError) || error.code !== "conflict.swap") throw error;
      if (attempt < TRIES) continue;
      throw new ConflictError(`${repository.spelled} is being written to by others`, {
        code: "conflict.busy",
        cause: error,
        hint: "try again",
      });
    }
  }
}

async function findLeftovers(
  context: WriteContext,
  uri: string,
  { record }: Manifest,
  commit: string,
): Promise<Leftover[]> {
  const named = new Set([
    ...record.packs.map(({ rkey }) => rkey),
    ...record.log.flatMap(({ record }) => record ?? []),
  ]);
  const isOld = isOver(record.retired, context.now());
  const mayGo = ({ rkey }: { rkey: string }) => !named.has(rkey) && isOld(rkey);
  const found: Leftover[] = [];
  for await (const { collection, rkey, value } of readUnnamed(context, commit, mayGo)) {
    if ((value as { repo?: unknown }).repo !== uri) continue;
    if (collection === ID.pack) {
      found.push({ collection, rkey, pushes: 0 });
    } else if (matchesLexicon(ID.log, value)) {
      const { pushes } = value as Log;
      // Nothing else tells that a pull was merged.
      const merged = pushes.some(({ pulls }) => pulls !== undefined && pulls.length > 0);
      if (!merged) found.push({ collection, rkey, pushes: pushes.length });
    }
  }
  return found;
}

/** The manifest without what goes, and how many names of deleted refs it had. */
async function trim(
  context: WriteContext,
  { record, refs, cid }: Manifest,
  deletes: readonly Leftover[],
  generation: number,
): Promise<{ next: Refs; refs: number }> {
  const gone = new Set(deletes.map(({ rkey }) => rkey));
  const tombs = record.refs.filter(({ oid }) => oid === undefined).length;
  const packed = tombs === 0 ? {} : {
    refs: [],
    packedRefs: await context.writer.uploadBlob(
      new TextEncoder().encode(formatPackedRefs(refs)),
    ),
  };
  const next: Refs = {
    ...record,
    ...packed,
    retired: record.retired.filter(({ rkey }) => !gone.has(rkey)),
    generation,
    prev: cid,
    id: context.tid(),
  };
  return { next, refs: tombs };
}
