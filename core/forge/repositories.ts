import { ID, type Repo } from "../atproto/lexicons.gen.ts";
import { parseAtUri } from "../atproto/syntax.ts";
import { matchesLexicon } from "../atproto/validate.ts";
import type { ReadContext } from "../context.ts";
import { quote } from "../errors.ts";
import { whyNotRefName } from "../git/refname.ts";
import { accountOf } from "./social.ts";
import { refuseName, spellRepo } from "./names.ts";
import { shortRef } from "./moved.ts";

/** The most invalid records that are named. */
const MOST_NAMED = 3;

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
  const invalid: string[] = [];
  for await (const { uri, value } of context.records.list(owner, ID.repo)) {
    const rkey = parseAtUri(uri)?.rkey;
    if (rkey === undefined || !matchesLexicon(ID.repo, value)) {
      invalid.push(uri);
      continue;
    }
    const { name, description, topics = [], archivedAt, forkOf, createdAt } = value as Repo;
    if (refuseName(name) !== undefined) {
      invalid.push(uri);
      continue;
    }
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
  if (invalid.length > 0) {
    const named = invalid.slice(0, MOST_NAMED).map(quote).join(", ");
    const more = invalid.length > MOST_NAMED ? ` and ${invalid.length - MOST_NAMED} more` : "";
    context.note(`left out, for the record is not valid: ${named}${more}`);
  }
  return { repos };
}
