import { type CommitSource, DateQueue } from "./history.ts";
import type { Oid } from "./object.ts";

const fromOne = 1;
const fromOthers = 2;
/** Below a common ancestor: nothing there can be a merge base. */
const stale = 4;
const common = 8;

/** With more bases than this, one walk to the roots costs less than one for each. */
const manyBases = 16;

/** Gives the merge bases of two commits, as `git merge-base --all` lists them; none for unrelated histories. */
export function mergeBases(commits: CommitSource, one: Oid, other: Oid): Oid[] {
  if (one === other) return [one];
  const { bases } = paint(commits, one, [other]);
  if (bases.length < 2) return bases;
  if (bases.length <= manyBases) return byDate(commits, withoutAncestors(commits, bases));
  const below = ancestors(commits, bases);
  return bases.filter((base) => !below.has(base));
}

/** Tells whether `ancestor` is one of the others or in the history of one. */
export function isAncestor(
  commits: CommitSource,
  ancestor: Oid,
  ...others: readonly Oid[]
): boolean {
  if (others.includes(ancestor)) return true;
  return ((paint(commits, ancestor, others).flags.get(ancestor) ?? 0) & fromOthers) !== 0;
}

/**
 * Walks down from both sides by date and notes on each commit from where it can be reached, until
 * only what is below common ancestors is left. Dates may lie, so the bases may have ancestors of
 * each other among them.
 */
function paint(commits: CommitSource, one: Oid, others: readonly Oid[]) {
  const flags = new Map<Oid, number>();
  const queue = new DateQueue();
  const waiting = new Map<Oid, number>();
  let fresh = 0;
  const add = (oid: Oid, more: number) => {
    const before = flags.get(oid) ?? 0;
    const after = before | more;
    const count = waiting.get(oid) ?? 0;
    if ((before & stale) === 0) fresh -= count;
    if ((after & stale) === 0) fresh += count + 1;
    flags.set(oid, after);
    waiting.set(oid, count + 1);
    queue.put({ oid, ...commits.commit(oid) });
  };
  add(one, fromOne);
  for (const other of others) add(other, fromOthers);

  const found: Oid[] = [];
  while (fresh > 0) {
    const commit = queue.take();
    if (commit === undefined) break;
    const own = flags.get(commit.oid) ?? 0;
    waiting.set(commit.oid, (waiting.get(commit.oid) ?? 1) - 1);
    if ((own & stale) === 0) fresh--;
    let passed = own & (fromOne | fromOthers | stale);
    if (passed === (fromOne | fromOthers)) {
      if ((own & common) === 0) {
        flags.set(commit.oid, own | common);
        found.push(commit.oid);
      }
      passed |= stale;
    }
    for (const parent of commit.parents) {
      if (((flags.get(parent) ?? 0) & passed) !== passed) add(parent, passed);
    }
  }
  const bases = found.filter((oid) => ((flags.get(oid) ?? 0) & stale) === 0);
  return { bases: byDate(commits, bases), flags };
}

/** Leaves out commits that others of the list have in their history. */
function withoutAncestors(commits: CommitSource, bases: readonly Oid[]): Oid[] {
  const redundant = new Set<Oid>();
  for (const base of bases) {
    if (redundant.has(base)) continue;
    const others = bases.filter((other) => other !== base && !redundant.has(other));
    const { flags } = paint(commits, base, others);
    if (((flags.get(base) ?? 0) & fromOthers) !== 0) redundant.add(base);
    for (const other of others) {
      if (((flags.get(other) ?? 0) & fromOne) !== 0) redundant.add(other);
    }
  }
  return bases.filter((base) => !redundant.has(base));
}

/** Gives everything in the histories of the commits but, unless others have it in theirs, themselves. */
function ancestors(commits: CommitSource, oids: readonly Oid[]): Set<Oid> {
  const found = new Set<Oid>();
  const waiting = [...oids];
  for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
    for (const parent of commits.commit(oid).parents) {
      if (found.has(parent)) continue;
      found.add(parent);
      waiting.push(parent);
    }
  }
  return found;
}

function byDate(commits: CommitSource, oids: readonly Oid[]): Oid[] {
  const time = (oid: Oid) => commits.commit(oid).time;
  return [...oids].sort((one, other) => time(other) - time(one));
}
