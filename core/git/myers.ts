import type { NumberedPair } from "./text.ts";

/** Which lines differ: 1 where a line of a (of b) has no counterpart. One longer than the text. */
export interface Marks {
  readonly a: Uint8Array;
  readonly b: Uint8Array;
}

/** What comparing texts may still cost, in steps; when nothing is left, any difference has to do. */
export interface DiffBudget {
  left: number;
}

/** A run this long of equal lines is a landmark that a costly search may stop at. */
const longRun = 20;
/** A search does not give up exactness below this cost, however small the texts. */
const cheapCost = 256;
/** Past this many steps the texts are made to be costly, and any difference has to do. */
const workLimit = 5e8;
/** How far, in lines a step, a landmark must lie to be worth stopping at. */
const landmarkPace = 4;
/** Lines seen more often than this are never told apart from noise by their number alone. */
const oftenLimit = 1024;
/** How many lines on either side say whether an often seen line stands among noise. */
const noiseWindow = 100;

/**
 * Marks the lines that differ, by Myers' O(ND) algorithm in linear space (1986), with the limits
 * that make git's diff of the same texts: lines without a counterpart are set aside first, and a
 * search that grows costly settles for a good cut. Time is about lines × √lines, and bounded.
 */
export function markChanges(
  { a, b, distinct }: NumberedPair,
  budget: DiffBudget = { left: workLimit },
): Marks {
  const marks = { a: new Uint8Array(a.length + 1), b: new Uint8Array(b.length + 1) };
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;

  const keptA = setAside(a, count(b, distinct), head, a.length - tail, marks.a);
  const keptB = setAside(b, count(a, distinct), head, b.length - tail, marks.b);
  compare(pick(a, keptA), pick(b, keptB), budget, (side, index) => {
    const line = (side === "a" ? keptA : keptB)[index] ?? 0;
    marks[side][line] = 1;
  });
  return marks;
}

function count(numbers: Int32Array, distinct: number): Int32Array {
  const counts = new Int32Array(distinct);
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] ?? 0;
    counts[number] = (counts[number] ?? 0) + 1;
  }
  return counts;
}

function pick(numbers: Int32Array, indexes: Int32Array): Int32Array {
  const picked = new Int32Array(indexes.length);
  for (let at = 0; at < indexes.length; at++) picked[at] = numbers[indexes[at] ?? 0] ?? 0;
  return picked;
}

const unmatched = 0;
const matched = 1;
const often = 2;

/** Marks lines that need no search, and gives the indexes of those that do. */
function setAside(
  numbers: Int32Array,
  countsThere: Int32Array,
  first: number,
  end: number,
  marks: Uint8Array,
): Int32Array {
  const manyCount = Math.min(coarseRoot(numbers.length), oftenLimit);
  const kinds = new Uint8Array(end - first);
  for (let at = 0; at < kinds.length; at++) {
    const there = countsThere[numbers[first + at] ?? 0] ?? 0;
    kinds[at] = there === 0 ? unmatched : there >= manyCount ? often : matched;
  }
  const kept = new Int32Array(kinds.length);
  let length = 0;
  for (let at = 0; at < kinds.length; at++) {
    const kind = kinds[at];
    if (kind === matched || (kind === often && !isNoise(kinds, at))) kept[length++] = first + at;
    else marks[first + at] = 1;
  }
  return kept.subarray(0, length);
}

/** A power of two near the square root. */
function coarseRoot(value: number): number {
  let root = 1;
  for (let rest = value; rest > 0; rest >>= 2) root *= 2;
  return root;
}

/** Tells whether an often seen line stands among lines that mostly have no counterpart. */
function isNoise(kinds: Uint8Array, at: number): boolean {
  const before = surroundings(kinds, at, -1);
  if (before.unmatched === 0) return false;
  const after = surroundings(kinds, at, 1);
  if (after.unmatched === 0) return false;
  const lonely = before.unmatched + after.unmatched;
  const crowd = before.often + after.often;
  return crowd * 3 < lonely;
}

function surroundings(kinds: Uint8Array, from: number, step: 1 | -1) {
  const seen = { unmatched: 0, often: 1 };
  for (let away = 1; away <= noiseWindow; away++) {
    const at = from + away * step;
    if (at < 0 || at >= kinds.length || kinds[at] === matched) break;
    if (kinds[at] === unmatched) seen.unmatched++;
    else seen.often++;
  }
  return seen;
}

