import { Buffer } from "node:buffer";

const encoder = new TextEncoder();
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/** Gives the UTF-8 bytes of a text. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Gives the text of UTF-8 bytes, U+FFFD for what is not UTF-8; a byte order mark stays. */
export function lenientText(bytes: Uint8Array): string {
  return lenient.decode(bytes);
}

/** Gives the text of UTF-8 bytes, or undefined when they are not UTF-8. */
export function strictText(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Gives the bytes from `start` to `end` as text of one character a byte. */
export function latin1(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  const { buffer, byteOffset, length } = bytes.subarray(start, end);
  return Buffer.from(buffer, byteOffset, length).toString("latin1");
}

/** Joins the parts into one array. */
export function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const part of parts) length += part.length;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Tells whether both hold the same bytes. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false;
  return true;
}

/** Compares byte by byte, a prefix before what it starts: below, equal or above zero. */
export function compareBytes(one: Uint8Array, other: Uint8Array): number {
  const shared = Math.min(one.length, other.length);
  for (let i = 0; i < shared; i++) {
    const difference = (one[i] ?? 0) - (other[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}
