import type { ReadContext } from "../context.ts";
import { indexesOf } from "../mirror/indexes.ts";
import type { RepoName } from "./names.ts";
import { treeOf } from "./reading.ts";
import { findRepository } from "./repository.ts";

/** Makes or refreshes a repository's copy on this machine with its indexes, and says where it is; `commit` is its default branch's. */
export async function refreshMirror(context: ReadContext, named: RepoName) {
  const { mirror, spelled, uri } = await findRepository(context, named);
  await mirror.heal(context.freshness);
  const view = await mirror.view({ ...context.freshness, maxAge: 0 });
  const { refs, head, generation, objects } = view;
  const commit = refs.get(head)?.oid;
  if (commit !== undefined) {
    context.progress("indexing");
    const indexes = indexesOf(mirror.path, objects);
    await indexes.build(view, treeOf(objects, commit), context.signal);
  }
  return {
    path: mirror.path,
    repo: spelled,
    uri,
    generation,
    ...(commit !== undefined && { commit }),
  };
}
