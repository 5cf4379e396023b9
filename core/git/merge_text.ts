import { concat, utf8 } from "./bytes.ts";
import { diffToMerge } from "./diff_lines.ts";
import {
  type Hunk,
  joinClose,
  keepBothRuns,
  overlay,
  refine,
  runBytes,
  type Sides,
} from "./merge_hunks.ts";
import type { DiffBudget } from "./myers.ts";
import type { Lines } from "./text.ts";

/** How conflicts are written, and which are not left as such. */
export interface TextMergeOptions {
  /** What the marker lines call the sides, as bytes. */
  readonly ours: Uint8Array;
  readonly theirs: Uint8Array;
  /** The number of signs in a marker line. */
  readonly markerSize: number;
  readonly budget: DiffBudget;
  /** Keeps runs that both sides inserted in one place, this side's first, instead of a conflict. */
  readonly keepBoth?: "ours" | "theirs" | undefined;
}

/** A merged text; `conflicts` counts its places between marker lines. */
export interface MergedText {
  readonly bytes: Uint8Array;
  readonly conflicts: number;
  /** Whether runs of both sides were kept, one after the other. */
  readonly keptBoth: boolean;
}

/**
 * Merges two texts that come from one, as git does: changes that overlap or touch are a conflict,
 * cut down to the lines in which they differ. Bytes outside conflicts are those of the sides.
 */
export function mergeText(
  base: Uint8Array,
  ours: Uint8Array,
  theirs: Uint8Array,
  options: TextMergeOptions,
): MergedText {
  const toOurs = diffToMerge(base, ours, options.budget);
  if (toOurs.changes.length === 0) return { bytes: theirs, conflicts: 0, keptBoth: false };
  const toTheirs = diffToMerge(base, theirs, options.budget);
  if (toTheirs.changes.length === 0) return { bytes: ours, conflicts: 0, keptBoth: false };
  const sides = { base: toOurs.a, ours: toOurs.b, theirs: toTheirs.b };
  const overlaid = overlay(sides, toOurs.changes, toTheirs.changes);
  if (options.keepBoth !== undefined) keepBothRuns(sides, overlaid);
  const hunks = joinClose(refine(sides, overlaid, options.budget));
  return {
    bytes: write(sides, hunks, options),
    conflicts: hunks.filter(({ kind }) => kind === "conflict").length,
    keptBoth: hunks.some(({ kind }) => kind === "both"),
  };
}

function write(sides: Sides, hunks: readonly Hunk[], options: TextMergeOptions): Uint8Array {
  const { ours, theirs } = sides;
  const parts: Uint8Array[] = [];
  let done = 0;
  for (const hunk of hunks) {
    if (hunk.kind === "same") continue;
    parts.push(runBytes(ours, done, hunk.ours - done));
    done = hunk.ours + hunk.oursCount;
    const own = runBytes(ours, hunk.ours, hunk.oursCount);
    const other = runBytes(theirs, hunk.theirs, hunk.theirsCount);
    if (hunk.kind === "ours") parts.push(own);
    else if (hunk.kind === "theirs") parts.push(other);
    else if (hunk.kind === "both" && options.keepBoth === "ours") {
      parts.push(ended(own, newlineOf(ours, hunk.ours)), other);
    } else if (hunk.kind === "both") {
      parts.push(ended(other, newlineOf(theirs, hunk.theirs)), own);
    } else {
      const newline = hasCarriageReturns(sides, hunk) ? "\r\n" : "\n";
      const marker = (sign: string) => utf8(sign.repeat(options.markerSize));
      parts.push(marker("<"), utf8(" "), options.ours, utf8(newline), ended(own, newline));
      parts.push(marker("="), utf8(newline), ended(other, newline));
      parts.push(marker(">"), utf8(" "), options.theirs, utf8(newline));
    }
  }
  parts.push(runBytes(ours, done, ours.count - done));
  return concat(parts);
}

/** Ends a run's last line, which may be a text's last, with a newline. */
function ended(run: Uint8Array, newline: string): Uint8Array {
  return run.length === 0 || run.at(-1) === 10 ? run : concat([run, utf8(newline)]);
}

/** Tells whether the lines around a hunk end in CR LF, as marker lines then do. */
function hasCarriageReturns({ base, ours, theirs }: Sides, hunk: Hunk): boolean {
  return endsInCarriageReturn(ours, Math.max(hunk.ours - 1, 0)) !== false &&
    endsInCarriageReturn(theirs, Math.max(hunk.theirs - 1, 0)) !== false &&
    endsInCarriageReturn(base, 0) === true;
}

/** Gives the newline that the text has just above a run. */
function newlineOf(lines: Lines, from: number): string {
  return endsInCarriageReturn(lines, Math.max(from - 1, 0)) === true ? "\r\n" : "\n";
}

/** Undefined when the text has no line that would tell. */
function endsInCarriageReturn(lines: Lines, index: number): boolean | undefined {
  const line = runBytes(lines, index, 1);
  if (line.at(-1) === 10) return line.at(-2) === 13;
  return index === 0 ? undefined : endsInCarriageReturn(lines, index - 1);
}
