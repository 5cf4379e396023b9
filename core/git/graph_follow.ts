import { latin1 } from "./bytes.ts";
import { CHANGED, type CommitGraph, UNKNOWN } from "./graph.ts";
import { type PathLog, walkNumbers } from "./graph_log.ts";
import type { Oid } from "./object.ts";
import { findSource } from "./rename_source.ts";
import { isTree } from "./tree.ts";
import { findEntry, type Found } from "./walk.ts";

/** A commit that changed a file, and the path the file has in it. */
export interface Followed {
  readonly oid: Oid;
  readonly path: Uint8Array;
}

/** A log that follows a file. */
export interface FollowLog extends PathLog {
  /** Is told when what a file was before was not found, for there was too much to compare. */
  onSpent?(): void;
}

/**
 * Gives the commits of `git log --follow <tip> -- <path>` in its order, each found when it is asked for; undefined comes
 * where other work may have its turn. As git does, it looks at all commits by date, leaves merges out, and takes the
 * name that a file had before a rename as the file's name in everything older. A directory has no renames.
 */
export function* followPath(graph: CommitGraph, log: FollowLog): Generator<Followed | undefined> {
  const { skip = 0 } = log;
  const { objects } = graph;
  let { path } = log;
  let markOf = graph.marks(latin1(path));
  let passed = 0;
  for (const number of walkNumbers(graph, log, () => ({ isShown: true }))) {
    if (number === undefined) {
      yield undefined;
      continue;
    }
    const mark = markOf(number);
    if (mark !== CHANGED && mark !== UNKNOWN) continue;
    const [parent, ...others] = graph.parents(number);
    if (others.length > 0) continue;
    const after = graph.tree(number);
    const before = parent === undefined ? undefined : graph.tree(parent);
    const now = findEntry(objects, after, path);
    const old = before === undefined ? undefined : findEntry(objects, before, path);
    if (isSame(now, old)) continue;
    if (passed++ >= skip) yield { oid: graph.oid(number), path };
    if (now === undefined || isTree(now.mode) || isFile(old) || before === undefined) continue;
    const source = yield* findSource(objects, before, after, { ...now, path });
    if (source === "spent") log.onSpent?.();
    if (source === undefined || source === "spent") continue;
    path = source.path;
    markOf = graph.marks(latin1(path));
  }
}

function isFile(entry: Found | undefined): boolean {
  return entry !== undefined && !isTree(entry.mode);
}

function isSame(one: Found | undefined, other: Found | undefined): boolean {
  return one?.oid === other?.oid && one?.mode === other?.mode;
}
