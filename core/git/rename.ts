import { latin1 } from "./bytes.ts";
import type { FileChange, FileSide } from "./diff_tree.ts";
import type { ObjectReader } from "./object.ts";
import { fullScore, Scorer } from "./rename_score.ts";
import type { Found } from "./walk.ts";

/** Half alike is enough for a rename. */
export const least = fullScore / 2;
/** When names are unique on both sides, this score is enough, without looking further. */
export const leastByName = fullScore * 3 / 4;
/** Files are compared all with all up to the square of this. */
const limit = 1000;
/** How many files of one content are looked at for one of the same name. */
export const twinLimit = 100;
/** How many of the files likest to one are kept for the last choice. */
const candidateLimit = 4;

/** A file that went or came, the last part of its path, and whether a pair of both was found for it. */
export interface Loose {
  readonly file: Found;
  readonly name: string;
  isPaired: boolean;
}

/** What went and what came, in git's order, and the pairs found so far; scores are parts of `fullScore`. */
export interface Pairing<L extends Loose = Loose> {
  readonly from: readonly L[];
  readonly to: readonly L[];
  readonly pairs: { readonly from: L; readonly to: L; readonly score: number }[];
}

/** A file with its path that went or came. */
export interface LooseSide extends Loose {
  readonly file: FileSide;
}

/** Pairs files that went with files that came where they are renames, as `git diff -M` does; the order stays. */
export function pairRenames(objects: ObjectReader, changes: readonly FileChange[]): FileChange[] {
  return finish(pairingRenames(objects, changes));
}

/** As `pairRenames`; undefined comes where other work may have its turn. */
export function* pairingRenames(
  objects: ObjectReader,
  changes: readonly FileChange[],
): Generator<undefined, FileChange[]> {
  const from: LooseSide[] = [];
  const to: LooseSide[] = [];
  for (const { old, new: now } of changes) {
    if (old !== undefined && now === undefined) from.push(loose(old));
    else if (now !== undefined && old === undefined) to.push(loose(now));
  }
  if (from.length === 0 || to.length === 0) return [...changes];
  const pairing: Pairing<LooseSide> = { from, to, pairs: [] };
  pairTwins(pairing);
  const scorer = new Scorer(objects);
  if (hasLoose(pairing)) yield* pairingByName(pairing, scorer);
  if (hasLoose(pairing)) yield* pairingLikest(pairing, scorer, limit);
  const gone = new Set(pairing.pairs.map(({ from }) => from.file));
  const found = new Map(pairing.pairs.map(({ from, to, score }): [FileSide, FileChange] => {
    const similarity = Math.floor(score * 100 / fullScore);
    return [to.file, { old: from.file, new: to.file, similarity }];
  }));
  return changes.flatMap((change) => {
    if (change.old !== undefined && gone.has(change.old)) return [];
    return (change.new && found.get(change.new)) ?? change;
  });
}

/** A file for which no pair was found yet. */
export function loose(file: FileSide): LooseSide {
  const name = latin1(file.path.subarray(file.path.lastIndexOf(0x2f) + 1));
  return { file, name, isPaired: false };
}

function hasLoose({ from, to }: Pairing): boolean {
  return from.some(({ isPaired }) => !isPaired) && to.some(({ isPaired }) => !isPaired);
}

/** Notes that a file was renamed to another. */
export function pair<L extends Loose>(pairing: Pairing<L>, from: L, to: L, score: number): void {
  from.isPaired = to.isPaired = true;
  pairing.pairs.push({ from, to, score });
}