/** One search in a box of the edit graph, with the two frontiers that grow towards each other. */
interface Search {
  readonly a: Int32Array;
  readonly b: Int32Array;
  /** The furthest line of a reached on each diagonal, whose index is i - j + `origin`. */
  readonly forward: Int32Array;
  readonly backward: Int32Array;
  readonly origin: number;
  readonly costLimit: number;
  readonly workLimit: number;
  /** The steps made so far, in all boxes. */
  work: number;
  startA: number;
  endA: number;
  startB: number;
  endB: number;
  forwardLow: number;
  forwardHigh: number;
  backwardLow: number;
  backwardHigh: number;
  /** Whether the last step went along a long run of equal lines. */
  ranLong: boolean;
  /** Where to cut the box, and whether each part must be searched exactly. */
  cutA: number;
  cutB: number;
  exactBefore: boolean;
  exactAfter: boolean;
}

const beyond = 0x7fffffff;

/** Compares by repeated cuts, on a stack of boxes instead of recursion: hostile texts nest deep. */
function compare(
  a: Int32Array,
  b: Int32Array,
  budget: DiffBudget,
  mark: (side: "a" | "b", index: number) => void,
): void {
  const diagonals = a.length + b.length + 3;
  const search: Search = {
    a,
    b,
    forward: new Int32Array(diagonals),
    backward: new Int32Array(diagonals),
    origin: b.length + 1,
    costLimit: Math.max(cheapCost, coarseRoot(diagonals)),
    workLimit: Math.min(workLimit, budget.left),
    work: 0,
    startA: 0,
    endA: 0,
    startB: 0,
    endB: 0,
    forwardLow: 0,
    forwardHigh: 0,
    backwardLow: 0,
    backwardHigh: 0,
    ranLong: false,
    cutA: 0,
    cutB: 0,
    exactBefore: false,
    exactAfter: false,
  };
  const boxes = [{ startA: 0, endA: a.length, startB: 0, endB: b.length, exact: false }];
  for (let box = boxes.pop(); box !== undefined; box = boxes.pop()) {
    let { startA, endA, startB, endB } = box;
    while (startA < endA && startB < endB && a[startA] === b[startB]) startA++, startB++;
    while (startA < endA && startB < endB && a[endA - 1] === b[endB - 1]) endA--, endB--;
    if (startA === endA) {
      for (let at = startB; at < endB; at++) mark("b", at);
    } else if (startB === endB) {
      for (let at = startA; at < endA; at++) mark("a", at);
    } else {
      search.startA = startA;
      search.endA = endA;
      search.startB = startB;
      search.endB = endB;
      cut(search, box.exact);
      const { cutA, cutB, exactBefore, exactAfter } = search;
      boxes.push({ startA: cutA, endA, startB: cutB, endB, exact: exactAfter });
      boxes.push({ startA, endA: cutA, startB, endB: cutB, exact: exactBefore });
    }
  }
  budget.left -= search.work;
}

/** Finds where a shortest (or, when that is costly and `exact` is false, a short) path passes. */
function cut(search: Search, exact: boolean): void {
  const { startA, endA, startB, endB, origin } = search;
  const first = startA - startB + origin;
  const last = endA - endB + origin;
  search.forward[first] = startA;
  search.backward[last] = endA;
  search.forwardLow = search.forwardHigh = first;
  search.backwardLow = search.backwardHigh = last;
  search.exactBefore = search.exactAfter = true;
  const meetsForward = ((first - last) & 1) === 1;
  for (let cost = 1;; cost++) {
    search.ranLong = false;
    if (stepForward(search, meetsForward) || stepBackward(search, !meetsForward)) return;
    if (search.work > search.workLimit) return cutAtFurthest(search);
    if (exact) continue;
    if (search.ranLong && cost > cheapCost) {
      if (cutAtLandmark(search, cost, first, last)) return;
    }
    if (cost >= search.costLimit) return cutAtFurthest(search);
  }
}

function stepForward(search: Search, mayMeet: boolean): boolean {
  const { a, b, forward, backward, origin, startA, endA, startB, endB } = search;
  if (search.forwardLow > startA - endB + origin) forward[--search.forwardLow - 1] = -1;
  else search.forwardLow++;
  if (search.forwardHigh < endA - startB + origin) forward[++search.forwardHigh + 1] = -1;
  else search.forwardHigh--;
  const { forwardLow, forwardHigh, backwardLow, backwardHigh } = search;
  let work = 0;
  for (let diagonal = forwardHigh; diagonal >= forwardLow; diagonal -= 2) {
    const below = forward[diagonal - 1] ?? 0;
    const above = forward[diagonal + 1] ?? 0;
    const from = below >= above ? below + 1 : above;
    let atA = from;
    let atB = from - diagonal + origin;
    while (atA < endA && atB < endB && a[atA] === b[atB]) atA++, atB++;
    work += 1 + atA - from;
    if (atA - from > longRun) search.ranLong = true;
    forward[diagonal] = atA;
    if (
      mayMeet && diagonal >= backwardLow && diagonal <= backwardHigh &&
      (backward[diagonal] ?? 0) <= atA
    ) {
      search.cutA = atA;
      search.cutB = atB;
      return true;
    }
  }
  search.work += work;
  return false;
}

