import type { Account } from "../atproto/identity.ts";
import { ID, type Repo } from "../atproto/lexicons.gen.ts";
import type { WriteContext } from "../context.ts";
import { ConflictError, KnotlessError, NotFoundError, UsageError } from "../errors.ts";
import { checkShortName } from "../git/refname.ts";
import { type Link, spellLink } from "./create.ts";
import { hasBranches } from "./moved.ts";
import type { RepoName } from "./names.ts";
import { publish } from "./publish.ts";
import { ownRepository, type Repository, repositoryOf, writableRepository } from "./repository.ts";
import { writeNamed } from "./write_named.ts";

/** Changes what a repository says of itself, and the branch its HEAD names. */
export async function editRepository(
  context: WriteContext,
  named: RepoName,
  edit: {
    description?: string | undefined;
    links?: readonly Link[] | undefined;
    topics?: readonly string[] | undefined;
    default_branch?: string | undefined;
  },
) {
  const { description, links, topics, default_branch } = edit;
  if (Object.values(edit).every((value) => value === undefined)) {
    throw new UsageError("nothing to change: give description, links, topics or default_branch");
  }
  if (default_branch !== undefined) checkShortName("branch", default_branch);
  const repository = await writableRepository(context, named);
  const { manifest } = await repository.mirror.latest({ toWrite: true });
  const head = default_branch === undefined ? manifest.record.head : `refs/heads/${default_branch}`;
  if (!manifest.refs.has(head) && head !== manifest.record.head && hasBranches(manifest.refs)) {
    throw new NotFoundError(`there is no branch ${default_branch}`, { code: "not_found.ref" });
  }
  const { record } = repository;
  const next = put(record, {
    ...(description !== undefined && { description: description || undefined }),
    ...(links !== undefined && { links: links.length > 0 ? links.map(spellLink) : undefined }),
    ...(topics !== undefined && { topics: topics.length > 0 ? [...topics] : undefined }),
  });
  if (JSON.stringify(next) !== JSON.stringify(record)) {
    await writeRecord(context, repository, next);
  }
  if (head !== manifest.record.head) {
    await publish(context, repository, manifest, { updates: [], head });
  }
  return {
    description: next.description ?? "",
    links: next.links ?? [],
    topics: next.topics ?? [],
    defaultBranch: head.replace(/^refs\/heads\//, ""),
  };
}

/** Gives a repository another name; the old one leads to it from then on. */
export async function renameRepository(context: WriteContext, named: RepoName, name: string) {
  const repository = await writableRepository(context, named);
  const was = repository.name;
  if (was !== name) await writeName(context, repository, name);
  const renamed = repositoryOf(context, repository.owner, {
    ...repository,
    record: put(repository.record, { name }),
  });
  return { repo: renamed.spelled, uri: repository.uri, was };
}

/** Makes a repository read only, or with undo writable again. */
export async function archiveRepository(context: WriteContext, named: RepoName, undo: boolean) {
  const repository = await ownRepository(context, named);
  const { archivedAt } = repository.record;
  if (undo ? archivedAt === undefined : archivedAt !== undefined) {
    return { archivedAt: archivedAt ?? null };
  }
  const next = undo ? undefined : context.now().toISOString();
  await writeRecord(context, repository, put(repository.record, { archivedAt: next }));
  return { archivedAt: next ?? null };
}

/** Writes the repository's record with the new name and the name's own record in one commit. */
async function writeName(
  context: WriteContext,
  { owner, rkey, cid, uri, spelled, name: was, record }: Repository,
  name: string,
): Promise<void> {
  const read = () => context.records.get(owner, ID.repo, rkey);
  try {
    await writeNamed(context, { name, uri }, async () => {
      if ((await read())?.cid !== cid) throw changed(spelled);
      return [{ action: "update", collection: ID.repo, rkey, value: put(record, { name }) }];
    });
  } catch (error) {
    if (!(error instanceof KnotlessError) || error.code !== "remote.doubt") throw error;
    const now = (await read())?.value as Repo | undefined;
    if (now?.name !== name) throw error;
  } finally {
    await forgetNames(context, owner, [was, name]);
  }
}

async function writeRecord(
  context: WriteContext,
  { owner, rkey, cid, spelled, name }: Repository,
  next: Repo,
): Promise<void> {
  try {
    await context.writer.put(ID.repo, rkey, next, cid);
  } catch (error) {
    if (!(error instanceof KnotlessError) || error.code !== "conflict.swap") throw error;
    throw changed(spelled, error);
  } finally {
    await forgetNames(context, owner, [name, next.name]);
  }
}

function changed(spelled: string, cause?: unknown): ConflictError {
  return new ConflictError(`${spelled} was changed meanwhile`, {
    code: "conflict.changed",
    cause,
    hint: "look at it again, then try again",
  });
}

async function forgetNames(
  { mirrors }: WriteContext,
  owner: Account,
  names: readonly string[],
): Promise<void> {
  for (const name of names) await mirrors.remember(owner, name.toLowerCase(), undefined);
}

/** The record with these fields put in, and without those that are undefined; fields not known here stay. */
function put(record: Repo, fields: { [K in keyof Repo]?: Repo[K] | undefined }): Repo {
  const next = { ...record, ...fields };
  return Object.fromEntries(
    Object.entries(next).filter(([, value]) => value !== undefined),
  ) as unknown as Repo;
}
