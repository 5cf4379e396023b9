import { Buffer } from "node:buffer";
import { latin1 } from "./bytes.ts";
import type { Lines } from "./text.ts";

/** A text whose lines have numbers: lines that are equal, in whichever of the texts, have the same. */
export interface NumberedText extends Lines {
  readonly numbers: Int32Array;
}

const NEWLINE = 10;
const NO_TEXT: NumberedText = {
  bytes: new Uint8Array(),
  starts: new Uint32Array(1),
  count: 0,
  numbers: new Int32Array(),
};
/** Bytes are compared in pieces of this size first. */
const PIECE = 4096;
/** Past this many probes the slots are crowded on purpose, and a map with seeded hashes takes over. */
const PROBES = 48;

/** Numbers the lines of texts that follow each other in history: of one much like another only the rest is looked at. */
export class LineNumbers {
  #slots = new Int32Array(1 << 12).fill(-1);
  #hashes = new Int32Array(1 << 11);
  /** The lines, one after the other, and where each ends. */
  #bytes = new Uint8Array(1 << 16);
  #ends = new Uint32Array(1 << 11);
  readonly #crowded = new Map<string, number>();
  /** How many numbers there are. */
  distinct = 0;

  /** Numbers the lines of a text; those it starts and ends with as another does are not looked at. */
  number(bytes: Uint8Array, like: NumberedText = NO_TEXT): NumberedText {
    const head = commonStart(bytes, like.bytes);
    const end = bytes.length - commonEnd(bytes, like.bytes, head);
    const shift = like.bytes.length - bytes.length;
    const headLines = wholeLines(like, head, bytes.length);
    const starts: number[] = [];
    const numbers: number[] = [];
    let at = like.starts[headLines] ?? 0;
    let rest = lineAtOrBefore(like, Math.max(0, at + shift));
    while (at < end || like.starts[rest] !== at + shift) {
      const start = at;
      let hash = 0;
      for (let byte = 0; byte !== NEWLINE && at < bytes.length; at++) {
        byte = bytes[at] ?? 0;
        hash = Math.imul(hash ^ byte, 0x01000193);
      }
      starts.push(start);
      numbers.push(this.#find(bytes, start, at, hash ^ hash >>> 15));
      if (at >= end) rest = lineAtOrBefore(like, at + shift);
    }
    const tailAt = headLines + numbers.length;
    const count = tailAt + like.count - rest;
    const all = {
      bytes,
      count,
      starts: new Uint32Array(count + 1),
      numbers: new Int32Array(count),
    };
    all.numbers.set(like.numbers.subarray(0, headLines));
    all.numbers.set(numbers, headLines);
    all.numbers.set(like.numbers.subarray(rest), tailAt);
    all.starts.set(like.starts.subarray(0, headLines));
    all.starts.set(starts, headLines);
    for (let line = 0; line <= count - tailAt; line++) {
      all.starts[tailAt + line] = (like.starts[rest + line] ?? 0) - shift;
    }
    return all;
  }

  #find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let probes = 0; probes < PROBES; probes++, slot = (slot + 1) & mask) {
      const known = this.#slots[slot] ?? -1;
      if (known < 0) return this.#add(bytes, start, end, hash);
      if (this.#hashes[known] === hash && this.#isLine(known, bytes, start, end)) return known;
    }
    const text = latin1(bytes, start, end);
    const known = this.#crowded.get(text);
    if (known !== undefined) return known;
    const added = this.#add(bytes, start, end, hash);
    this.#crowded.set(text, added);
    return added;
  }

  #isLine(known: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = known === 0 ? 0 : this.#ends[known - 1] ?? 0;
    if ((this.#ends[known] ?? 0) - from !== end - start) return false;
    for (let at = start; at < end; at++) {
      if (this.#bytes[from + at - start] !== bytes[at]) return false;
    }
    return true;
  }

  #add(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const number = this.distinct++;
    const from = number === 0 ? 0 : this.#ends[number - 1] ?? 0;
    const to = from + end - start;
    if (to > this.#bytes.length) this.#bytes = copyInto(new Uint8Array(to * 2), this.#bytes);
    if (number === this.#ends.length) {
      this.#ends = copyInto(new Uint32Array(number * 2), this.#ends);
      this.#hashes = copyInto(new Int32Array(number * 2), this.#hashes);
    }
    this.#bytes.set(bytes.subarray(start, end), from);
    this.#ends[number] = to;
    this.#hashes[number] = hash;
    if (this.distinct * 2 > this.#slots.length) this.#spread();
    else this.#place(number);
    return number;
  }

  #spread(): void {
    this.#slots = new Int32Array(this.#slots.length * 2).fill(-1);
    for (let number = 0; number < this.distinct; number++) this.#place(number);
  }

  #place(number: number): void {
    const mask = this.#slots.length - 1;
    let slot = (this.#hashes[number] ?? 0) & mask;
    for (let probes = 0; probes < PROBES; probes++, slot = (slot + 1) & mask) {
      if ((this.#slots[slot] ?? -1) >= 0) continue;
      this.#slots[slot] = number;
      return;
    }
    this.#crowded.set(this.#textOf(number), number);
  }

  #textOf(number: number): string {
    return latin1(this.#bytes, number === 0 ? 0 : this.#ends[number - 1], this.#ends[number]);
  }
}

function copyInto<T extends Uint8Array | Uint32Array | Int32Array>(larger: T, all: T): T {
  larger.set(all);
  return larger;
}

/** The last line that starts at or before a place; past the last line, the number of lines. */
function lineAtOrBefore({ starts, count }: Lines, place: number): number {
  let from = 0;
  let to = count;
  while (from < to) {
    const middle = (from + to + 1) >>> 1;
    if ((starts[middle] ?? 0) <= place) from = middle;
    else to = middle - 1;
  }
  return from;
}

/** How many lines of a text are whole before a place up to which one of `length` bytes is the same. */
function wholeLines(text: Lines, place: number, length: number): number {
  const lines = lineAtOrBefore(text, place);
  const { bytes, count } = text;
  // A last line without its newline may go on in the other.
  const goesOn = lines === count && count > 0 && bytes.at(-1) !== NEWLINE && length > place;
  return goesOn ? lines - 1 : lines;
}

/** How many bytes two texts have in common at their starts. */
function commonStart(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (
    at + PIECE <= most &&
    Buffer.compare(a.subarray(at, at + PIECE), b.subarray(at, at + PIECE)) === 0
  ) at += PIECE;
  while (at < most && a[at] === b[at]) at++;
  return at;
}

/** How many bytes they have in common at their ends, without those before `from`. */
function commonEnd(a: Uint8Array, b: Uint8Array, from: number): number {
  const most = Math.min(a.length, b.length) - from;
  let same = 0;
  for (; same + PIECE <= most; same += PIECE) {
    const endA = a.length - same;
    const endB = b.length - same;
    const order = Buffer.compare(
      a.subarray(endA - PIECE, endA),
      b.subarray(endB - PIECE, endB),
    );
    if (order !== 0) break;
  }
  while (same < most && a[a.length - 1 - same] === b[b.length - 1 - same]) same++;
  return same;
}