function stepBackward(search: Search, mayMeet: boolean): boolean {
  const { a, b, forward, backward, origin, startA, endA, startB, endB } = search;
  if (search.backwardLow > startA - endB + origin) backward[--search.backwardLow - 1] = beyond;
  else search.backwardLow++;
  if (search.backwardHigh < endA - startB + origin) backward[++search.backwardHigh + 1] = beyond;
  else search.backwardHigh--;
  const { forwardLow, forwardHigh, backwardLow, backwardHigh } = search;
  let work = 0;
  for (let diagonal = backwardHigh; diagonal >= backwardLow; diagonal -= 2) {
    const below = backward[diagonal - 1] ?? 0;
    const above = backward[diagonal + 1] ?? 0;
    const from = below < above ? below : above - 1;
    let atA = from;
    let atB = from - diagonal + origin;
    while (atA > startA && atB > startB && a[atA - 1] === b[atB - 1]) atA--, atB--;
    work += 1 + from - atA;
    if (from - atA > longRun) search.ranLong = true;
    backward[diagonal] = atA;
    if (
      mayMeet && diagonal >= forwardLow && diagonal <= forwardHigh &&
      atA <= (forward[diagonal] ?? 0)
    ) {
      search.cutA = atA;
      search.cutB = atB;
      return true;
    }
  }
  search.work += work;
  return false;
}

/** Cuts at the furthest point, off its straight way, that ends a long run of equal lines. */
function cutAtLandmark(search: Search, cost: number, first: number, last: number): boolean {
  const { a, b, forward, backward, origin, startA, endA, startB, endB } = search;
  let best = 0;
  for (let diagonal = search.forwardHigh; diagonal >= search.forwardLow; diagonal -= 2) {
    const atA = forward[diagonal] ?? 0;
    const atB = atA - diagonal + origin;
    const gain = atA - startA + (atB - startB) - Math.abs(diagonal - first);
    if (gain <= landmarkPace * cost || gain <= best) continue;
    if (atA < startA + longRun || atA >= endA || atB < startB + longRun || atB >= endB) continue;
    if (!areEqual(a, atA - longRun, b, atB - longRun)) continue;
    best = gain;
    search.cutA = atA;
    search.cutB = atB;
    search.exactAfter = false;
  }
  if (best > 0) return true;
  for (let diagonal = search.backwardHigh; diagonal >= search.backwardLow; diagonal -= 2) {
    const atA = backward[diagonal] ?? 0;
    const atB = atA - diagonal + origin;
    const gain = endA - atA + (endB - atB) - Math.abs(diagonal - last);
    if (gain <= landmarkPace * cost || gain <= best) continue;
    if (atA <= startA || atA > endA - longRun || atB <= startB || atB > endB - longRun) continue;
    if (!areEqual(a, atA, b, atB)) continue;
    best = gain;
    search.cutA = atA;
    search.cutB = atB;
    search.exactBefore = false;
  }
  return best > 0;
}

function areEqual(a: Int32Array, fromA: number, b: Int32Array, fromB: number): boolean {
  for (let at = 0; at < longRun; at++) if (a[fromA + at] !== b[fromB + at]) return false;
  return true;
}

/** Gives up on exactness: cuts at the point that either frontier brought furthest. */
function cutAtFurthest(search: Search): void {
  const { forward, backward, origin, startA, endA, startB, endB } = search;
  let forwardSum = -1;
  let forwardA = -1;
  for (let diagonal = search.forwardHigh; diagonal >= search.forwardLow; diagonal -= 2) {
    const slope = diagonal - origin;
    const atA = Math.min(forward[diagonal] ?? 0, endA, endB + slope);
    if (atA + atA - slope > forwardSum) {
      forwardSum = atA + atA - slope;
      forwardA = atA;
    }
  }
  let backwardSum = beyond;
  let backwardA = beyond;
  for (let diagonal = search.backwardHigh; diagonal >= search.backwardLow; diagonal -= 2) {
    const slope = diagonal - origin;
    const atA = Math.max(backward[diagonal] ?? 0, startA, startB + slope);
    if (atA + atA - slope < backwardSum) {
      backwardSum = atA + atA - slope;
      backwardA = atA;
    }
  }
  if (endA + endB - backwardSum < forwardSum - startA - startB) {
    search.cutA = forwardA;
    search.cutB = forwardSum - forwardA;
    search.exactAfter = false;
  } else {
    search.cutA = backwardA;
    search.cutB = backwardSum - backwardA;
    search.exactBefore = false;
  }
}
