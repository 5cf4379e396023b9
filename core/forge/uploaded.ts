import { createHash } from "node:crypto";
import { appendFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { formatCid } from "../atproto/cid.ts";
import type { BlobRef } from "../atproto/lexicons.gen.ts";
import type { WriteContext } from "../context.ts";
import { readText } from "../files.ts";
import type { Mirror } from "../mirror/mirror.ts";
import { uploadSurely } from "./write_again.ts";

const FILE = "uploaded";

/**
 * The blobs that this machine has brought to an owner's PDS for a repository and that no record names yet. They are noted
 * beside the mirror, so that a write that was cut off goes on with the pieces that are missing.
 */
export class Uploaded {
  readonly #context: WriteContext;
  readonly #path: string;
  readonly #known: Map<string, BlobRef>;

  private constructor(context: WriteContext, path: string, known: Map<string, BlobRef>) {
    this.#context = context;
    this.#path = path;
    this.#known = known;
  }

  /** Reads what was noted; of another PDS's blobs nothing is known. */
  static open(context: WriteContext, { path }: Mirror): Uploaded {
    const file = join(path, FILE);
    const known = new Map<string, BlobRef>();
    for (const line of (readText(file) ?? "").split("\n")) {
      const noted = parseLine(line);
      if (noted?.pds === context.account.pds) known.set(noted.blob.ref.$link, noted.blob);
    }
    return new Uploaded(context, file, known);
  }

  /** Uploads a blob, unless it is there from a write that was cut off. */
  async upload(bytes: Uint8Array): Promise<BlobRef> {
    const there = this.#known.size > 0 && this.#known.get(cidOf(bytes));
    if (there) return there;
    const blob = await uploadSurely(this.#context.writer, bytes);
    const line = JSON.stringify({ pds: this.#context.account.pds, blob });
    await appendFile(this.#path, `${line}\n`);
    return blob;
  }

  /** Forgets the blobs: a record names them, or the PDS has them no more. */
  async forget(): Promise<void> {
    this.#known.clear();
    await rm(this.#path, { force: true });
  }
}

function cidOf(bytes: Uint8Array): string {
  return formatCid({ codec: "raw", digest: createHash("sha256").update(bytes).digest() });
}

/** A line may be cut short by a power cut. */
function parseLine(line: string): { pds: string; blob: BlobRef } | undefined {
  try {
    const { pds, blob } = JSON.parse(line);
    const { $type, ref: { $link }, mimeType, size } = blob;
    return { pds, blob: { $type, ref: { $link }, mimeType, size } };
  } catch {
    return undefined;
  }
}
