import { ID, type Refs } from "../atproto/lexicons.gen.ts";
import { listKeys, type RecordKey } from "../atproto/mst.ts";
import { matchesLexicon } from "../atproto/validate.ts";
import type { WriteContext } from "../context.ts";

/** Records are read so many at a time. */
const AT_ONCE = 50;

/** A record of a pack or of the log, whichever repository it is of. */
interface Unnamed {
  readonly collection: string;
  readonly rkey: string;
  readonly value: unknown;
}

/**
 * Reads the account's records of packs and logs that may go by their keys. Packs are large, so only the keys are listed,
 * as the commit has them, and packs left out that another repository's manifest lists. Where the keys are not to be had,
 * all records are listed.
 */
export async function* readUnnamed(
  context: WriteContext,
  commit: string,
  mayGo: (key: { rkey: string }) => boolean,
): AsyncGenerator<Unnamed> {
  const { account, records } = context;
  const keys = await listKeys(records, account, commit, [ID.pack, ID.log]);
  if (keys === undefined) return yield* listAll(context, mayGo);
  const left = await withoutListed(context, keys.filter(mayGo));
  for (let at = 0; at < left.length; at += AT_ONCE) {
    const some = left.slice(at, at + AT_ONCE);
    const values = await records.getBlocks(account, some.map(({ cid }) => cid));
    for (const { collection, rkey, cid } of some) {
      const value = values.get(cid);
      if (value !== undefined) yield { collection, rkey, value };
    }
  }
}

async function* listAll(
  { account, records }: WriteContext,
  mayGo: (key: { rkey: string }) => boolean,
): AsyncGenerator<Unnamed> {
  for (const collection of [ID.pack, ID.log]) {
    for await (const { uri, value } of records.list(account, collection)) {
      const rkey = uri.slice(uri.lastIndexOf("/") + 1);
      if (mayGo({ rkey })) yield { collection, rkey, value };
    }
  }
}

/** When there are many, those that other repositories list are told by their manifests, which cost less than their packs. */
async function withoutListed(
  { account, records }: WriteContext,
  keys: readonly RecordKey[],
): Promise<readonly RecordKey[]> {
  if (keys.length <= AT_ONCE) return keys;
  const listed = new Set<string>();
  for await (const { value } of records.list(account, ID.refs)) {
    if (!matchesLexicon(ID.refs, value)) continue;
    for (const { rkey } of (value as Refs).packs) listed.add(rkey);
  }
  return keys.filter(({ rkey }) => !listed.has(rkey));
}
