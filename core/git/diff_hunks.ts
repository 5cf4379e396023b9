import { Buffer } from "node:buffer";
import { utf8 } from "./bytes.ts";
import type { LineChange, LineDiff } from "./diff_lines.ts";
import { isSpace, lineAt, type Lines } from "./text.ts";

const context = 3;
/** The longest context line of a hunk's header, in bytes. */
const headingLimit = 80;
const newline = 10;
const noNewline = utf8("\n\\ No newline at end of file\n");
const minus = 0x2d;
const plus = 0x2b;
const space = 0x20;

/** Gives the hunks of a unified diff, with three lines of context and the heading of each. */
export function formatHunks({ a, b, changes }: LineDiff): Uint8Array {
  const out = new Output(1 << 12);
  let heading: Uint8Array = new Uint8Array();
  let searched = -1;
  for (const group of groupChanges(changes)) {
    const first = group[0];
    const last = group.at(-1);
    if (first === undefined || last === undefined) continue;
    const startA = Math.max(0, first.a - context);
    const startB = Math.max(0, first.b - context);
    const after = Math.min(
      context,
      a.count - last.a - last.aCount,
      b.count - last.b - last.bCount,
    );
    const countA = last.a + last.aCount + after - startA;
    const countB = last.b + last.bCount + after - startB;
    heading = findHeading(a, startA - 1, searched) ?? heading;
    searched = startA - 1;
    const ranges = `@@ -${range(startA, countA)} +${range(startB, countB)} @@`;
    out.add(utf8(heading.length > 0 ? `${ranges} ` : ranges));
    out.add(heading);
    out.addByte(newline);
    let lineB = startB;
    for (const change of group) {
      lineB = pushLines(out, space, b, lineB, change.b);
      pushLines(out, minus, a, change.a, change.a + change.aCount);
      lineB = pushLines(out, plus, b, change.b, change.b + change.bCount);
    }
    pushLines(out, space, b, lineB, lineB + after);
  }
  return out.whole();
}

/** Bytes that are put together: a view of each line, of which there may be millions, would take more memory than they do. */
class Output {
  #bytes: Buffer;
  #length = 0;

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size);
  }

  addByte(byte: number): void {
    this.#room(1);
    this.#bytes[this.#length++] = byte;
  }

  add(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  addPart(bytes: Buffer, start: number, end: number): void {
    this.#room(end - start);
    bytes.copy(this.#bytes, this.#length, start, end);
    this.#length += end - start;
  }

  /** All of it, in memory of just its size. */
  whole(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(0, this.#length));
  }

  #room(more: number): void {
    const wanted = this.#length + more;
    if (wanted <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(wanted, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

/** Puts changes together whose context would touch. */
function groupChanges(changes: readonly LineChange[]): LineChange[][] {
  const groups: LineChange[][] = [];
  let end = -1;
  for (const change of changes) {
    const group = groups.at(-1);
    if (group !== undefined && change.a - end <= 2 * context) group.push(change);
    else groups.push([change]);
    end = change.a + change.aCount;
  }
  return groups;
}

function range(start: number, count: number): string {
  const line = count === 0 ? start : start + 1;
  return count === 1 ? `${line}` : `${line},${count}`;
}

function pushLines(out: Output, sign: number, lines: Lines, start: number, end: number): number {
  if (start >= end) return end;
  const { starts, bytes: { buffer, byteOffset, length } } = lines;
  const bytes = Buffer.from(buffer, byteOffset, length);
  for (let line = start; line < end; line++) {
    const lineEnd = starts[line + 1] ?? 0;
    out.addByte(sign);
    out.addPart(bytes, starts[line] ?? 0, lineEnd);
    if (bytes[lineEnd - 1] !== newline) out.add(noNewline);
  }
  return end;
}

/** Finds, going up, the line that names what a hunk is in: the nearest that begins with a letter, `_` or `$`. */
function findHeading(lines: Lines, from: number, stop: number): Uint8Array | undefined {
  for (let index = from; index > stop; index--) {
    if (!beginsHeading(lines.bytes[lines.starts[index] ?? 0])) continue;
    const line = lineAt(lines, index).subarray(0, headingLimit);
    let end = line.length;
    while (end > 0 && isSpace(line[end - 1])) end--;
    return line.subarray(0, validLength(line.subarray(0, end)));
  }
  return undefined;
}

function beginsHeading(byte = 0): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x5f ||
    byte === 0x24;
}

/** The number of bytes up to the first that is not UTF-8: git ends a heading there. */
function validLength(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const length = validCharacter(bytes, at);
    if (length === 0) break;
    at += length;
  }
  return at;
}

function validCharacter(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  const length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (lead > 0xf4) return 0;
  for (let index = 1; index < length; index++) {
    if (((bytes[at + index] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  const second = bytes[at + 1] ?? 0;
  if ((lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f)) return 0;
  if ((lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f)) return 0;
  const isNoncharacter = lead === 0xef && second === 0xbf && ((bytes[at + 2] ?? 0) & 0xfe) === 0xbe;
  return isNoncharacter ? 0 : length;
}
