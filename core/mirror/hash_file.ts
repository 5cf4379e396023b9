import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** Gives the SHA-256 of a file, in hex, and its bytes. */
export async function hashFile(path: string): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const part of createReadStream(path)) {
    hash.update(part);
    bytes += part.length;
  }
  return { sha256: hash.digest("hex"), bytes };
}
