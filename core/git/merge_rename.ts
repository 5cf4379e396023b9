import type { Side } from "./merge_entry.ts";
import type { MergeStore } from "./merge_store.ts";
import type { Candidate, SideChanges } from "./merge_walk.ts";
import type { Oid } from "./object.ts";
import { isLoose, leastByName, pair, type Pairing, pairLikest, pairTwins } from "./rename.ts";
import { Scorer } from "./rename_score.ts";

const EMPTY_BLOB: Oid = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
/** Files are compared all with all up to the square of this, as git's merges do. */
const limit = 7000;

/** Where the files of directories that went were renamed to: by new directory, how many. */
export type DirectoryCounts = Map<string, Map<string, number>>;

/** A file's rename on a side. */
export interface Rename {
  readonly side: Side;
  readonly from: string;
  to: string;
}

/** The renames of a side, by new path, and what they say about directories. */
export interface SideRenames {
  readonly byTarget: Map<string, Rename>;
  readonly counts: DirectoryCounts;
}

/**
 * Finds the renames of a side that can matter to a merge: exact ones, then by name, then the
 * likest. What does not matter is left out before files are compared, so it pairs with nothing.
 */
export function findRenames(store: MergeStore, changes: SideChanges, side: Side): SideRenames {
  const { relevant, directories } = changes;
  const counts: DirectoryCounts = new Map();
  const exact = withPairs(changes.gone.filter(isNotEmpty), changes.came.filter(isNotEmpty));
  if (relevant.size === 0 || exact.from.length === 0 || exact.to.length === 0) {
    return { byTarget: new Map(), counts };
  }
  pairTwins(exact);
  exact.pairs.forEach((found) => countDirectories(counts, directories, found));
  const scorer = new Scorer(store, store.budget.renames);
  const named = withPairs(
    exact.from.filter((from) => isLoose(from) && relevant.has(from.path)),
    exact.to,
  );
  pairByName(named, scorer, counts, directories);
  settleDirectories(named.from.filter(isLoose), counts, directories);
  const rest = named.from.filter((from) =>
    isLoose(from) && (relevant.get(from.path) === "content" || isWanted(from.path, directories))
  );
  const likest = withPairs(rest, named.to);
  pairLikest(likest, scorer, limit);
  likest.pairs.forEach((found) => countDirectories(counts, directories, found));
  for (const directory of counts.keys()) {
    if ((directories.get(directory) ?? "not") === "not") counts.delete(directory);
  }
  const byTarget = new Map<string, Rename>();
  for (const { from, to } of [...exact.pairs, ...named.pairs, ...likest.pairs]) {
    byTarget.set(to.path, { side, from: from.path, to: to.path });
  }
  return { byTarget, counts };
}

function withPairs(
  from: readonly Candidate[],
  to: readonly Candidate[],
): Pairing<Candidate> {
  return { from, to, pairs: [] };
}

function isNotEmpty({ file }: Candidate): boolean {
  return file.oid !== EMPTY_BLOB;
}

/** Gives the directory a path is in, empty for the root. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

/** Counts a rename for the directory it is from, and for those above as long as the names below agree. */
function countDirectories(
  counts: DirectoryCounts,
  directories: SideChanges["directories"],
  { from, to }: { from: Candidate; to: Candidate },
): void {
  let old = from.path;
  let now = to.path;
  for (let isFirst = true;; isFirst = false) {
    const oldName = old.slice(old.lastIndexOf("/") + 1);
    const newName = now.slice(now.lastIndexOf("/") + 1);
    old = directoryOf(old);
    now = directoryOf(now);
    const relevance = directories.get(old);
    if (relevance === undefined || (!isFirst && oldName !== newName)) return;
    if (isFirst || relevance === "yes") addCount(counts, old, now);
    if (relevance === "not" || old === "" || now === "") return;
  }
}

function addCount(counts: DirectoryCounts, old: string, now: string): void {
  let targets = counts.get(old);
  if (targets === undefined) counts.set(old, targets = new Map());
  targets.set(now, (targets.get(now) ?? 0) + 1);
}

/** Pairs much alike files of one name: the only ones of that name, or one that is where the directory's other files went. */
function pairByName(
  pairing: Pairing<Candidate>,
  scorer: Scorer,
  counts: DirectoryCounts,
  directories: SideChanges["directories"],
): void {
  const guesses = new Map([...counts].map(([old, targets]) => [old, mostOften(targets)]));
  const fromByName = Map.groupBy(pairing.from, ({ name }) => name);
  const toByName = Map.groupBy(pairing.to.filter(isLoose), ({ name }) => name);
  const toByPath = new Map(pairing.to.map((to) => [to.path, to]));
  for (const from of pairing.from) {
    const namesakes = toByName.get(from.name);
    if (namesakes === undefined) continue;
    let to = namesakes[0];
    if (namesakes.length > 1 || (fromByName.get(from.name)?.length ?? 0) > 1) {
      const guess = guesses.get(directoryOf(from.path));
      if (guess === undefined) continue;
      to = toByPath.get(guess === "" ? from.name : `${guess}/${from.name}`);
    }
    if (to === undefined || !isLoose(to)) continue;
    const score = scorer.score(from.file, to.file, leastByName);
    if (score < leastByName) continue;
    pair(pairing, from, to, score);
    countDirectories(counts, directories, { from, to });
  }
}

function mostOften(targets: ReadonlyMap<string, number>): string {
  let best = "";
  let most = 0;
  for (const [target, count] of targets) if (count > most) [best, most] = [target, count];
  return best;
}

/** Notes of which directories it is clear where they went, however the loose files of theirs may pair. */
function settleDirectories(
  from: readonly Candidate[],
  counts: DirectoryCounts,
  directories: SideChanges["directories"],
): void {
  const open = new Map<string, number>();
  for (const { path } of from) {
    let directory = directoryOf(path);
    while (directory !== "" && (directories.get(directory) ?? "not") !== "not") {
      open.set(directory, (open.get(directory) ?? 0) + 1);
      directory = directoryOf(directory);
    }
  }
  for (const [directory, targets] of counts) {
    if (directories.get(directory) !== "yes") continue;
    const [first = 0, second = 0] = [...targets.values()].sort((one, other) => other - one);
    if (first > second + (open.get(directory) ?? 0)) directories.set(directory, "for those above");
  }
}

/** Tells whether where a file went has a say in where its directory, or one above, did. */
function isWanted(path: string, directories: SideChanges["directories"]): boolean {
  for (let directory = directoryOf(path);; directory = directoryOf(directory)) {
    const relevance = directories.get(directory) ?? "not";
    if (relevance === "not") return false;
    if (relevance === "yes") return true;
  }
}
