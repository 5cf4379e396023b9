import { sameBytes } from "./bytes.ts";
import { diffToMerge, type LineChange } from "./diff_lines.ts";
import type { DiffBudget } from "./myers.ts";
import type { Lines } from "./text.ts";

/** Conflicts closer than this many lines are one: two would be harder to read. */
const closeLines = 3;

/** Lines of the three texts that a change or conflict replaces; counted from 0. */
export interface Hunk {
  /** "same": both sides made the same change. */
  kind: "conflict" | "ours" | "theirs" | "same" | "both";
  base: number;
  baseCount: number;
  ours: number;
  oursCount: number;
  theirs: number;
  theirsCount: number;
}

/** The lines of the texts that are merged. */
export interface Sides {
  readonly base: Lines;
  readonly ours: Lines;
  readonly theirs: Lines;
}

/** Lays the changes of both sides over each other; those that overlap or touch become a conflict. */
export function overlay(
  sides: Sides,
  ours: readonly LineChange[],
  theirs: readonly LineChange[],
): Hunk[] {
  const hunks: Hunk[] = [];
  let [atOurs, atTheirs] = [0, 0];
  // How far a line after the last change of each side is from where it was in the base.
  let [shiftOurs, shiftTheirs] = [0, 0];
  for (;;) {
    const our = ours[atOurs];
    const their = theirs[atTheirs];
    if (our === undefined && their === undefined) return hunks;
    if (our !== undefined && (their === undefined || end(our) < their.a)) {
      append(hunks, oneSided("ours", our, our.a + shiftTheirs));
      shiftOurs = shift(our);
      atOurs++;
      continue;
    }
    if (their !== undefined && (our === undefined || end(their) < our.a)) {
      append(hunks, oneSided("theirs", their, their.a + shiftOurs));
      shiftTheirs = shift(their);
      atTheirs++;
      continue;
    }
    if (our === undefined || their === undefined) return hunks;
    if (!isSameChange(sides, our, their)) append(hunks, collision(our, their));
    if (end(our) <= end(their)) {
      shiftOurs = shift(our);
      atOurs++;
    }
    if (end(their) <= end(our)) {
      shiftTheirs = shift(their);
      atTheirs++;
    }
  }
}

function end({ a, aCount }: LineChange): number {
  return a + aCount;
}

function shift({ a, aCount, b, bCount }: LineChange): number {
  return b + bCount - a - aCount;
}

function oneSided(kind: "ours" | "theirs", change: LineChange, other: number): Hunk {
  const { a: base, aCount: baseCount, b, bCount } = change;
  return kind === "ours"
    ? { kind, base, baseCount, ours: b, oursCount: bCount, theirs: other, theirsCount: baseCount }
    : { kind, base, baseCount, ours: other, oursCount: baseCount, theirs: b, theirsCount: bCount };
}

/** The hunk that spans two changes that overlap or touch. */
function collision(our: LineChange, their: LineChange): Hunk {
  const base = Math.min(our.a, their.a);
  const baseEnd = Math.max(end(our), end(their));
  const ours = our.b - (our.a - base);
  const theirs = their.b - (their.a - base);
  return {
    kind: "conflict",
    base,
    baseCount: baseEnd - base,
    ours,
    oursCount: our.b + our.bCount + baseEnd - end(our) - ours,
    theirs,
    theirsCount: their.b + their.bCount + baseEnd - end(their) - theirs,
  };
}

/** Appends a hunk, or widens the last one by it when they touch. */
function append(hunks: Hunk[], hunk: Hunk): void {
  const last = hunks.at(-1);
  if (
    last === undefined ||
    (hunk.ours > last.ours + last.oursCount && hunk.theirs > last.theirs + last.theirsCount)
  ) {
    hunks.push(hunk);
    return;
  }
  if (hunk.kind !== last.kind) last.kind = "conflict";
  last.baseCount = hunk.base + hunk.baseCount - last.base;
  last.oursCount = hunk.ours + hunk.oursCount - last.ours;
  last.theirsCount = hunk.theirs + hunk.theirsCount - last.theirs;
}

function isSameChange({ ours, theirs }: Sides, our: LineChange, their: LineChange): boolean {
  if (our.a !== their.a || our.aCount !== their.aCount || our.bCount !== their.bCount) return false;
  return sameRun(ours, our.b, theirs, their.b, our.bCount);
}

