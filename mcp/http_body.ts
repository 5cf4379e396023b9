import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";

const MAX_BODY_BYTES = 16 << 20;

/** A request's body as text; undefined when it is too long. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
