import { ID, type Repo } from "../atproto/lexicons.gen.ts";
import { parseAtUri } from "../atproto/syntax.ts";
import { matchesLexicon } from "../atproto/validate.ts";
import type { ReadContext } from "../context.ts";
import { whyNotRefName } from "../git/refname.ts";
import { accountOf } from "./social.ts";
import { refuseName, spellRepo } from "./names.ts";
import { shortRef } from "./moved.ts";

/** An account's repositories, newest first; those of the account at hand without one. */
export async function listRepositories(context: ReadContext, actor: string | undefined) {
  const owner = await accountOf(context, actor);
  const heads = new Map<string, string>();
  for await (const { uri, value } of context.records.list(owner, ID.refs)) {
    const { head } = value as { head?: unknown };
    const rkey = parseAtUri(uri)?.rkey;
    if (rkey === undefined || typeof head !== "string") continue;
    if (whyNotRefName(head) === undefined) heads.set(rkey, shortRef(head));
  }
  const repos = [];
  for await (const { uri, value } of context.records.list(owner, ID.repo)) {
    const rkey = parseAtUri(uri)?.rkey;
    if (rkey === undefined || !matchesLexicon(ID.repo, value)) continue;
    const { name, description, topics = [], archivedAt, forkOf, createdAt } = value as Repo;
    if (refuseName(name) !== undefined) continue;
    repos.push({
      repo: spellRepo(owner, name),
      uri,
      ...(description !== undefined && { description }),
      topics,
      defaultBranch: heads.get(rkey) ?? "main",
      ...(archivedAt !== undefined && { archivedAt }),
      ...(forkOf !== undefined && { forkOf }),
      createdAt,
    });
  }
  return { repos };
}
