import { latin1 } from "./bytes.ts";

const newline = 10;
const carriageReturn = 13;

/** A text cut into lines; a line keeps its newline, which the last may lack. */
export interface Lines {
  readonly bytes: Uint8Array;
  /** Where each line starts, and one more: where the last ends. */
  readonly starts: Uint32Array;
  readonly count: number;
}

/** Tells whether git would take these bytes for binary: a NUL among the first 8000. */
export function isBinary(bytes: Uint8Array): boolean {
  const head = bytes.length > 8000 ? bytes.subarray(0, 8000) : bytes;
  return head.includes(0);
}

/** Cuts bytes into lines at each newline. */
export function splitLines(bytes: Uint8Array): Lines {
  let starts = new Uint32Array(Math.max(16, bytes.length >> 5));
  let count = 0;
  let start = 0;
  while (start < bytes.length) {
    if (count + 1 >= starts.length) {
      const grown = new Uint32Array(starts.length * 2);
      grown.set(starts);
      starts = grown;
    }
    starts[count++] = start;
    const end = bytes.indexOf(newline, start);
    start = end < 0 ? bytes.length : end + 1;
  }
  starts[count] = bytes.length;
  return { bytes, starts: starts.subarray(0, count + 1), count };
}

/** The bytes of one line, its newline included. */
export function lineAt(lines: Lines, index: number): Uint8Array {
  return lines.bytes.subarray(lines.starts[index], lines.starts[index + 1]);
}

/** The number of lines; a last line without a newline counts. */
export function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) count++;
  return bytes.length > 0 && bytes[bytes.length - 1] !== newline ? count + 1 : count;
}

/** Two texts whose lines are numbered: equal lines, wherever they are, have one number. */
export interface NumberedPair {
  readonly a: Int32Array;
  readonly b: Int32Array;
  /** How many numbers there are. */
  readonly distinct: number;
}

/** Numbers the lines of two texts. */
export function numberLines(a: Lines, b: Lines): NumberedPair {
  const table = new LineTable(a, b);
  const numbersA = new Int32Array(a.count);
  table.number(a, numbersA, 0, a.count);
  const numbersB = new Int32Array(b.count);
  // Most of two versions of a file is the same at both ends.
  const { head, tail } = table.sameEnds();
  numbersB.set(numbersA.subarray(0, head));
  table.number(b, numbersB, head, b.count - tail);
  numbersB.set(numbersA.subarray(a.count - tail), b.count - tail);
  return { a: numbersA, b: numbersB, distinct: table.distinct };
}

/** Past this many probes the slots are crowded on purpose, and a map with seeded hashes takes over. */
const probeLimit = 48;

class LineTable {
  readonly #a: Lines;
  readonly #b: Lines;
  readonly #viewA: DataView;
  readonly #viewB: DataView;
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #hashes: Int32Array;
  /** Where a number was first given: a line of a, or past those a line of b. */
  readonly #firsts: Int32Array;
  readonly #crowded = new Map<string, number>();
  distinct = 0;

  constructor(a: Lines, b: Lines) {
    const lines = a.count + b.count;
    let size = 16;
    while (size < lines * 2) size *= 2;
    this.#a = a;
    this.#b = b;
    this.#viewA = viewOf(a);
    this.#viewB = viewOf(b);
    this.#slots = new Int32Array(size).fill(-1);
    this.#mask = size - 1;
    this.#hashes = new Int32Array(lines);
    this.#firsts = new Int32Array(lines);
  }

  /** Numbers the lines from `from` on, below `to`. */
  number(lines: Lines, numbers: Int32Array, from: number, to: number): void {
    const { bytes, starts } = lines;
    const view = this.#viewOf(lines);
    const offset = lines === this.#b ? this.#a.count : 0;
    let start = starts[from] ?? 0;
    for (let index = from; index < to; index++) {
      const end = starts[index + 1] ?? 0;
      let hash = 0;
      let at = start;
      // Four bytes at once take a quarter of the time.
      for (; at + 4 <= end; at += 4) hash = mix(hash, view.getInt32(at, true));
      for (; at < end; at++) hash = mix(hash, bytes[at] ?? 0);
      numbers[index] = this.#find(lines, index, hash ^ (hash >>> 15), offset);
      start = end;
    }
  }

