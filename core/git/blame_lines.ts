import { diffLines, type LineChange } from "./diff_lines.ts";

/** Lines whose origin is looked for: where they are in the text asked about, and where in the one looked at; from 0. */
export interface Span {
  readonly line: number;
  readonly at: number;
  readonly count: number;
}

const BLOCK = 1024;
const NEWLINE = 10;

/** Parts spans of a text into those an older text has as well, `at` being their lines there, and the rest. */
export function passLines(
  spans: readonly Span[],
  older: Uint8Array,
  newer: Uint8Array,
): { passed: Span[]; kept: Span[] } {
  const { changes } = diffLines(...withoutCommonEnd(older, newer));
  const passed: Span[] = [];
  const kept: Span[] = [];
  let next = 0;
  for (const span of spans.toSorted((one, other) => one.at - other.at)) {
    const end = span.at + span.count;
    for (let at = span.at; at < end;) {
      while (endOf(changes[next]) <= at) next++;
      const change = changes[next];
      const line = span.line + at - span.at;
      const isKept = change !== undefined && change.b <= at;
      const stop = Math.min(end, isKept ? endOf(change) : change?.b ?? end);
      if (isKept) kept.push({ line, at, count: stop - at });
      else passed.push({ line, at: at + shiftAfter(changes[next - 1]), count: stop - at });
      at = stop;
    }
  }
  return { passed, kept };
}

function endOf(change: LineChange | undefined): number {
  return change === undefined ? Infinity : change.b + change.bCount;
}

/** How far from its place in the newer text a line after the change is in the older. */
function shiftAfter(change: LineChange | undefined): number {
  return change === undefined ? 0 : change.a + change.aCount - change.b - change.bCount;
}

/**
 * Leaves out what both texts end with, in whole blocks and up to a line's end, as git does where it shows no lines around
 * a change: which of several good differences is found depends on it.
 */
function withoutCommonEnd(a: Uint8Array, b: Uint8Array): [Uint8Array, Uint8Array] {
  const shorter = Math.min(a.length, b.length);
  let cut = 0;
  for (let same = 1; same <= shorter && a[a.length - same] === b[b.length - same]; same++) {
    if (same % BLOCK === 0) cut = same;
  }
  if (cut === 0) return [a, b];
  const newline = a.indexOf(NEWLINE, a.length - cut);
  const left = newline < 0 ? 0 : a.length - newline - 1;
  return [a.subarray(0, a.length - left), b.subarray(0, b.length - left)];
}
