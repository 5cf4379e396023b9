import { ID, type Repo } from "../atproto/lexicons.gen.ts";
import type { WriteContext } from "../context.ts";
import { ConflictError, KnotlessError, NotFoundError, UsageError } from "../errors.ts";
import { checkShortName } from "../git/refname.ts";
import { type Link, spellLink, takeName } from "./create.ts";
import { hasBranches } from "./moved.ts";
import type { RepoName } from "./names.ts";
import { publish } from "./publish.ts";
import { ownRepository, type Repository, repositoryOf, writableRepository } from "./repository.ts";

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
  if (was !== name) {
    if (was.toLowerCase() !== name.toLowerCase()) {
      const isNew = await takeName(context, name, repository.uri);
      if (isNew) await createName(context, repository, name);
    }
    await writeRecord(context, repository, put(repository.record, { name }));
  }
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

async function createName(
  context: WriteContext,
  { uri }: Repository,
  name: string,
): Promise<void> {
  const key = name.toLowerCase();
  const value = { repo: uri, createdAt: context.now().toISOString() };
  try {
    await context.writer.put(ID.name, key, value, null);
  } catch (error) {
    if (!(error instanceof KnotlessError) || error.code !== "conflict.swap") throw error;
    throw new ConflictError(`the name ${name} was taken meanwhile`, {
      code: "conflict.exists",
      cause: error,
    });
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
    throw new ConflictError(`${spelled} was changed meanwhile`, {
      code: "conflict.changed",
      cause: error,
      hint: "look at it again, then try again",
    });
  } finally {
    for (const key of [name, next.name]) {
      await context.mirrors.remember(owner, key.toLowerCase(), undefined);
    }
  }
}

/** The record with these fields put in, and without those that are undefined; fields not known here stay. */
function put(record: Repo, fields: { [K in keyof Repo]?: Repo[K] | undefined }): Repo {
  const next = { ...record, ...fields };
  return Object.fromEntries(
    Object.entries(next).filter(([, value]) => value !== undefined),
  ) as unknown as Repo;
}