  /** How many whole lines both texts begin and end with. */
  sameEnds(): { head: number; tail: number } {
    const a = this.#a;
    const b = this.#b;
    const shorter = Math.min(a.bytes.length, b.bytes.length);
    let same = 0;
    while (same + 4 <= shorter && this.#viewA.getInt32(same) === this.#viewB.getInt32(same)) {
      same += 4;
    }
    while (same < shorter && a.bytes[same] === b.bytes[same]) same++;
    let head = 0;
    const fewer = Math.min(a.count, b.count);
    while (head < fewer && endsAlike(a, b, head, same)) head++;
    let left = shorter - (a.starts[head] ?? 0);
    let [endA, endB] = [a.bytes.length, b.bytes.length];
    while (left >= 4 && this.#viewA.getInt32(endA - 4) === this.#viewB.getInt32(endB - 4)) {
      endA -= 4;
      endB -= 4;
      left -= 4;
    }
    while (left > 0 && a.bytes[endA - 1] === b.bytes[endB - 1]) {
      endA--;
      endB--;
      left--;
    }
    let tail = 0;
    // The byte before such a line is among those that are the same, and ends a line in both.
    while (
      tail < fewer - head && (a.starts[a.count - 1 - tail] ?? 0) > endA &&
      (b.starts[b.count - 1 - tail] ?? 0) > endB
    ) tail++;
    return { head, tail };
  }

  #find(lines: Lines, index: number, hash: number, offset: number): number {
    let slot = hash & this.#mask;
    for (let probes = 0; probes < probeLimit; probes++, slot = (slot + 1) & this.#mask) {
      const known = this.#slots[slot] ?? -1;
      if (known < 0) return this.#slots[slot] = this.#add(index + offset, hash);
      if (this.#hashes[known] === hash && this.#isLine(known, lines, index)) return known;
    }
    const text = latin1(lineAt(lines, index));
    const known = this.#crowded.get(text);
    if (known !== undefined) return known;
    const added = this.#add(index + offset, hash);
    this.#crowded.set(text, added);
    return added;
  }

  #add(first: number, hash: number): number {
    this.#hashes[this.distinct] = hash;
    this.#firsts[this.distinct] = first;
    return this.distinct++;
  }

  #isLine(known: number, lines: Lines, index: number): boolean {
    const first = this.#firsts[known] ?? 0;
    const isOfA = first < this.#a.count;
    const from = isOfA ? this.#a : this.#b;
    const line = isOfA ? first : first - this.#a.count;
    const start = from.starts[line] ?? 0;
    const length = (from.starts[line + 1] ?? 0) - start;
    const other = lines.starts[index] ?? 0;
    if ((lines.starts[index + 1] ?? 0) - other !== length) return false;
    const [view, otherView] = [isOfA ? this.#viewA : this.#viewB, this.#viewOf(lines)];
    let at = 0;
    for (; at + 4 <= length; at += 4) {
      if (view.getInt32(start + at) !== otherView.getInt32(other + at)) return false;
    }
    for (; at < length; at++) if (from.bytes[start + at] !== lines.bytes[other + at]) return false;
    return true;
  }

  #viewOf(lines: Lines): DataView {
    return lines === this.#b ? this.#viewB : this.#viewA;
  }
}

/** Tells whether a line ends in both texts at one place, in the part that is the same. */
function endsAlike(a: Lines, b: Lines, line: number, same: number): boolean {
  const end = a.starts[line + 1] ?? 0;
  return end <= same && b.starts[line + 1] === end;
}

function viewOf({ bytes: { buffer, byteOffset, length } }: Lines): DataView {
  return new DataView(buffer, byteOffset, length);
}

function mix(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

const tab = 9;
const space = 32;

/** Tells git's white space, which lacks form feed and vertical tab. */
export function isSpace(byte: number | undefined): boolean {
  return byte === space || byte === tab || byte === newline || byte === carriageReturn;
}

/** The column of a line's first character that is not white space, at most 200; -1 for a blank line. */
export function indentOf(lines: Lines, index: number): number {
  const end = lines.starts[index + 1] ?? 0;
  let column = 0;
  for (let at = lines.starts[index] ?? 0; at < end; at++) {
    const byte = lines.bytes[at];
    if (!isSpace(byte)) return column;
    if (byte === space) column++;
    else if (byte === tab) column += 8 - (column % 8);
    if (column >= 200) return 200;
  }
  return -1;
}
