import { latin1 } from "./bytes.ts";
import type { FileChange, FileSide } from "./diff_tree.ts";
import type { ObjectReader } from "./object.ts";
import { fullScore, Scorer } from "./rename_score.ts";

/** Half alike is enough for a rename. */
const least = fullScore / 2;
/** When names are unique on both sides, this much is, without looking further. */
const leastByName = fullScore * 3 / 4;
/** Files are compared all with all up to the square of this. */
const limit = 1000;
/** How many files of one content are looked at for one of the same name. */
const twinLimit = 100;
/** How many of the files likest to one are kept for the last choice. */
const candidateLimit = 4;

/** A file that went or came, and whether a pair of both was found for it. */
interface Loose {
  readonly side: FileSide;
  readonly name: string;
  isPaired: boolean;
}

interface Pairing {
  readonly from: Loose[];
  readonly to: Loose[];
  /** The rename found for a new file. */
  readonly found: Map<FileSide, FileChange>;
}

/** Pairs files that went with files that came where they are renames, as `git diff -M` does; the order stays. */
export function pairRenames(objects: ObjectReader, changes: readonly FileChange[]): FileChange[] {
  const pairing: Pairing = { from: [], to: [], found: new Map() };
  for (const { old, new: now } of changes) {
    if (old !== undefined && now === undefined) pairing.from.push(loose(old));
    else if (now !== undefined && old === undefined) pairing.to.push(loose(now));
  }
  if (pairing.from.length === 0 || pairing.to.length === 0) return [...changes];
  pairTwins(pairing);
  const scorer = new Scorer(objects);
  if (hasLoose(pairing)) pairByName(pairing, scorer);
  if (hasLoose(pairing)) pairLikest(pairing, scorer);
  const gone = new Set(pairing.from.filter(({ isPaired }) => isPaired).map(({ side }) => side));
  return changes.flatMap((change) => {
    if (change.old !== undefined && gone.has(change.old)) return [];
    return (change.new && pairing.found.get(change.new)) ?? change;
  });
}

function loose(side: FileSide): Loose {
  const name = latin1(side.path.subarray(side.path.lastIndexOf(0x2f) + 1));
  return { side, name, isPaired: false };
}

function hasLoose({ from, to }: Pairing): boolean {
  return from.some(({ isPaired }) => !isPaired) && to.some(({ isPaired }) => !isPaired);
}

function pair({ found }: Pairing, from: Loose, to: Loose, score: number): void {
  from.isPaired = to.isPaired = true;
  const similarity = Math.floor(score * 100 / fullScore);
  found.set(to.side, { old: from.side, new: to.side, similarity });
}

/** Pairs files of equal content, those of the same name first. */
function pairTwins(pairing: Pairing): void {
  const twins = new Map<string, { files: Loose[]; next: number }>();
  for (const [oid, files] of Map.groupBy(pairing.from, ({ side }) => side.oid)) {
    twins.set(oid, { files, next: 0 });
  }
  for (const to of pairing.to) {
    const group = twins.get(to.side.oid);
    if (group === undefined) continue;
    while (group.files[group.next]?.isPaired) group.next++;
    let best: Loose | undefined;
    let looked = 0;
    for (let at = group.next; at < group.files.length; at++) {
      const from = group.files[at];
      if (from === undefined || from.isPaired || !mayBeTwins(from.side, to.side)) continue;
      const isNamesake = from.name === to.name;
      if (best === undefined || isNamesake) best = from;
      if (isNamesake || looked++ > twinLimit) break;
    }
    if (best !== undefined) pair(pairing, best, to, fullScore);
  }
}

function mayBeTwins(from: FileSide, to: FileSide): boolean {
  return from.mode === to.mode || (isRegular(from) && isRegular(to));
}

function isRegular({ mode }: FileSide): boolean {
  return (mode & 0o170000) === 0o100000;
}

/** Pairs files whose name is unique among those that went and those that came, when they are much alike. */
function pairByName(pairing: Pairing, scorer: Scorer): void {
  const fromByName = Map.groupBy(pairing.from.filter(isLoose), ({ name }) => name);
  const toByName = Map.groupBy(pairing.to.filter(isLoose), ({ name }) => name);
  for (const [name, [from, ...others]] of fromByName) {
    const [to, ...namesakes] = toByName.get(name) ?? [];
    if (from === undefined || to === undefined) continue;
    if (others.length > 0 || namesakes.length > 0) continue;
    const score = scorer.score(from.side, to.side, leastByName);
    if (score >= leastByName) pair(pairing, from, to, score);
  }
}

function isLoose({ isPaired }: Loose): boolean {
  return !isPaired;
}

interface Candidate {
  readonly from: Loose;
  readonly to: Loose;
  readonly score: number;
}

/** Compares all that is left with all, and pairs the likest first. */
function pairLikest(pairing: Pairing, scorer: Scorer): void {
  const from = pairing.from.filter(isLoose);
  const to = pairing.to.filter(isLoose);
  if (from.length * to.length > limit * limit) return;
  const candidates: Candidate[] = [];
  for (const file of to) {
    const kept: Candidate[] = [];
    for (const other of from) {
      keepIfBetter(kept, {
        from: other,
        to: file,
        score: scorer.score(other.side, file.side, least),
      });
    }
    candidates.push(...kept);
    if (scorer.isSpent) return;
  }
  candidates.sort(compareCandidates);
  for (const { from, to, score } of candidates) {
    if (score < least) break;
    if (!from.isPaired && !to.isPaired) pair(pairing, from, to, score);
  }
}

/** Keeps a candidate in a free place, else in place of the worst, the first of those equal. */
function keepIfBetter(kept: Candidate[], candidate: Candidate): void {
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
function compareCandidates(one: Candidate, other: Candidate): number {
  return other.score - one.score || Number(isNamesake(other)) - Number(isNamesake(one));
}

function isNamesake({ from, to }: Candidate): boolean {
  return from.name === to.name;
}
