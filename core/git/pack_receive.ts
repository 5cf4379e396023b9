import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { CorruptError } from "../errors.ts";
import { concat, sameBytes } from "./bytes.ts";
import { LEAST_ENTRY, PACK_HEADER, PACK_TRAILER, packHeader } from "./pack_head.ts";

/** A pack that has been copied to a file, its checksum verified. */
export interface ReceivedPack {
  readonly objects: number;
  readonly bytes: number;
  readonly sha256: string;
  /** The SHA-1 at its end. */
  readonly checksum: Uint8Array;
}

const PIECE = 1 << 20;

/** Copies a pack, from a file or as it arrives, to `path`; refuses one that is too long, or whose checksum differs. */
export async function receivePack(
  input: string | AsyncIterable<Uint8Array>,
  path: string,
  limits: { totalBytes: number; objects: number },
  signal?: AbortSignal,
): Promise<ReceivedPack> {
  const sha1 = createHash("sha1");
  const sha256 = createHash("sha256");
  const fd = openSync(path, "wx");
  let head = new Uint8Array();
  /** The last bytes so far: the trailer is no part of what it sums up. */
  let tail = new Uint8Array();
  let bytes = 0;
  try {
    for await (const piece of typeof input === "string" ? piecesOf(input) : input) {
      signal?.throwIfAborted();
      bytes += piece.length;
      if (bytes > limits.totalBytes) throw tooMuch(`is over ${limits.totalBytes} bytes`);
      if (head.length < PACK_HEADER) {
        head = concat([head, piece.subarray(0, PACK_HEADER - head.length)]);
        if (head.length === PACK_HEADER) checkCount(packHeader(head).objects, limits.objects);
      }
      const both = piece.length < PACK_TRAILER ? concat([tail, piece]) : piece;
      if (both === piece) sha1.update(tail);
      const end = Math.max(0, both.length - PACK_TRAILER);
      sha1.update(both.subarray(0, end));
      tail = both.slice(end);
      sha256.update(piece);
      for (let done = 0; done < piece.length;) done += writeSync(fd, piece, done);
    }
  } finally {
    closeSync(fd);
  }
  const { objects } = packHeader(head);
  if (bytes < PACK_HEADER + PACK_TRAILER + objects * LEAST_ENTRY) {
    throw new CorruptError("a pack is cut short");
  }
  if (!sameBytes(sha1.digest(), tail)) throw new CorruptError("a pack fails its checksum");
  return { objects, bytes, sha256: sha256.digest("hex"), checksum: tail };
}

/** The error for a pack that would take more than the limits allow. */
export function tooMuch(what: string): CorruptError {
  return new CorruptError(`a pack ${what}`, { code: "corrupt.too_large" });
}

function checkCount(objects: number, limit: number): void {
  if (objects > limit) throw tooMuch(`says it has ${objects} objects: at most ${limit} are taken`);
}

async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  const fd = openSync(path, "r");
  try {
    const buffer = new Uint8Array(Math.min(PIECE, Math.max(1, fstatSync(fd).size)));
    for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer)) {
      yield buffer.subarray(0, count);
      await setImmediate();
    }
  } finally {
    closeSync(fd);
  }
}
