import type { ReadContext } from "../context.ts";
import { KnotlessError, UsageError } from "../errors.ts";
import { parseRepoName, readActor, type RepoName, spellName } from "./names.ts";
import { findRepository } from "./repository.ts";

/** Opens what names are resolved with; only a name that does not tell by itself needs it. */
type Open = () => Promise<ReadContext>;

/** Tells whether a text names one of some repositories, by whichever of its names; false where it names none. */
export async function namesOneOf(
  open: Open,
  text: string,
  allowed: readonly RepoName[],
): Promise<boolean> {
  const named = readName(text);
  if (named === undefined) return false;
  if (allowed.some((repo) => keyOf(repo) === keyOf(named))) return true;
  const context = await open();
  const owner = await resolve(context, named.owner);
  if (owner === undefined) return false;
  for (const repo of allowed) {
    // Only then is its record looked up: what is another's is not asked for.
    if (await resolve(context, repo.owner) !== owner) continue;
    const [one, other] = await Promise.all([uriOf(context, repo), uriOf(context, named)]);
    if (one !== undefined && one === other) return true;
  }
  return false;
}

/** Tells whether a text names the owner of one of some repositories. */
export async function namesOwnerOf(
  open: Open,
  text: string,
  allowed: readonly RepoName[],
): Promise<boolean> {
  const actor = readActor(text);
  if (actor === undefined) return false;
  if (allowed.some(({ owner }) => owner === actor)) return true;
  const context = await open();
  const did = await resolve(context, actor);
  if (did === undefined) return false;
  for (const { owner } of allowed) if (await resolve(context, owner) === did) return true;
  return false;
}

/** The same for two names of one repository that need no asking; the key of a record has its case. */
function keyOf(repo: RepoName): string {
  return spellName("name" in repo ? { ...repo, name: repo.name.toLowerCase() } : repo);
}

function readName(text: string): RepoName | undefined {
  try {
    return parseRepoName(text);
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

async function resolve({ identity }: ReadContext, actor: string): Promise<string | undefined> {
  return await orUndefined(async () => (await identity.resolve(actor)).did);
}

async function uriOf(context: ReadContext, named: RepoName): Promise<string | undefined> {
  return await orUndefined(async () => (await findRepository(context, named)).uri);
}

/** What cannot be found, or asked for, is not what is allowed. */
async function orUndefined<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof KnotlessError) return undefined;
    throw error;
  }
}
