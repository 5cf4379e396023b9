import type { Oid } from "./object.ts";
import { OID_BYTES, oidAt } from "./oid.ts";

/** How many kinds of three bytes are told apart. */
export const BUCKETS = 1 << 17;

/** What a search index keeps: blobs by numbers, and for each kind of three bytes which of them hold it. */
export interface TrigramColumns {
  /** How many blobs have numbers. */
  readonly count: number;
  /** 20 bytes a blob. */
  readonly oids: Uint8Array;
  /** One byte a blob: 1 for text, 0 for what is not searched. */
  readonly kinds: Uint8Array;
  /** Where the list of each bucket starts in `lists`, and one more: where the last ends. */
  readonly starts: Uint32Array;
  /** The numbers of blobs, rising, each as its distance from the one before: seven bits a byte, the lowest first. */
  readonly lists: Uint8Array;
  /** Reads one bucket's list and nothing else. */
  list(bucket: number): Uint8Array;
}

/** An index of nothing. */
export const NO_TRIGRAMS: TrigramColumns = {
  count: 0,
  oids: new Uint8Array(),
  kinds: new Uint8Array(),
  starts: new Uint32Array(BUCKETS + 1),
  lists: new Uint8Array(),
  list: () => new Uint8Array(),
};

/** The rarest of a text's buckets that are looked at; more rule out little. */
const LOOKED_AT = 6;
const NEWLINE = 10;
const BEYOND_ASCII = /\P{ASCII}/u;

/** Tells which blobs a search need not read. */
export class TrigramIndex {
  readonly columns: TrigramColumns;
  #numbers: Map<Oid, number> | undefined;

  constructor(columns: TrigramColumns) {
    this.columns = columns;
  }

  /** Whether the index knows a blob. */
  has(oid: Oid): boolean {
    return this.#all().has(oid);
  }

  /** Gives what tells of a blob whether it may hold the text in any case; undefined when the index does not know it. */
  holders(text: string): (oid: Oid) => boolean | undefined {
    const numbers = this.#all();
    const { kinds } = this.columns;
    const marks = this.#mark(bucketsOf(text));
    return (oid) => {
      const number = numbers.get(oid);
      if (number === undefined) return undefined;
      return kinds[number] === 1 && (marks === undefined || marks[number] === 1);
    };
  }

  /** Marks the blobs that are in all the lists with 1; undefined when there is none to go by. */
  #mark(buckets: readonly number[]): Uint8Array | undefined {
    const lists = buckets.map((bucket) => this.columns.list(bucket))
      .sort((one, other) => one.length - other.length).slice(0, LOOKED_AT);
    if (lists.length === 0) return undefined;
    const marks = new Uint8Array(this.columns.count);
    lists.forEach((list, before) => {
      eachNumber(list, (number) => {
        if (marks[number] === before) marks[number] = before + 1;
      });
    });
    return marks.map((mark) => mark === lists.length ? 1 : 0);
  }

  #all(): Map<Oid, number> {
    if (this.#numbers !== undefined) return this.#numbers;
    const { count, oids } = this.columns;
    const numbers = new Map<Oid, number>();
    for (let at = 0; at < count; at++) numbers.set(oidAt(oids, at * OID_BYTES), at);
    return this.#numbers = numbers;
  }
}

/** The buckets that a text is in which holds this one in any case. */
function bucketsOf(text: string): number[] {
  // Beside letters beyond ASCII, k and s are found as signs beyond it too.
  const folded = BEYOND_ASCII.test(text)
    ? text.replace(/\P{ASCII}/gu, "\n").replace(/[ks]/gi, "\n")
    : text;
  const codes = Uint8Array.from(folded, (letter) => fold(letter.charCodeAt(0)));
  const buckets = new Set<number>();
  for (let at = 2; at < codes.length; at++) {
    const bucket = bucketAt(codes, at);
    if (bucket >= 0) buckets.add(bucket);
  }
  return [...buckets];
}

/** The bucket of the three bytes, folded, that end at `at`; -1 across lines. */
export function bucketAt(bytes: Uint8Array, at: number): number {
  const a = bytes[at - 2] ?? 0;
  const b = bytes[at - 1] ?? 0;
  const c = bytes[at] ?? 0;
  if (a === NEWLINE || b === NEWLINE || c === NEWLINE) return -1;
  return Math.imul(fold(a) << 16 | fold(b) << 8 | fold(c), 0x9e3779b1) >>> 15;
}

/** A byte in lower case if it is a letter of ASCII. */
function fold(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}

/** Goes through the numbers of a list. */
export function eachNumber(list: Uint8Array, visit: (number: number) => void): void {
  let number = -1;
  for (let at = 0; at < list.length;) {
    let step = 0;
    let scale = 1;
    let byte = list[at++] ?? 0;
    for (; byte >= 0x80; byte = list[at++] ?? 0) {
      step += (byte & 0x7f) * scale;
      scale *= 128;
    }
    number += step + byte * scale;
    visit(number);
  }
}
