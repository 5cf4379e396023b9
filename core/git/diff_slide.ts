import { indentOf, type Lines } from "./text.ts";

/** One side of a comparison whose runs of changed lines are to be put well. */
export interface Side {
  readonly lines: Lines;
  /** Equal lines have equal numbers. */
  readonly numbers: Int32Array;
  /** 1 where a line changed; one longer than the text. */
  readonly marks: Uint8Array;
}

/** A run of changed lines, perhaps empty, between two that did not change. */
interface Run {
  start: number;
  end: number;
}

/** No more than this many places for a run are weighed against each other. */
const slideLimit = 100;
const blankLimit = 20;

/**
 * Slides runs of changed lines, where equal lines let them, to where people expect them: onto a
 * run of the other side, else to a break in the indentation, else as far down as they go; runs
 * that meet become one. A text has the same difference before and after. For `place` "lowest",
 * as merges need it, the indentation has no say.
 */
export function slideRuns(side: Side, other: Side, place: "readable" | "lowest"): void {
  const run = firstRun(side);
  const counterpart = firstRun(other);
  do {
    if (run.end > run.start) placeRun(side, run, other, counterpart, place);
  } while (goOn(side, run) && goOn(other, counterpart));
}

function placeRun(
  side: Side,
  run: Run,
  other: Side,
  counterpart: Run,
  place: "readable" | "lowest",
): void {
  let length: number;
  let highest: number;
  let atCounterpart: boolean;
  do {
    length = run.end - run.start;
    while (slideUp(side, run)) goBack(other, counterpart);
    highest = run.end;
    atCounterpart = counterpart.end > counterpart.start;
    while (slideDown(side, run)) {
      goOn(other, counterpart);
      atCounterpart ||= counterpart.end > counterpart.start;
    }
    // Sliding joins runs that touch, and a longer run may slide further.
  } while (run.end - run.start !== length);
  if (run.end === highest) return;
  if (atCounterpart) {
    while (counterpart.end === counterpart.start && slideUp(side, run)) goBack(other, counterpart);
  } else if (place === "readable") {
    const end = bestEnd(side.lines, length, Math.max(highest, run.end - slideLimit), run.end);
    while (run.end > end && slideUp(side, run)) goBack(other, counterpart);
  }
}

function firstRun({ marks }: Side): Run {
  let end = 0;
  while (marks[end] === 1) end++;
  return { start: 0, end };
}

/** Goes to the next run; false after the last. */
function goOn({ lines, marks }: Side, run: Run): boolean {
  if (run.end >= lines.count) return false;
  run.start = run.end + 1;
  run.end = run.start;
  while (marks[run.end] === 1) run.end++;
  return true;
}

function goBack({ marks }: Side, run: Run): void {
  if (run.start === 0) return;
  run.end = run.start - 1;
  run.start = run.end;
  while (run.start > 0 && marks[run.start - 1] === 1) run.start--;
}

function slideUp({ numbers, marks }: Side, run: Run): boolean {
  if (run.start === 0 || numbers[run.start - 1] !== numbers[run.end - 1]) return false;
  marks[--run.start] = 1;
  marks[--run.end] = 0;
  while (run.start > 0 && marks[run.start - 1] === 1) run.start--;
  return true;
}

function slideDown({ lines, numbers, marks }: Side, run: Run): boolean {
  if (run.end >= lines.count || numbers[run.start] !== numbers[run.end]) return false;
  marks[run.start++] = 0;
  marks[run.end++] = 1;
  while (marks[run.end] === 1) run.end++;
  return true;
}

/** Finds the best end for a run of this length: the last of those whose two borders read best. */
function bestEnd(lines: Lines, length: number, from: number, to: number): number {
  let best = -1;
  let bestScore: Score | undefined;
  for (let end = Math.max(from, to - length - 1); end <= to; end++) {
    const score = add(scoreBorder(lines, end), scoreBorder(lines, end - length));
    if (bestScore === undefined || compare(score, bestScore) <= 0) {
      bestScore = score;
      best = end;
    }
  }
  return best;
}

/** How ill a place suits as a border: less indentation is better, then fewer points. */
interface Score {
  indent: number;
  points: number;
}

function add(one: Score, other: Score): Score {
  return { indent: one.indent + other.indent, points: one.points + other.points };
}

function compare(one: Score, other: Score): number {
  return 60 * Math.sign(one.indent - other.indent) + one.points - other.points;
}

/** The weights that git's indent heuristic was trained to. */
const points = {
  startOfFile: 1,
  endOfFile: 21,
  blank: -30,
  blankAfter: 6,
  deeper: { tight: -4, spaced: 10 },
  shallowerThanBoth: { tight: 24, spaced: 17 },
  shallower: { tight: 23, spaced: 17 },
} as const;

/** Scores the border just above a line. */
function scoreBorder(lines: Lines, line: number): Score {
  const isEnd = line >= lines.count;
  const own = isEnd ? -1 : indentOf(lines, line);
  const above = nearestText(lines, line - 1, -1);
  const below = nearestText(lines, line + 1, 1);
  const blanksBelow = own === -1 ? 1 + below.blanks : 0;
  const blanks = above.blanks + blanksBelow;
  const indent = own === -1 ? below.indent : own;
  let sum = points.blank * blanks + points.blankAfter * blanksBelow;
  if (above.indent === -1 && above.blanks === 0) sum += points.startOfFile;
  if (isEnd) sum += points.endOfFile;
  if (indent !== -1 && above.indent !== -1 && indent !== above.indent) {
    const kind = indent > above.indent
      ? points.deeper
      : below.indent > indent
      ? points.shallowerThanBoth
      : points.shallower;
    sum += blanks > 0 ? kind.spaced : kind.tight;
  }
  return { indent, points: sum };
}

/** Looks for a line that is not blank: its indentation, -1 when the text ends first, and how many blank ones were passed. */
function nearestText(lines: Lines, from: number, step: 1 | -1): { indent: number; blanks: number } {
  let blanks = 0;
  for (let line = from; line >= 0 && line < lines.count; line += step) {
    const indent = indentOf(lines, line);
    if (indent !== -1) return { indent, blanks };
    if (++blanks === blankLimit) return { indent: 0, blanks };
  }
  return { indent: -1, blanks };
}
