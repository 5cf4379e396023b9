import { mergeBases } from "./ancestry.ts";
import type { CommitNode, CommitSource } from "./history.ts";
import type { MergeStore } from "./merge_store.ts";
import { mergeInStore } from "./merge_tree.ts";
import type { Oid } from "./object.ts";

/**
 * More merges of merge bases than this are not made: what is merged by then is the base. The
 * histories of large projects take up to about 200 for one merge, as bases have bases.
 */
const mergeLimit = 256;

interface Bases {
  readonly store: MergeStore;
  readonly commits: CommitSource;
  /** Commits that there are only to be merge bases. */
  readonly made: Map<Oid, CommitNode>;
}

/**
 * Gives the tree that two commits both come from: that of their merge base, or of several merged,
 * the oldest first, conflicts and all; undefined when they have nothing in common.
 */
export function baseTree(
  store: MergeStore,
  commits: CommitSource,
  ours: Oid,
  theirs: Oid,
): Oid | undefined {
  const made = new Map<Oid, CommitNode>();
  const source: CommitSource = { commit: (oid) => made.get(oid) ?? commits.commit(oid) };
  const base = commonBase({ store, commits: source, made }, ours, theirs, 0);
  return base === undefined ? undefined : source.commit(base).tree;
}

function commonBase(bases: Bases, ours: Oid, theirs: Oid, depth: number): Oid | undefined {
  const { store, commits, made } = bases;
  const [first, ...rest] = mergeBases(commits, ours, theirs).reverse();
  let merged = first;
  for (const next of rest) {
    if (merged === undefined || made.size >= mergeLimit) break;
    const below = commonBase(bases, merged, next, depth + 1);
    const trees = [below, merged, next].map((oid) =>
      oid === undefined ? undefined : commits.commit(oid).tree
    );
    const { tree } = mergeInStore(store, [trees[0], trees[1], trees[2]], {
      depth: depth + 1,
      labels: { ours: "Temporary merge branch 1", theirs: "Temporary merge branch 2" },
      keepBoth: undefined,
    });
    const oid: Oid = `merged ${made.size}`;
    // Later than its parents: walks by date would else go through all of history before they come to it.
    const time = Math.max(commits.commit(merged).time, commits.commit(next).time);
    made.set(oid, { tree, parents: [merged, next], time });
    merged = oid;
  }
  return merged;
}
