import { slideRuns } from "./diff_slide.ts";
import { markByHistogram } from "./histogram.ts";
import { type DiffBudget, markChanges, type Marks } from "./myers.ts";
import { type Lines, type NumberedPair, numberLines, splitLines } from "./text.ts";

/** Lines of a from `a`, `aCount` of them, that became `bCount` lines of b from `b`; counted from 0. */
export interface LineChange {
  readonly a: number;
  readonly aCount: number;
  readonly b: number;
  readonly bCount: number;
}

/** Two texts by lines, and how the second differs. */
export interface LineDiff {
  readonly a: Lines;
  readonly b: Lines;
  readonly changes: readonly LineChange[];
}

/** Compares two texts line by line as `git diff` does by default. */
export function diffLines(a: Uint8Array, b: Uint8Array): LineDiff {
  return compareLines(a, b, markChanges, "readable");
}

/** Compares two texts line by line as git does when it merges, within a budget that many may share. */
export function diffToMerge(a: Uint8Array, b: Uint8Array, budget: DiffBudget): LineDiff {
  return compareLines(a, b, (pair) => markByHistogram(pair, budget), "lowest");
}

function compareLines(
  a: Uint8Array,
  b: Uint8Array,
  mark: (pair: NumberedPair) => Marks,
  place: "readable" | "lowest",
): LineDiff {
  const linesA = splitLines(a);
  const linesB = splitLines(b);
  if (a.length === 0 || b.length === 0) {
    // All of a file that came or went: there is nothing to compare, nor where to move it.
    const change = { a: 0, aCount: linesA.count, b: 0, bCount: linesB.count };
    return { a: linesA, b: linesB, changes: a.length === b.length ? [] : [change] };
  }
  const numbers = numberLines(linesA, linesB);
  const marks = mark(numbers);
  const sideA = { lines: linesA, numbers: numbers.a, marks: marks.a };
  const sideB = { lines: linesB, numbers: numbers.b, marks: marks.b };
  slideRuns(sideA, sideB, place);
  slideRuns(sideB, sideA, place);
  return { a: linesA, b: linesB, changes: collect(marks.a, marks.b) };
}

function collect(marksA: Uint8Array, marksB: Uint8Array): LineChange[] {
  const changes: LineChange[] = [];
  let a = 0;
  let b = 0;
  while (a < marksA.length || b < marksB.length) {
    const startA = a;
    const startB = b;
    while (marksA[a] === 1) a++;
    while (marksB[b] === 1) b++;
    if (a > startA || b > startB) {
      changes.push({ a: startA, aCount: a - startA, b: startB, bCount: b - startB });
    }
    a++;
    b++;
  }
  return changes;
}
