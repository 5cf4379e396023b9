import { concat, lenientText, utf8 } from "../git/bytes.ts";

/** The packet that ends a list in git's wire protocol. */
export const FLUSH: Uint8Array = utf8("0000");

const LENGTH = 4;

/** Makes the packet of a line. */
export function formatPacket(line: string): Uint8Array {
  const bytes = utf8(line);
  const length = (bytes.length + LENGTH).toString(16).padStart(LENGTH, "0");
  return concat([utf8(length), bytes]);
}

/** Gives what is in the packets of a stream as they come, undefined for a flush; throws `broken` for a malformed one. */
export async function* readPackets(
  stream: AsyncIterable<Uint8Array>,
  broken: (why: string) => Error,
): AsyncGenerator<Uint8Array | undefined> {
  let rest: Uint8Array = new Uint8Array();
  for await (const chunk of stream) {
    rest = rest.length === 0 ? chunk : concat([rest, chunk]);
    let at = 0;
    while (at + LENGTH <= rest.length) {
      const length = lengthAt(rest, at);
      if (length === undefined) throw broken("a packet has no length");
      if (at + length > rest.length) break;
      yield length === 0 ? undefined : rest.subarray(at + LENGTH, at + length);
      at += Math.max(length, LENGTH);
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0) throw broken("the answer ends within a packet");
}

function lengthAt(bytes: Uint8Array, at: number): number | undefined {
  const digits = lenientText(bytes.subarray(at, at + LENGTH));
  const length = /^[0-9a-f]{4}$/i.test(digits) ? parseInt(digits, 16) : -1;
  return length === 0 || length >= LENGTH ? length : undefined;
}
