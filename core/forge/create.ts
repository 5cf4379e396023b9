import { ID, type Name, type Refs, type Repo } from "../atproto/lexicons.gen.ts";
import { atUri, parseAtUri } from "../atproto/syntax.ts";
import { checkRecord } from "../atproto/validate.ts";
import type { WriteContext } from "../context.ts";
import { ConflictError, KnotlessError, RefusedError } from "../errors.ts";
import { checkShortName } from "../git/refname.ts";
import { spellRepo } from "./names.ts";
import { type Repository, repositoryOf } from "./repository.ts";

/** A link shown with a repository. */
export interface Link {
  readonly url: string;
  readonly title?: string | undefined;
}

/** What a repository is made with. */
export interface Creation {
  readonly name: string;
  readonly description?: string | undefined;
  readonly links?: readonly Link[] | undefined;
  readonly topics?: readonly string[] | undefined;
  readonly default_branch?: string | undefined;
  readonly forkOf?: string | undefined;
}

/** Makes an empty repository: its name, itself and its refs, in one write. A name in use is a ConflictError. */
export async function createRepository(
  context: WriteContext,
  creation: Creation,
): Promise<Repository> {
  const { name, description, links, topics, default_branch = "main", forkOf } = creation;
  checkShortName("branch", default_branch);
  const { account, writer } = context;
  const createdAt = context.now().toISOString();
  const rkey = context.tid();
  const uri = atUri(account.did, ID.repo, rkey);
  const record: Repo = {
    name,
    ...(description && { description }),
    ...(links?.length && { links: links.map(spellLink) }),
    ...(topics?.length && { topics: [...topics] }),
    ...(forkOf !== undefined && { forkOf }),
    createdAt,
  };
  const refs: Refs = {
    head: `refs/heads/${default_branch}`,
    refs: [],
    tail: [],
    packs: [],
    retired: [],
    log: [],
    generation: 1,
    id: context.tid(),
  };
  const isNew = await takeName(context, name, uri);
  try {
    const { results } = await writer.apply([
      ...(isNew
        ? [{
          action: "create" as const,
          collection: ID.name,
          rkey: name.toLowerCase(),
          value: { repo: uri, createdAt },
        }]
        : []),
      { action: "create", collection: ID.repo, rkey, value: record },
      { action: "create", collection: ID.refs, rkey, value: refs },
    ]);
    const cid = results.find((result) => result?.uri === uri)?.cid ?? "";
    return repositoryOf(context, account, { rkey, cid, record });
  } catch (error) {
    if (!(error instanceof KnotlessError)) throw error;
    // A PDS answers an rkey that exists, and a write whose answer was lost, alike: look, then decide.
    const landed = await context.records.get(account, ID.repo, rkey);
    if (landed) return repositoryOf(context, account, { rkey, cid: landed.cid, record });
    const taken = await context.records.get(account, ID.name, name.toLowerCase());
    if (taken && isNew) throw nameInUse(context, name);
    throw error;
  }
}

/**
 * Sees to it that a new repository may have the name: true when the name record is yet to be made, false when a
 * redirect has been taken over. A name in use is a ConflictError.
 */
export async function takeName(context: WriteContext, name: string, uri: string): Promise<boolean> {
  const { account, records, writer } = context;
  const key = name.toLowerCase();
  const found = await records.get(account, ID.name, key);
  if (found === undefined) return true;
  checkRecord(ID.name, found.value, found.uri);
  const { repo } = found.value as Name;
  if (repo === uri) return false;
  const target = parseAtUri(repo);
  const holder = target && await records.get(account, ID.repo, target.rkey);
  const held = holder && (holder.value as Repo).name;
  if (typeof held === "string" && held.toLowerCase() === key) throw nameInUse(context, held);
  const createdAt = context.now().toISOString();
  await writer.put(ID.name, key, { repo: uri, createdAt }, found.cid);
  return false;
}

function nameInUse({ account }: WriteContext, name: string): ConflictError {
  return new ConflictError(`${spellRepo(account, name)} exists`, {
    code: "conflict.exists",
    hint: "give another name",
  });
}

/** A link as its record has it. */
export function spellLink({ url, title }: Link): { url: string; title?: string } {
  return { url, ...(title !== undefined && { title }) };
}

/** Refuses what a repository cannot have yet. */
export function refuseUnbuilt(
  { private: isPrivate, runners }: {
    private?: boolean | undefined;
    runners?: readonly string[] | undefined;
  },
): void {
  if (isPrivate) {
    throw new RefusedError("this PDS has no spaces, so a repository cannot be private yet", {
      code: "refused.no_spaces",
    });
  }
  if (runners && runners.length > 0) {
    throw new RefusedError("there are no runners yet: leave runners out", {
      code: "refused.no_runners",
    });
  }
}
