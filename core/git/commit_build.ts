import { ConflictError, RefusedError, UsageError } from "../errors.ts";
import { utf8 } from "./bytes.ts";
import { formatCommit, parseCommit } from "./commit.ts";
import type { Identity } from "./identity.ts";
import type { ObjectReader, Oid } from "./object.ts";
import { EMPTY_TREE } from "./oid.ts";
import { quotePath } from "./path.ts";
import { type Change, changeTree, type NewObject, NewObjects } from "./tree_build.ts";
import { findEntry, readObject } from "./walk.ts";

/** A commit to make of changes. */
export interface CommitPlan {
  /** The commit it follows; a root commit has none. */
  readonly tip?: Oid | undefined;
  readonly changes: readonly Change[];
  readonly author: Identity;
  readonly committer: Identity;
  readonly message: string;
}

/** A commit and what must be written with it: objects `objects` does not hold, the commit last. */
export interface BuiltCommit {
  readonly commit: Oid;
  readonly tree: Oid;
  readonly objects: readonly NewObject[];
}

/** Makes a commit of changes to its tip's tree, writing nothing. Changes that change nothing are a RefusedError. */
export function buildCommit(objects: ObjectReader, plan: CommitPlan): BuiltCommit {
  const message = finishMessage(plan.message);
  const added = new NewObjects();
  const before = plan.tip === undefined ? undefined : treeOf(objects, plan.tip);
  const tree = changeTree(objects, added, before, plan.changes);
  if (tree === (before ?? EMPTY_TREE)) throw new RefusedError("nothing changes");
  const { author, committer } = plan;
  const parents = plan.tip === undefined ? [] : [plan.tip];
  const commit = added.add("commit", formatCommit({ tree, parents, author, committer, message }));
  return { commit, tree, objects: added.list };
}

/** Gives a message's bytes with one newline at its end; an empty one is a UsageError. */
export function finishMessage(message: string): Uint8Array {
  const text = message.trimEnd();
  if (text === "") throw new UsageError("the message is empty");
  if (text.includes("\0")) throw new UsageError("the message holds a NUL");
  return utf8(`${text}\n`);
}

/**
 * Refuses, with a ConflictError, to overwrite or delete a file that is not at `tip` as it was at `base`, before the first
 * commit when that is undefined; edits are made where they fit.
 */
export function checkUnmoved(
  objects: ObjectReader,
  base: Oid | undefined,
  tip: Oid,
  changes: readonly Change[],
): void {
  if (base === tip) return;
  const baseTree = base === undefined ? EMPTY_TREE : treeOf(objects, base);
  const tipTree = treeOf(objects, tip);
  for (const change of changes) {
    if ("edits" in change) continue;
    const was = findEntry(objects, baseTree, change.path);
    const is = findEntry(objects, tipTree, change.path);
    if (was?.oid === is?.oid && was?.mode === is?.mode) continue;
    const path = quotePath(change.path);
    const said = base === undefined ? "was made meanwhile in" : `changed between ${base} and`;
    throw new ConflictError(`${path} ${said} ${tip}`, { facts: { path, base, tip } });
  }
}

function treeOf(objects: ObjectReader, commit: Oid): Oid {
  return parseCommit(readObject(objects, commit, "commit")).tree;
}
