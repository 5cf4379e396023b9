import type { ReadContext } from "../context.ts";
import type { RepoName } from "./names.ts";
import { findRepository } from "./repository.ts";

/** Makes or refreshes a repository's copy on this machine and says where it is; `commit` is its default branch's. */
export async function refreshMirror(context: ReadContext, named: RepoName) {
  const { mirror, spelled, uri } = await findRepository(context, named);
  const { offline } = context.freshness;
  const { refs, head, generation } = await mirror.view({ offline, maxAge: 0 });
  const commit = refs.get(head)?.oid;
  return {
    path: mirror.path,
    repo: spelled,
    uri,
    generation,
    ...(commit !== undefined && { commit }),
  };
}
