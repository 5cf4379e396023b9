import { ID, type Pack } from "../atproto/lexicons.gen.ts";
import { checkRecord } from "../atproto/validate.ts";
import type { ReadContext } from "../context.ts";
import { packHeader } from "../git/pack_head.ts";
import type { RepoName } from "./names.ts";
import { findRepository } from "./repository.ts";

/** What a repository takes up on its PDS, as its manifest tells: bytes of packs, and of those the bytes in blobs. */
export async function readStorage(context: ReadContext, named: RepoName) {
  const { mirror, owner } = await findRepository(context, named);
  const { record: { packs, tail, packedRefs } } = await mirror.manifest();
  let objects = 0;
  let bytes = 0;
  for (const pack of tail) {
    objects += packHeader(pack.bytes).objects;
    bytes += pack.bytes.length;
  }
  for (const pack of packs) {
    objects += pack.objects;
    bytes += pack.bytes;
  }
  let blobBytes = packedRefs?.size ?? 0;
  const records = await context.records.getBlocks(owner, packs.map(({ cid }) => cid));
  for (const [cid, value] of records) {
    checkRecord(ID.pack, value, cid);
    for (const { size } of (value as Pack).blobs ?? []) blobBytes += size;
  }
  return { packs: packs.length + tail.length, objects, bytes, blobBytes };
}
