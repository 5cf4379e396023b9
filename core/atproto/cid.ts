/** What a CID says of its data. */
export interface Cid {
  readonly codec: "dag-cbor" | "raw";
  /** The sha-256 of the data. */
  readonly digest: Uint8Array;
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz234567";
const RAW = 0x55;
const DAG_CBOR = 0x71;
/** Version 1, codec, sha-256, and its 32 bytes. */
export const CID_BYTES = 36;

/** Reads a CID as the AT Protocol writes them: version 1, base32, sha-256 of DAG-CBOR or raw bytes. */
export function parseCid(text: string): Cid | undefined {
  if (!/^b[a-z2-7]{58}$/.test(text)) return undefined;
  const bytes = new Uint8Array(CID_BYTES);
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let i = 1; i < text.length; i++) {
    held = (held << 5) | LETTERS.indexOf(text.charAt(i));
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = held >> bits;
      held &= (1 << bits) - 1;
    }
  }
  return held === 0 ? decodeCid(bytes) : undefined;
}

/** Reads a CID's 36 bytes. */
export function decodeCid(bytes: Uint8Array): Cid | undefined {
  const [version, codec, hash, length] = bytes;
  if (bytes.length !== CID_BYTES || version !== 1 || hash !== 0x12 || length !== 32) {
    return undefined;
  }
  if (codec !== RAW && codec !== DAG_CBOR) return undefined;
  return { codec: codec === RAW ? "raw" : "dag-cbor", digest: bytes.slice(4) };
}

/** Writes a CID as text. */
export function formatCid({ codec, digest }: Cid): string {
  let text = "b";
  let bits = 0;
  let held = 0;
  for (const byte of [1, codec === "raw" ? RAW : DAG_CBOR, 0x12, digest.length, ...digest]) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += LETTERS.charAt(held >> bits);
      held &= (1 << bits) - 1;
    }
  }
  return bits > 0 ? text + LETTERS.charAt(held << (5 - bits)) : text;
}
