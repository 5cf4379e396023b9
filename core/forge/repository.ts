import type { Account } from "../atproto/identity.ts";
import { ID, type Name, type Repo } from "../atproto/lexicons.gen.ts";
import { type AtUri, atUri, isTid, parseAtUri } from "../atproto/syntax.ts";
import { checkRecord } from "../atproto/validate.ts";
import type { ReadContext, WriteContext } from "../context.ts";
import {
  CorruptError,
  NotFoundError,
  OfflineError,
  quote,
  RefusedError,
  RemoteError,
} from "../errors.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { Remembered } from "../mirror/mirrors.ts";
import { noSuchRepository, refuseName, type RepoName, spellRepo } from "./names.ts";

/** A repository that was found: whose it is, its record and its mirror. */
export interface Repository {
  readonly owner: Account;
  readonly rkey: string;
  readonly uri: AtUri;
  /** The name as its record has it. */
  readonly name: string;
  /** `handle/name`. */
  readonly spelled: string;
  readonly record: Repo;
  /** The CID of its record. */
  readonly cid: string;
  readonly mirror: Mirror;
}

/**
 * Finds a repository by what names it. An old name leads to the repository with a note that names the new one. Looks at
 * the owner's PDS, or at what it said before as far as the context's freshness allows.
 */
export async function findRepository(
  context: ReadContext,
  named: RepoName,
): Promise<Repository> {
  return await find(context, named, { mayBeOld: true });
}

async function find(
  context: ReadContext,
  named: RepoName,
  { mayBeOld }: { mayBeOld: boolean },
): Promise<Repository> {
  const owner = await context.identity.resolve(named.owner);
  const key = "name" in named ? named.name.toLowerCase() : named.rkey;
  const found = await lookUp(context, owner, key, named, mayBeOld);
  if (found === undefined) {
    throw noSuchRepository(
      "name" in named ? spellRepo(owner, named.name) : spellRecord(owner, named.rkey),
    );
  }
  const repository = repositoryOf(context, owner, found);
  if ("name" in named && named.name.toLowerCase() !== found.record.name.toLowerCase()) {
    context.note(`${spellRepo(owner, named.name)} is now ${repository.spelled}`);
  }
  return repository;
}

/** The repository that a record found for `owner` makes. */
export function repositoryOf(
  context: Pick<ReadContext, "mirrors">,
  owner: Account,
  { rkey, cid, record }: Pick<Remembered, "rkey" | "cid" | "record">,
): Repository {
  return {
    owner,
    rkey,
    uri: atUri(owner.did, ID.repo, rkey),
    name: record.name,
    spelled: spellRepo(owner, record.name),
    record,
    cid,
    mirror: context.mirrors.at(owner, rkey),
  };
}

/**
 * Finds a repository of the account at hand, to write to it; anyone else's is refused before anything is sent. What permits
 * a write is always read again, and what was known before does not do.
 */
export async function ownRepository(context: WriteContext, named: RepoName): Promise<Repository> {
  const fresh = { ...context, freshness: { offline: false, maxAge: 0 } };
  const repository = await find(fresh, named, { mayBeOld: false });
  if (repository.owner.did !== context.account.did) {
    throw new RefusedError(`${repository.spelled} is not yours: only its owner writes to it`, {
      code: "refused.not_owner",
      hint: { command: "repo fork", args: { repo: repository.spelled } },
    });
  }
  return repository;
}

/** Finds a repository of the account at hand that is not archived. */
export async function writableRepository(
  context: WriteContext,
  named: RepoName,
): Promise<Repository> {
  const repository = await ownRepository(context, named);
  if (repository.record.archivedAt !== undefined) {
    throw new RefusedError(`${repository.spelled} is archived`, {
      code: "refused.archived",
      hint: { command: "repo archive", args: { repo: repository.spelled, undo: true } },
    });
  }
  return repository;
}

async function lookUp(
  context: ReadContext,
  owner: Account,
  key: string,
  named: RepoName,
  mayBeOld: boolean,
): Promise<Remembered | undefined> {
  const { mirrors, freshness } = context;
  const known = mirrors.recall(owner, key);
  const age = known && context.now().getTime() - known.checkedAt;
  if (known && age !== undefined && (freshness.offline || (age >= 0 && age < freshness.maxAge))) {
    return known;
  }
  if (freshness.offline) {
    throw new OfflineError(`${key} of ${owner.handle} is not known on this machine`, owner.pds);
  }
  try {
    const found = await ask(context, owner, named, known?.rkey);
    await mirrors.remember(owner, key, found);
    return found;
  } catch (error) {
    if (!(error instanceof RemoteError) || !known || !mayBeOld || freshness.strict) throw error;
    // The mirror says how old it is when it, too, cannot be refreshed.
    return known;
  }
}

async function ask(
  context: ReadContext,
  owner: Account,
  named: RepoName,
  guess: string | undefined,
): Promise<Remembered | undefined> {
  if (!("name" in named)) return await readRepo(context, owner, named.rkey);
  const [found, guessed] = await Promise.all([
    context.records.get(owner, ID.name, named.name.toLowerCase()),
    guess === undefined ? undefined : readRepo(context, owner, guess),
  ]);
  if (found === undefined) return undefined;
  checkRecord(ID.name, found.value, found.uri);
  const { repo } = found.value as Name;
  const target = parseAtUri(repo);
  if (target?.did !== owner.did || target.collection !== ID.repo) {
    throw new CorruptError(`${found.uri} names ${repo}, which is no repository of its owner`);
  }
  if (target.rkey === guess) return guessed;
  const read = await readRepo(context, owner, target.rkey);
  if (read === undefined) {
    throw new NotFoundError(`${spellRepo(owner, named.name)} was deleted`, {
      code: "not_found.repo",
    });
  }
  return read;
}

async function readRepo(
  context: ReadContext,
  owner: Account,
  rkey: string,
): Promise<Remembered | undefined> {
  // The rkey names the copy's folder here: others could be those of other files.
  if (!isTid(rkey)) return undefined;
  const stored = await context.records.get(owner, ID.repo, rkey);
  if (stored === undefined) return undefined;
  checkRecord(ID.repo, stored.value, stored.uri);
  const record = stored.value as Repo;
  const why = refuseName(record.name);
  if (why !== undefined) {
    throw new CorruptError(`${stored.uri} is called ${quote(record.name)}: ${why}`);
  }
  return {
    rkey,
    cid: stored.cid,
    record,
    checkedAt: context.now().getTime(),
  };
}

function spellRecord({ did }: Account, rkey: string): string {
  return atUri(did, ID.repo, rkey);
}