/** Pairs files of equal content, those of the same name first. */
export function pairTwins<L extends Loose>(pairing: Pairing<L>): void {
  const twins = new Map<string, { files: L[]; next: number }>();
  for (const [oid, files] of Map.groupBy(pairing.from, ({ file }) => file.oid)) {
    twins.set(oid, { files, next: 0 });
  }
  for (const to of pairing.to) {
    const group = twins.get(to.file.oid);
    if (group === undefined) continue;
    while (group.files[group.next]?.isPaired) group.next++;
    let best: L | undefined;
    let looked = 0;
    for (let at = group.next; at < group.files.length; at++) {
      const from = group.files[at];
      if (from === undefined || from.isPaired || !mayBeTwins(from.file, to.file)) continue;
      const isNamesake = from.name === to.name;
      if (best === undefined || isNamesake) best = from;
      if (isNamesake || looked++ > twinLimit) break;
    }
    if (best !== undefined) pair(pairing, best, to, fullScore);
  }
}

/** Tells whether files of equal content may be a rename by their kinds. */
export function mayBeTwins(from: Found, to: Found): boolean {
  return from.mode === to.mode || (isRegular(from) && isRegular(to));
}

function isRegular({ mode }: Found): boolean {
  return (mode & 0o170000) === 0o100000;
}

/** Pairs files whose name is unique among those that went and those that came, when they are much alike. */
function* pairingByName<L extends Loose>(
  pairing: Pairing<L>,
  scorer: Scorer,
): Generator<undefined, void> {
  const fromByName = Map.groupBy(pairing.from.filter(isLoose), ({ name }) => name);
  const toByName = Map.groupBy(pairing.to.filter(isLoose), ({ name }) => name);
  for (const [name, [from, ...others]] of fromByName) {
    const [to, ...namesakes] = toByName.get(name) ?? [];
    if (from === undefined || to === undefined) continue;
    if (others.length > 0 || namesakes.length > 0) continue;
    const score = scorer.score(from.file, to.file, leastByName);
    if (score >= leastByName) pair(pairing, from, to, score);
    yield;
  }
}

/** Tells whether no pair was found for the file yet. */
export function isLoose({ isPaired }: Loose): boolean {
  return !isPaired;
}

/** A rename that there may be. */
export interface Candidate<L extends Loose = Loose> {
  readonly from: L;
  readonly to: L;
  readonly score: number;
}

/** Compares all that is left of the files with all, up to the square of `limit` pairs, and pairs the likest first. */
export function pairLikest<L extends Loose>(
  pairing: Pairing<L>,
  scorer: Scorer,
  limit: number,
): void {
  finish(pairingLikest(pairing, scorer, limit));
}

function* pairingLikest<L extends Loose>(
  pairing: Pairing<L>,
  scorer: Scorer,
  limit: number,
): Generator<undefined, void> {
  const from = pairing.from.filter(isLoose);
  const to = pairing.to.filter(isLoose);
  if (from.length * to.length > limit * limit) return;
  const candidates: Candidate<L>[] = [];
  for (const file of to) {
    const kept: Candidate<L>[] = [];
    for (const other of from) {
      const score = scorer.score(other.file, file.file, least);
      keepIfBetter(kept, { from: other, to: file, score });
    }
    candidates.push(...kept);
    if (scorer.isSpent) return;
    yield;
  }
  candidates.sort(compareCandidates);
  for (const { from, to, score } of candidates) {
    if (score < least) break;
    if (!from.isPaired && !to.isPaired) pair(pairing, from, to, score);
  }
}

/** Does all steps at once. */
function finish<T>(steps: Generator<undefined, T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** Keeps a candidate in a free place, else in place of the worst, the first of those equal. */
export function keepIfBetter<L extends Loose>(kept: Candidate<L>[], candidate: Candidate<L>): void {
  if (kept.length < candidateLimit) {
    kept.push(candidate);
    return;
  }
  let worst = 0;
  kept.forEach((other, index) => {
    if (compareCandidates(other, kept[worst] ?? other) > 0) worst = index;
  });
  const replaced = kept[worst];
  if (replaced !== undefined && compareCandidates(replaced, candidate) > 0) kept[worst] = candidate;
}

/** The higher score first, then the same name. */
export function compareCandidates(one: Candidate, other: Candidate): number {
  return other.score - one.score || Number(isNamesake(other)) - Number(isNamesake(one));
}

function isNamesake({ from, to }: Candidate): boolean {
  return from.name === to.name;
}
