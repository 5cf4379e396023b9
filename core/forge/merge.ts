import type { ReadContext } from "../context.ts";
import {
  mergeCommits,
  type MergeOptions,
  type MergeOutcome,
  type MergeResult,
  mergeTrees,
} from "../git/merge.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import type { Answers } from "../mirror/answers.ts";
import { indexesOf } from "../mirror/indexes.ts";
import { version } from "../version.ts";
import { countBytes, countCommits } from "./counted.ts";

/** A merge that read so many bytes, or looked at so many commits for its base, is worth a file. */
const COSTLY_BYTES = 1 << 17;
const COSTLY_COMMITS = 200;

/** Where a merge is made: a repository's objects, and the mirror that answers are kept beside. A reading is one. */
export interface MergePlace {
  readonly objects: ObjectReader;
  readonly repository: { readonly mirror: { readonly path: string } };
}

/** What is merged, and how: two commits, by their merge bases; or two trees that come from one, as for a revert. */
export type MergeAsked =
  & MergeOptions
  & (
    | { readonly commits: { readonly ours: Oid; readonly theirs: Oid } }
    | {
      readonly trees: { readonly base: Oid | undefined; readonly ours: Oid; readonly theirs: Oid };
    }
  );

/** What a merge comes to, and whether it is clean. */
export interface MergeAnswer extends MergeOutcome {
  readonly state: "clean" | "conflicts";
}

/** Finds what a merge comes to: as it was found before, where that is kept; else it is made. */
export async function findMerge(
  { now }: Pick<ReadContext, "now">,
  place: MergePlace,
  asked: MergeAsked,
): Promise<MergeAnswer> {
  const merges = await mergesOf(place);
  const key = keyOf(asked);
  const { tree, conflicts, keptBoth } = merges.get(key, now()) ??
    await keep(merges, key, make(place, asked), now());
  return { state: conflicts.length === 0 ? "clean" : "conflicts", tree, conflicts, keptBoth };
}

/** Makes a merge, with the objects that must be written, which are never kept; keeps what it comes to. */
export async function makeMerge(
  { now }: Pick<ReadContext, "now">,
  place: MergePlace,
  asked: MergeAsked,
): Promise<MergeResult> {
  const merges = await mergesOf(place);
  const key = keyOf(asked);
  const made = make(place, asked);
  if (merges.get(key, now()) === undefined) await keep(merges, key, made, now());
  return made.result;
}

interface Made {
  readonly result: MergeResult;
  readonly isCostly: boolean;
}

async function mergesOf({ objects, repository }: MergePlace): Promise<Answers<MergeOutcome>> {
  // Most commands that share this module's bundle have no use for it.
  const { answersOf } = await import("../mirror/answers.ts");
  return answersOf(repository.mirror.path, objects, version).merges;
}

/** Histories do not change, so that two commits stand for their merge bases too. */
function keyOf(asked: MergeAsked): string {
  const { labels, keepBoth } = asked;
  const sides = "commits" in asked
    ? ["commits", asked.commits.ours, asked.commits.theirs]
    : ["trees", asked.trees.base, asked.trees.ours, asked.trees.theirs];
  return JSON.stringify([...sides, labels?.ours, labels?.theirs, keepBoth]);
}

function make({ objects, repository }: MergePlace, asked: MergeAsked): Made {
  const work = { bytes: 0, commits: 0 };
  const counted = countBytes(objects, work);
  let result: MergeResult;
  if ("commits" in asked) {
    const { ours, theirs } = asked.commits;
    const commits = countCommits(indexesOf(repository.mirror.path, objects).commits(), work);
    result = mergeCommits(counted, commits, ours, theirs, asked);
  } else result = mergeTrees(counted, asked.trees, asked);
  return { result, isCostly: work.bytes >= COSTLY_BYTES || work.commits >= COSTLY_COMMITS };
}

async function keep(
  merges: Answers<MergeOutcome>,
  key: string,
  { result: { tree, conflicts, keptBoth }, isCostly }: Made,
  now: Date,
): Promise<MergeOutcome> {
  const outcome = { tree, conflicts, keptBoth };
  await merges.set(key, outcome, { now, isCostly });
  return outcome;
}
