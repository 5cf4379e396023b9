import { CorruptError } from "../errors.ts";
import { decodeCid, formatCid } from "./cid.ts";
import { MAX_DEPTH, setKey } from "./data.ts";
import type { JsonObject } from "./json.ts";

const LINK_TAG = 42;

/**
 * Decodes one item of DAG-CBOR as the AT Protocol's data model has it, to the values records are in memory. Strict: the
 * shortest forms, sorted and unique text keys, definite lengths, no floats, nothing after the item; else a CorruptError.
 */
export function decodeCbor(bytes: Uint8Array): unknown {
  const reader = new Reader(bytes);
  const value = readItem(reader, 0);
  if (reader.at !== bytes.length) throw broken("has bytes after its end");
  return value;
}

function broken(why: string): CorruptError {
  return new CorruptError(`a block ${why}`);
}

/** Walks over the bytes; never past their end. */
class Reader {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.at;
  }

  take(count: number): Uint8Array {
    if (count > this.left) throw broken("ends too early");
    this.at += count;
    return this.#bytes.subarray(this.at - count, this.at);
  }

  /** What was taken since `start`. */
  since(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.at);
  }

  text(count: number): string {
    const bytes = this.take(count);
    try {
      return this.#text.decode(bytes);
    } catch {
      throw broken("holds text that is not UTF-8");
    }
  }

  /** The major type and the argument after it. */
  head(): { major: number; info: number; value: number } {
    const [first = 0] = this.take(1);
    const info = first & 31;
    return { major: first >> 5, info, value: info < 24 ? info : this.#argument(info) };
  }

  #argument(info: number): number {
    if (info > 27) throw broken("has an item of no definite length");
    const size = 1 << (info - 24);
    let value = 0;
    for (const byte of this.take(size)) value = value * 256 + byte;
    if (!Number.isSafeInteger(value)) throw broken("holds an integer over 2^53");
    if (value < (size === 1 ? 24 : 2 ** (size * 4))) throw broken("is not in its shortest form");
    return value;
  }
}

function readItem(reader: Reader, depth: number): unknown {
  if (depth > MAX_DEPTH) throw broken("is nested too deeply");
  const { major, info, value } = reader.head();
  switch (major) {
    case 0:
      return value;
    case 1:
      if (value === Number.MAX_SAFE_INTEGER) throw broken("holds an integer over 2^53");
      return -1 - value;
    case 2:
      return reader.take(value).slice();
    case 3:
      return reader.text(value);
    case 4:
      return readArray(reader, value, depth);
    case 5:
      return readMap(reader, value, depth);
    case 6:
      return readLink(reader, value);
    default:
      return readSimple(info);
  }
}

function readSimple(info: number): boolean | null {
  if (info === 20) return false;
  if (info === 21) return true;
  if (info === 22) return null;
  throw broken("holds a value outside the data model");
}

function readArray(reader: Reader, length: number, depth: number): unknown[] {
  if (length > reader.left) throw broken("ends too early");
  return Array.from({ length }, () => readItem(reader, depth + 1));
}

function readMap(reader: Reader, length: number, depth: number): JsonObject {
  if (length * 2 > reader.left) throw broken("ends too early");
  const map: JsonObject = {};
  let before: Uint8Array | undefined;
  for (let i = 0; i < length; i++) {
    const start = reader.at;
    const { major, value } = reader.head();
    if (major !== 3) throw broken("has a key that is not text");
    const key = reader.text(value);
    const encoded = reader.since(start);
    if (before !== undefined && compareKeys(before, encoded) >= 0) {
      throw broken("has keys out of order");
    }
    before = encoded;
    setKey(map, key, readItem(reader, depth + 1));
  }
  return map;
}

/** The order of DAG-CBOR's keys: shorter first, then by their bytes. An encoded key starts with its length. */
function compareKeys(a: Uint8Array, b: Uint8Array): number {
  if (a.length !== b.length) return a.length - b.length;
  for (const [i, byte] of a.entries()) {
    const other = b[i] ?? 0;
    if (byte !== other) return byte - other;
  }
  return 0;
}

function readLink(reader: Reader, tag: number): { $link: string } {
  const { major, value } = reader.head();
  if (tag !== LINK_TAG || major !== 2) throw broken("has a tag outside the data model");
  const bytes = reader.take(value);
  const cid = bytes[0] === 0 ? decodeCid(bytes.subarray(1)) : undefined;
  if (cid === undefined) throw broken("holds a link that is not a CID");
  return { $link: formatCid(cid) };
}
