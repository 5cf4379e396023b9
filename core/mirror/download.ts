import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parseCid } from "../atproto/cid.ts";
import type { Account } from "../atproto/identity.ts";
import type { BlobRef, Pack } from "../atproto/lexicons.gen.ts";
import type { Records } from "../atproto/records.ts";
import { CorruptError } from "../errors.ts";
import { hashFile } from "./hash_file.ts";

const READ_BYTES = 1 << 20;
/** So many pieces are asked for at once; a larger one is written as it comes. */
const AHEAD = 3;
const HELD_BYTES = 8 << 20;

/** A pack to have here: inline bytes, or pieces in blobs. */
export type Source =
  | { readonly bytes: Uint8Array; readonly sha256: string }
  | { readonly blobs: readonly BlobRef[]; readonly size: number; readonly sha256: string };

/** Where the pack of a pack record is; a record with neither or both, or of another size, is a CorruptError. */
export function sourceOf(uri: string, record: Pack): Source {
  const { data, blobs, bytes, sha256 } = record;
  if (data && !blobs && data.length === bytes) return { bytes: data, sha256 };
  if (blobs && !data && blobs.reduce((sum, { size }) => sum + size, 0) === bytes) {
    return { blobs, size: bytes, sha256 };
  }
  throw new CorruptError(`${uri} does not hold the ${bytes} bytes it tells of`);
}

/** Puts the pack at `file`, whatever its SHA-256. Whole pieces that are there from an earlier try stay. */
export async function download(
  records: Records,
  account: Account,
  source: Source,
  file: string,
  progress: (bytes: number) => void,
): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  if ("bytes" in source) await writeFile(file, source.bytes);
  else await downloadPieces(records, account, source.blobs, file, progress);
}

/** Removes a pack that was put at `file`, with a CorruptError, when its SHA-256 is not the one that its record names. */
export async function refuseOther(
  account: Account,
  { sha256 }: Source,
  file: string,
): Promise<void> {
  const { sha256: found } = await hashFile(file);
  if (found === sha256) return;
  await rm(file);
  throw new CorruptError(
    `a pack of ${account.handle} has SHA-256 ${found}, its record says ${sha256}`,
  );
}

async function downloadPieces(
  records: Records,
  account: Account,
  blobs: readonly BlobRef[],
  file: string,
  progress: (bytes: number) => void,
): Promise<void> {
  const out = await open(file, "a+");
  try {
    const whole = await countWhole(out, blobs);
    const have = blobs.slice(0, whole).reduce((sum, { size }) => sum + size, 0);
    await out.truncate(have);
    const left = blobs.slice(whole);
    const arriving = new Arriving(records, account, left, (bytes) => progress(have + bytes));
    try {
      for (const at of left.keys()) {
        for await (const part of arriving.take(at)) await out.writeFile(part);
      }
    } finally {
      await arriving.stop();
    }
  } finally {
    await out.close();
  }
}

/** Pieces on their way: some are asked for before the one at hand has come, as many as are held in memory. */
class Arriving {
  readonly #records: Records;
  readonly #account: Account;
  readonly #blobs: readonly BlobRef[];
  readonly #progress: (bytes: number) => void;
  readonly #ahead = new Map<number, Promise<Uint8Array[]>>();
  #bytes = 0;
  #isStopped = false;

  constructor(
    records: Records,
    account: Account,
    blobs: readonly BlobRef[],
    progress: (bytes: number) => void,
  ) {
    this.#records = records;
    this.#account = account;
    this.#blobs = blobs;
    this.#progress = progress;
  }

  /** The bytes of a piece, asked for in their order; the next ones are asked for meanwhile. */
  async *take(at: number): AsyncGenerator<Uint8Array> {
    for (let next = at; next < at + AHEAD; next++) {
      const blob = this.#blobs[next];
      if (blob === undefined || blob.size > HELD_BYTES || this.#ahead.has(next)) continue;
      const coming = Array.fromAsync(this.#read(blob));
      // Whoever takes it hears of its error.
      coming.catch(() => {});
      this.#ahead.set(next, coming);
    }
    const coming = this.#ahead.get(at);
    this.#ahead.delete(at);
    const blob = this.#blobs[at];
    if (coming !== undefined) yield* await coming;
    else if (blob !== undefined) yield* this.#read(blob);
  }

  /** Ends what is on its way and waits for it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.allSettled(this.#ahead.values());
  }

  async *#read({ ref, size }: BlobRef): AsyncGenerator<Uint8Array> {
    let have = 0;
    for await (const chunk of this.#records.blob(this.#account, ref.$link, size)) {
      if (this.#isStopped) return;
      have += chunk.length;
      this.#bytes += chunk.length;
      yield chunk;
      this.#progress(this.#bytes);
    }
    if (have === size) return;
    throw new CorruptError(`blob ${ref.$link} has ${have} bytes, its record says ${size}`);
  }
}

/** Counts the pieces that are in the file from an earlier try as their CIDs say: the last may be cut off, or wrong. */
async function countWhole(file: FileHandle, blobs: readonly BlobRef[]): Promise<number> {
  const buffer = new Uint8Array(READ_BYTES);
  let at = 0;
  for (const [count, { ref, size }] of blobs.entries()) {
    const hash = createHash("sha256");
    for (const end = at + size; at < end;) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(READ_BYTES, end - at), at);
      if (bytesRead === 0) return count;
      hash.update(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    const digest = parseCid(ref.$link)?.digest;
    if (digest === undefined || !hash.digest().equals(digest)) return count;
  }
  return blobs.length;
}
