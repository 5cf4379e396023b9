import { type DiffBudget, markChanges, type Marks } from "./myers.ts";
import type { NumberedPair } from "./text.ts";

/** Lines that all occur more often than this say nothing about where texts belong together. */
const oftenLimit = 64;
/** Past this many steps the texts are made to be costly, and Myers' algorithm, which is bounded, does the rest. */
const workLimit = 3e7;

/** A part of both texts, from the start up to the end. */
interface Box {
  readonly startA: number;
  readonly endA: number;
  readonly startB: number;
  readonly endB: number;
}

/** Where the lines of a box are in its text a. */
interface Occurrences {
  /** By number: how often in the box, and the first place. */
  readonly counts: Int32Array;
  readonly firsts: Int32Array;
  /** By line: the next one that is equal, -1 after the last. */
  readonly nexts: Int32Array;
}

interface Search extends NumberedPair {
  readonly marks: Marks;
  readonly places: Occurrences;
  work: number;
  readonly budget: DiffBudget;
}

/**
 * Marks the lines that differ by the histogram method, as git does for merges: the longest run of
 * equal lines around the rarest one parts the texts, and both sides of it are compared likewise.
 * Equal runs of common lines, such as closing braces, do not tie unrelated parts together.
 */
export function markByHistogram(pair: NumberedPair, budget: DiffBudget): Marks {
  const { a, b, distinct } = pair;
  const search: Search = {
    ...pair,
    marks: { a: new Uint8Array(a.length + 1), b: new Uint8Array(b.length + 1) },
    places: {
      counts: new Int32Array(distinct),
      firsts: new Int32Array(distinct),
      nexts: new Int32Array(a.length),
    },
    work: 0,
    budget,
  };
  const boxes: Box[] = [{ startA: 0, endA: a.length, startB: 0, endB: b.length }];
  for (let box = boxes.pop(); box !== undefined; box = boxes.pop()) {
    const { startA, endA, startB, endB } = box;
    if (startA === endA || startB === endB) {
      markAll(search, box);
      continue;
    }
    const split = search.work > Math.min(workLimit, budget.left)
      ? "unclear"
      : findSplit(search, box);
    if (split === "none") markAll(search, box);
    else if (split === "unclear") markByMyers(search, box);
    else {
      boxes.push({ startA: split.endA, endA, startB: split.endB, endB });
      boxes.push({ startA, endA: split.startA, startB, endB: split.startB });
    }
  }
  budget.left -= search.work;
  return search.marks;
}

function markAll({ marks }: Search, { startA, endA, startB, endB }: Box): void {
  marks.a.fill(1, startA, endA);
  marks.b.fill(1, startB, endB);
}

/** Finds the run of equal lines that parts the box; "unclear" when what is equal occurs too often. */
function findSplit(search: Search, box: Box): Box | "none" | "unclear" {
  const { a, b, places: { counts, firsts, nexts } } = search;
  const { startA, endA, startB, endB } = box;
  for (let at = endA - 1; at >= startA; at--) {
    const number = a[at] ?? 0;
    const count = counts[number] ?? 0;
    nexts[at] = count === 0 ? -1 : firsts[number] ?? -1;
    firsts[number] = at;
    counts[number] = count + 1;
  }
  let best: Box | undefined;
  let bestLength = 1;
  let rarest = oftenLimit + 1;
  let hasEqual = false;
  let nextB = startB;
  for (let atB = startB; atB < endB; atB = nextB) {
    nextB = atB + 1;
    const number = b[atB] ?? 0;
    const count = counts[number] ?? 0;
    search.work++;
    if (count === 0) continue;
    hasEqual = true;
    if (count > rarest) continue;
    for (let atA = firsts[number] ?? -1; atA >= 0;) {
      const run = extend(search, box, atA, atB);
      nextB = Math.max(nextB, run.endB);
      const length = run.endA - run.startA;
      if (length > bestLength || run.rarest < rarest) {
        best = run;
        bestLength = length;
        rarest = run.rarest;
      }
      let next = nexts[atA] ?? -1;
      while (next >= 0 && next < run.endA) next = nexts[next] ?? -1;
      atA = next;
    }
  }
  for (let at = startA; at < endA; at++) counts[a[at] ?? 0] = 0;
  search.work += endA - startA;
  if (hasEqual && rarest > oftenLimit) return "unclear";
  return best ?? "none";
}

/** Extends a pair of equal lines to the run of equal lines around it, and tells how often its rarest occurs. */
function extend(search: Search, box: Box, atA: number, atB: number): Box & { rarest: number } {
  const { a, b, places: { counts } } = search;
  let rarest = counts[a[atA] ?? 0] ?? 0;
  let [startA, startB, endA, endB] = [atA, atB, atA + 1, atB + 1];
  while (startA > box.startA && startB > box.startB && a[startA - 1] === b[startB - 1]) {
    startA--;
    startB--;
    rarest = Math.min(rarest, counts[a[startA] ?? 0] ?? 0);
  }
  while (endA < box.endA && endB < box.endB && a[endA] === b[endB]) {
    rarest = Math.min(rarest, counts[a[endA] ?? 0] ?? 0);
    endA++;
    endB++;
  }
  search.work += endA - startA;
  return { startA, endA, startB, endB, rarest };
}

function markByMyers(search: Search, { startA, endA, startB, endB }: Box): void {
  const { counts } = search.places;
  const a = search.a.slice(startA, endA);
  const b = search.b.slice(startB, endB);
  // Numbered anew: tables as long as all numbers, for every box, would cost more than the search.
  let distinct = 0;
  const renumber = (line: number) => counts[line] ||= ++distinct;
  const numbersA = a.map((line) => renumber(line) - 1);
  const numbersB = b.map((line) => renumber(line) - 1);
  for (const line of a) counts[line] = 0;
  for (const line of b) counts[line] = 0;
  const found = markChanges({ a: numbersA, b: numbersB, distinct }, search.budget);
  search.marks.a.set(found.a.subarray(0, a.length), startA);
  search.marks.b.set(found.b.subarray(0, b.length), startB);
}
