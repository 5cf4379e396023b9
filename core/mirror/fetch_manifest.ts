import type { Account } from "../atproto/identity.ts";
import { ID, type Refs } from "../atproto/lexicons.gen.ts";
import type { Records, StoredRecord } from "../atproto/records.ts";
import { atUri } from "../atproto/syntax.ts";
import { checkRecord } from "../atproto/validate.ts";
import { NotFoundError } from "../errors.ts";
import { type Manifest, readManifest } from "./manifest.ts";

/** Reads a repository's manifest from its owner's PDS, with its packedRefs blob where there is one. */
export async function fetchManifest(
  records: Records,
  account: Account,
  rkey: string,
): Promise<Manifest> {
  const stored = await records.get(account, ID.refs, rkey);
  if (stored === undefined) {
    throw new NotFoundError(
      `${
        atUri(account.did, ID.repo, rkey)
      } has no refs record: it was deleted, or never made whole`,
    );
  }
  checkRecord(ID.refs, stored.value, stored.uri);
  const refs = stored as StoredRecord<Refs>;
  const { packedRefs } = refs.value;
  if (packedRefs === undefined) return readManifest(refs, undefined);
  const parts: Uint8Array[] = [];
  for await (const part of records.blob(account, packedRefs.ref.$link, packedRefs.size)) {
    parts.push(part);
  }
  return readManifest(refs, Buffer.concat(parts).toString("utf8"));
}
