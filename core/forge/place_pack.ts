import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { type BlobRef, ID, type Pack, type Refs } from "../atproto/lexicons.gen.ts";
import type { WriteContext } from "../context.ts";
import { KnotlessError } from "../errors.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import { combinePacks } from "../git/combine.ts";
import { packHeader } from "../git/pack_head.ts";
import { TAIL_BYTES, tailBytes } from "../mirror/manifest.ts";
import type { Listed, Sealed } from "../mirror/state.ts";
import type { Received } from "../mirror/view.ts";
import type { Repository } from "./repository.ts";
import { Uploaded } from "./uploaded.ts";
import { createSurely } from "./write_again.ts";

/** The most bytes of a pack that its record holds inline; a larger one is in blobs. */
const INLINE_BYTES = 49_152;
/** The largest piece of a pack: what a default PDS takes, so that a move to one keeps the pieces. */
const PIECE_BYTES = 5_000_000;
/** Past this many pieces they are cut as large as this PDS takes. */
const MOST_PIECES = 500;
/** The most oids that a pack may lean on. */
export const MOST_NEEDS = 500;
const MOST_TAIL = 64;

type Tail = Refs["tail"][number];
/** Pack records that one write has made, by SHA-256, so that a second try does not make them again. */
export type Made = Map<string, Sealed>;

/**
 * Finds a place for a new pack in the manifest: in the tail when it is small, else in a record of its own. A tail that
 * would pass 16 kB, or `room` as JSON, is first sealed into one pack record, so the order oldest to newest holds. What it
 * writes are orphans until the manifest names them.
 */
export async function placePack(
  context: WriteContext,
  repository: Repository,
  { packs, tail }: Pick<Refs, "packs" | "tail">,
  received: Received,
  made: Made,
  room: number,
): Promise<Pick<Refs, "packs" | "tail">> {
  const { bytes, sha256, needs } = received;
  if (bytes <= TAIL_BYTES) {
    const last: Tail = { bytes: await readFile(received.file), sha256, needs: [...needs] };
    const longer = [...tail, last];
    const isSmall = tailBytes({ tail: longer }) <= TAIL_BYTES && jsonBytes(longer) <= room;
    if (tail.length === 0 || isSmall && tail.length < MOST_TAIL) return { packs, tail: longer };
    return {
      packs: [...packs, ...await seal(context, repository.uri, tail, received.reader, made)],
      tail: [last],
    };
  }
  const sealed = tail.length === 0
    ? []
    : await seal(context, repository.uri, tail, received.reader, made);
  const own = await writePackRecord(context, repository, received, [], made);
  return { packs: [...packs, ...sealed, own], tail: [] };
}

/** The bytes of a value as the JSON that is sent: bytes are in Base64. */
export function jsonBytes(value: unknown): number {
  const text = JSON.stringify(
    value,
    (_, part) =>
      part instanceof Uint8Array ? { $bytes: "=".repeat(Math.ceil(part.length * 4 / 3)) } : part,
  );
  return new TextEncoder().encode(text).length;
}

/** Makes the record of a pack, its bytes inline or in blobs; `folds` are the SHA-256 of the packs it replaces. */
export async function writePackRecord(
  context: WriteContext,
  { uri: repo, mirror }: Repository,
  received: Received,
  folds: readonly string[],
  made: Made,
): Promise<Listed> {
  const { sha256, bytes, objects, needs, file } = received;
  const record = { repo, sha256, bytes, objects, needs: [...needs], folds };
  return await once(made, sha256, async () => {
    if (bytes <= INLINE_BYTES) {
      return await createPack(context, { ...record, data: await readFile(file) });
    }
    const uploaded = Uploaded.open(context, mirror);
    const inBlobs = async () => {
      const blobs = await uploadPieces(context, received, uploaded);
      return await createPack(context, { ...record, blobs });
    };
    let sealed: Sealed;
    try {
      sealed = await inBlobs();
    } catch (error) {
      // The PDS keeps a blob that no record names for a while only.
      if (!(error instanceof KnotlessError) || error.code !== "remote.blob_missing") throw error;
      await uploaded.forget();
      sealed = await inBlobs();
    }
    await uploaded.forget();
    return sealed;
  });
}

/** Makes one pack record of a whole tail; of each of its packs, when together they would lean on too many objects. */
async function seal(
  context: WriteContext,
  repo: string,
  tail: readonly Tail[],
  reader: ObjectReader,
  made: Made,
): Promise<Listed[]> {
  const { bytes, needs } = combinePacks(tail.map(({ bytes }) => bytes), reader);
  const parts = needs.length <= MOST_NEEDS
    ? [{ bytes, needs, folds: tail.map(({ sha256 }) => sha256) }]
    : tail.map(({ bytes, needs }) => ({ bytes, needs, folds: [] }));
  const listed: Listed[] = [];
  for (const { bytes, needs, folds } of parts) {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    listed.push(
      await once(made, sha256, () =>
        createPack(context, {
          repo,
          sha256,
          bytes: bytes.length,
          objects: packHeader(bytes).objects,
          needs: [...needs],
          folds,
          data: bytes,
        })),
    );
  }
  return listed;
}

async function once(made: Made, sha256: string, make: () => Promise<Sealed>): Promise<Listed> {
  const earlier = made.get(sha256);
  if (earlier) return earlier.listed;
  const sealed = await make();
  made.set(sha256, sealed);
  return sealed.listed;
}

async function createPack(
  context: WriteContext,
  value: Omit<Pack, "$type" | "needs"> & { needs: Oid[] },
): Promise<Sealed> {
  const { sha256, bytes, objects, needs, folds } = value;
  const { rkey, cid } = await createSurely(context, ID.pack, value);
  return { sha256, folds, isThin: needs.length > 0, listed: { rkey, cid, bytes, objects } };
}

async function uploadPieces(
  context: WriteContext,
  { file, bytes }: Received,
  uploaded: Uploaded,
): Promise<BlobRef[]> {
  const { blobUploadLimit } = await context.records.describe(context.account.pds);
  const usual = Math.min(PIECE_BYTES, blobUploadLimit);
  const piece = bytes / usual > MOST_PIECES ? blobUploadLimit : usual;
  const blobs: BlobRef[] = [];
  let sent = 0;
  for (let start = 0; start < bytes; start += piece) {
    const end = Math.min(start + piece, bytes);
    const parts: Uint8Array[] = [];
    for await (const part of createReadStream(file, { start, end: end - 1 })) parts.push(part);
    blobs.push(await uploaded.upload(Buffer.concat(parts)));
    sent += end - start;
    context.progress("sending packs", sent, bytes);
  }
  return blobs;
}
