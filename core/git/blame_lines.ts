import type { NumberedText } from "./blame_text.ts";
import { slideRuns } from "./diff_slide.ts";
import { markChanges } from "./myers.ts";

/** Lines whose origin is looked for: where they are in the text asked about, and where in the one looked at; from 0. */
export interface Span {
  readonly line: number;
  readonly at: number;
  readonly count: number;
}

const BLOCK = 1024;
const NEW = -1;

/** Parts spans of a text into those an older text has as well, `at` being their lines there, and the rest. */
export function passLines(
  spans: readonly Span[],
  older: NumberedText,
  newer: NumberedText,
  distinct: number,
): { passed: Span[]; kept: Span[] } {
  const places = placesIn(older, newer, distinct);
  const passed: Span[] = [];
  const kept: Span[] = [];
  for (const { line, at, count } of spans) {
    for (let done = 0; done < count;) {
      const place = places[at + done] ?? NEW;
      let length = 1;
      if (place === NEW) {
        while (done + length < count && places[at + done + length] === NEW) length++;
        kept.push({ line: line + done, at: at + done, count: length });
      } else {
        while (done + length < count && places[at + done + length] === place + length) length++;
        passed.push({ line: line + done, at: place, count: length });
      }
      done += length;
    }
  }
  return { passed, kept };
}

/** Gives for each line of a text where an older one has it, or `NEW`. */
function placesIn(older: NumberedText, newer: NumberedText, distinct: number): Int32Array {
  const cut = commonEndLines(older, newer);
  const a = withoutEnd(older, cut);
  const b = withoutEnd(newer, cut);
  const marks = markChanges({ a: a.numbers, b: b.numbers, distinct });
  const sideA = { lines: a, numbers: a.numbers, marks: marks.a };
  const sideB = { lines: b, numbers: b.numbers, marks: marks.b };
  slideRuns(sideA, sideB, "readable");
  slideRuns(sideB, sideA, "readable");
  const places = new Int32Array(newer.count).fill(NEW);
  let place = 0;
  for (let line = 0; line < newer.count; line++) {
    if (marks.b[line] === 1 && line < b.count) continue;
    while (marks.a[place] === 1) place++;
    places[line] = place++;
  }
  return places;
}

function withoutEnd(text: NumberedText, lines: number): NumberedText {
  const count = text.count - lines;
  return {
    bytes: text.bytes,
    starts: text.starts.subarray(0, count + 1),
    count,
    numbers: text.numbers.subarray(0, count),
  };
}

/**
 * Counts the lines at the end that are left out of a comparison: both texts end with them, and they are in whole blocks
 * of that, but for the first. Git leaves them out where it shows no lines around a change, and which of several good
 * differences is found depends on it.
 */
function commonEndLines(a: NumberedText, b: NumberedText): number {
  const shorter = Math.min(a.count, b.count);
  let lines = 0;
  while (
    lines < shorter && a.numbers[a.count - 1 - lines] === b.numbers[b.count - 1 - lines]
  ) lines++;
  const blocks = Math.floor(commonEndBytes(a, b, lines) / BLOCK) * BLOCK;
  if (blocks === 0) return 0;
  let left = 0;
  // A line goes when the whole of it is in the blocks and it is not the first there.
  while (left < lines && a.bytes.length - (a.starts[a.count - 1 - left] ?? 0) < blocks) left++;
  return left;
}

/** How many bytes both texts end with, of which so many lines are known. */
function commonEndBytes(a: NumberedText, b: NumberedText, lines: number): number {
  let atA = a.starts[a.count - lines] ?? 0;
  let atB = b.starts[b.count - lines] ?? 0;
  const known = a.bytes.length - atA;
  const start = atA;
  while (atA > 0 && atB > 0 && a.bytes[atA - 1] === b.bytes[atB - 1]) atA--, atB--;
  return known + start - atA;
}
