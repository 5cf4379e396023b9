import { createHash } from "node:crypto";
import { CorruptError } from "../errors.ts";
import { CID_BYTES, decodeCid, formatCid } from "./cid.ts";

/** Reads a CAR file: each block, once its bytes are those that its CID says. Throws a CorruptError. */
export function* readCar(bytes: Uint8Array): Iterable<{ cid: string; block: Uint8Array }> {
  let at = 0;

  function section(): Uint8Array {
    let length = 0;
    for (let shift = 1;; shift *= 128) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 2 ** 35) {
        throw new CorruptError("a CAR file ends too early");
      }
      length += (byte & 127) * shift;
      if (byte < 128) break;
    }
    if (length > bytes.length - at) throw new CorruptError("a CAR file ends too early");
    at += length;
    return bytes.subarray(at - length, at);
  }

  // The header names roots; blocks asked for one by one have none that matter.
  section();
  while (at < bytes.length) {
    const part = section();
    const cid = decodeCid(part.subarray(0, CID_BYTES));
    if (cid === undefined) throw new CorruptError("a CAR file has a block without a CID");
    const block = part.subarray(CID_BYTES);
    const name = formatCid(cid);
    if (!createHash("sha256").update(block).digest().equals(cid.digest)) {
      throw new CorruptError(`the block ${name} is not what its CID says`);
    }
    yield { cid: name, block };
  }
}
