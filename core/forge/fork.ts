import type { WriteContext } from "../context.ts";
import { ConflictError, NotFoundError } from "../errors.ts";
import { repack } from "../git/repack.ts";
import { openStore } from "../git/store.ts";
import type { RefTarget } from "../mirror/manifest.ts";
import type { Mirror } from "../mirror/mirror.ts";
import { createRepository } from "./create.ts";
import { shortRef } from "./moved.ts";
import type { RepoName } from "./names.ts";
import { withPackFile } from "./pack_file.ts";
import { publish } from "./publish.ts";
import { deleteRepository } from "./remove.ts";
import { findRepository, type Repository } from "./repository.ts";

/** Copies a repository, all its branches and tags and what they reach, into a new one of the account at hand. */
export async function forkRepository(context: WriteContext, named: RepoName, name?: string) {
  const source = await findRepository(context, named);
  const own = name ?? source.name;
  await refuseTaken(context, own);
  const { view } = await source.mirror.latest();
  const fork = await createRepository(context, {
    name: own,
    description: source.record.description,
    topics: source.record.topics,
    default_branch: shortRef(view.head),
    forkOf: source.uri,
  });
  const refs = [...view.refs].filter(([ref]) => /^refs\/(heads|tags)\//.test(ref));
  if (refs.length > 0) {
    try {
      await copyRefs(context, source.mirror, fork, refs);
    } catch (error) {
      await takeBack(context, fork);
      throw error;
    }
  }
  const branches = refs.filter(([ref]) => ref.startsWith("refs/heads/")).length;
  return {
    repo: fork.spelled,
    uri: fork.uri,
    forkOf: { repo: source.spelled, uri: source.uri },
    branches,
    tags: refs.length - branches,
  };
}

/** A name in use is refused before anything is fetched or sent. */
async function refuseTaken(context: WriteContext, name: string): Promise<void> {
  const looking = { ...context, note: () => {}, freshness: { offline: false, maxAge: 0 } };
  let found: Repository;
  try {
    found = await findRepository(looking, { owner: context.account.did, name });
  } catch (error) {
    if (error instanceof NotFoundError) return;
    throw error;
  }
  // An old name, which leads to a repository of another one, may be taken over.
  if (found.name.toLowerCase() !== name.toLowerCase()) return;
  throw new ConflictError(`${found.spelled} exists`, {
    code: "conflict.exists",
    hint: "give another name",
  });
}

async function copyRefs(
  context: WriteContext,
  from: Mirror,
  to: Repository,
  refs: readonly (readonly [string, RefTarget])[],
): Promise<void> {
  const { manifest } = await to.mirror.latest();
  const tips = refs.map(([, { oid }]) => oid);
  await withPackFile(context, to.mirror, async (file) => {
    const store = openStore(from.path);
    try {
      await repack(store, tips, file, context);
    } finally {
      store.close();
    }
    const received = await to.mirror.receive(file, tips);
    const updates = refs.map(([ref, { oid, peeled }]) => ({ ref, new: oid, peeled }));
    await publish(context, to, manifest, { updates, received });
  });
}

async function takeBack(
  context: WriteContext,
  { owner: { did: owner }, rkey, name, spelled }: Repository,
): Promise<void> {
  try {
    await deleteRepository(context, { owner, rkey }, name);
  } catch {
    // What the copy failed for is the error to tell.
    context.note(`${spelled} was made and stays, empty: delete it before you try again`);
  }
}
