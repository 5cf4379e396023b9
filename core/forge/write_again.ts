import type { BlobRef } from "../atproto/lexicons.gen.ts";
import type { Writer, Written } from "../atproto/writer.ts";
import type { WriteContext } from "../context.ts";
import { KnotlessError } from "../errors.ts";

/**
 * Makes a record under a fresh rkey that nothing names yet. When its answer is lost it is sent once more: the same content
 * put where it may be already makes no second record.
 */
export async function createSurely(
  { writer, tid }: Pick<WriteContext, "writer" | "tid">,
  collection: string,
  value: object,
): Promise<Written & { readonly rkey: string }> {
  const rkey = tid();
  const written = await surely(
    () => writer.create(collection, rkey, value),
    () => writer.put(collection, rkey, value, null),
  );
  return { ...written, rkey };
}

/** Uploads a blob, once more when the answer is lost. */
export async function uploadSurely(writer: Writer, bytes: Uint8Array): Promise<BlobRef> {
  const upload = () => writer.uploadBlob(bytes);
  return await surely(upload, upload);
}

async function surely<T>(write: () => Promise<T>, again: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof KnotlessError) || error.code !== "remote.doubt") throw error;
    return await again();
  }
}
