import type { WriteContext } from "../context.ts";
import { fold } from "./fold.ts";
import type { RepoName } from "./names.ts";
import { openWriting } from "./writing.ts";
import { sweep } from "./sweep.ts";

/**
 * Folds a repository's packs into one and deletes what has been left behind for more than a day. Answers the packs there
 * were, how many of them the manifest lists no more, and the pushes of the log and names of deleted refs that went.
 */
export async function compactRepository(context: WriteContext, named: RepoName) {
  const { repository, manifest: { record } } = await openWriting(context, named);
  const before = record.packs.length + record.tail.length;
  let after = before;
  if (before > 1) {
    const { record: { packs, tail } } = await fold(context, repository, 0);
    after = packs.length + tail.length;
  }
  const { claims, refs } = await sweep(context, repository);
  return { before, removed: before - after, claims, refs };
}
