import { latin1 } from "./bytes.ts";
import { compareTrees, type FileSide } from "./diff_tree.ts";
import type { ObjectReader, Oid } from "./object.ts";
import {
  type Candidate,
  compareCandidates,
  keepIfBetter,
  least,
  loose,
  type LooseSide,
  mayBeTwins,
  twinLimit,
} from "./rename.ts";
import { Scorer } from "./rename_score.ts";

/**
 * Finds the file of the tree before that a file which came with a commit was made from, as `git log --follow` does: one
 * that went, or else one it is a copy of; undefined when none is half alike, "spent" when so much was compared that no
 * more should be. Yields before each file that is compared, for other work to have its turn.
 */
export function* findSource(
  objects: ObjectReader,
  before: Oid,
  after: Oid,
  came: FileSide,
): Generator<undefined, FileSide | "spent" | undefined> {
  const gone = new Set(
    compareTrees(objects, before, after)
      .flatMap(({ old, new: now }) => old && !now ? [latin1(old.path)] : []),
  );
  const isGone = ({ file }: LooseSide) => gone.has(latin1(file.path));
  const to = loose(came);
  const all = compareTrees(objects, before, undefined).flatMap(({ old }) => old ? loose(old) : []);
  const twin = findTwin(all, to, isGone);
  if (twin !== undefined) return twin.file;
  const scorer = new Scorer(objects);
  const kept: Candidate<LooseSide>[] = [];
  for (const from of all) {
    yield;
    keepIfBetter(kept, { from, to, score: scorer.score(from.file, to.file, least) });
    if (scorer.isSpent) return "spent";
  }
  const likest = kept.filter(({ score }) => score >= least).sort(compareCandidates);
  return (likest.find(({ from }) => isGone(from)) ?? likest[0])?.from.file;
}

/** Finds a file of equal content: one that went rather than one that stays, one of the same name rather than another. */
function findTwin(
  all: readonly LooseSide[],
  to: LooseSide,
  isGone: (from: LooseSide) => boolean,
): LooseSide | undefined {
  let best: { from: LooseSide; points: number } | undefined;
  let looked = 0;
  for (const from of all) {
    if (from.file.oid !== to.file.oid || !mayBeTwins(from.file, to.file)) continue;
    const points = Number(isGone(from)) + Number(from.name === to.name);
    if (best === undefined || points > best.points) best = { from, points };
    if (points === 2 || looked++ > twinLimit) break;
  }
  return best?.from;
}