/** Tells whether two runs of `count` lines are equal. */
export function sameRun(a: Lines, fromA: number, b: Lines, fromB: number, count: number): boolean {
  const startA = a.starts[fromA] ?? 0;
  const startB = b.starts[fromB] ?? 0;
  const length = (a.starts[fromA + count] ?? 0) - startA;
  if ((b.starts[fromB + count] ?? 0) - startB !== length) return false;
  for (let at = 0; at < length; at++) {
    if (a.bytes[startA + at] !== b.bytes[startB + at]) return false;
  }
  return true;
}

/** The bytes of a run of lines. */
export function runBytes(lines: Lines, from: number, count: number): Uint8Array {
  return lines.bytes.subarray(lines.starts[from], lines.starts[from + count]);
}

/** Cuts conflicts down to the lines in which the sides differ; what they have in common is none. */
export function refine(sides: Sides, hunks: readonly Hunk[], budget: DiffBudget): Hunk[] {
  return hunks.flatMap((hunk) => {
    if (hunk.kind !== "conflict" || hunk.oursCount === 0 || hunk.theirsCount === 0) return [hunk];
    const { changes } = diffToMerge(
      runBytes(sides.ours, hunk.ours, hunk.oursCount),
      runBytes(sides.theirs, hunk.theirs, hunk.theirsCount),
      budget,
    );
    if (changes.length === 0) return [{ ...hunk, kind: "same" }];
    return changes.map((change) => ({
      ...hunk,
      ours: hunk.ours + change.a,
      oursCount: change.aCount,
      theirs: hunk.theirs + change.b,
      theirsCount: change.bCount,
    }));
  });
}

/** Joins conflicts between which there are only a few lines. */
export function joinClose(hunks: readonly Hunk[]): Hunk[] {
  const joined: Hunk[] = [];
  for (const hunk of hunks) {
    const last = joined.at(-1);
    if (
      last?.kind === "conflict" && hunk.kind === "conflict" &&
      hunk.ours - (last.ours + last.oursCount) <= closeLines
    ) {
      last.oursCount = hunk.ours + hunk.oursCount - last.ours;
      last.theirsCount = hunk.theirs + hunk.theirsCount - last.theirs;
    } else {
      joined.push({ ...hunk });
    }
  }
  return joined;
}

/**
 * Makes conflicts of runs that both sides inserted in one place into the runs one after the other,
 * each whole: cut to their differences they would share a closing brace. A run that starts or ends
 * with all of the other stands for both.
 */
export function keepBothRuns(sides: Sides, hunks: readonly Hunk[]): void {
  for (const hunk of hunks) {
    if (hunk.kind !== "conflict") continue;
    if (endsLastLine(sides, hunk)) {
      hunk.base++, hunk.ours++, hunk.theirs++;
      hunk.baseCount--, hunk.oursCount--, hunk.theirsCount--;
    }
    if (hunk.baseCount > 0) continue;
    const [our, their] = [hunk.oursCount, hunk.theirsCount];
    const isWithin = our <= their
      ? holdsRun(sides.theirs, hunk.theirs, their, sides.ours, hunk.ours, our)
      : holdsRun(sides.ours, hunk.ours, our, sides.theirs, hunk.theirs, their);
    hunk.kind = !isWithin ? "both" : our <= their ? "theirs" : "ours";
  }
}

/** Tells whether both sides only wrote on after a last line that had no newline. */
function endsLastLine({ base, ours, theirs }: Sides, hunk: Hunk): boolean {
  if (hunk.baseCount !== 1 || hunk.base !== base.count - 1 || base.bytes.at(-1) === 10) {
    return false;
  }
  const last = runBytes(base, hunk.base, 1);
  const goesOn = (lines: Lines, from: number, count: number): boolean => {
    const line = runBytes(lines, from, 1);
    const newline = line.at(-2) === 13 ? 2 : 1;
    return count > 1 && sameBytes(line.subarray(0, line.length - newline), last);
  };
  return goesOn(ours, hunk.ours, hunk.oursCount) && goesOn(theirs, hunk.theirs, hunk.theirsCount);
}

/** Tells whether a run starts or ends with all of another. */
function holdsRun(
  lines: Lines,
  from: number,
  count: number,
  run: Lines,
  runFrom: number,
  runCount: number,
): boolean {
  return sameRun(lines, from, run, runFrom, runCount) ||
    sameRun(lines, from + count - runCount, run, runFrom, runCount);
}
