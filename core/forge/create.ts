import { ID, type Refs, type Repo } from "../atproto/lexicons.gen.ts";
import { atUri } from "../atproto/syntax.ts";
import type { WriteContext } from "../context.ts";
import { KnotlessError, RefusedError } from "../errors.ts";
import { checkShortName } from "../git/refname.ts";
import { type Repository, repositoryOf } from "./repository.ts";
import { writeNamed } from "./write_named.ts";

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
  const { account } = context;
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
  try {
    const { results } = await writeNamed(context, { name, uri }, () =>
      Promise.resolve([
        { action: "create", collection: ID.repo, rkey, value: record },
        { action: "create", collection: ID.refs, rkey, value: refs },
      ]));
    const cid = results.find((result) => result?.uri === uri)?.cid ?? "";
    return repositoryOf(context, account, { rkey, cid, record });
  } catch (error) {
    if (!(error instanceof KnotlessError) || error.code !== "remote.doubt") throw error;
    const landed = await context.records.get(account, ID.repo, rkey);
    if (landed === undefined) throw error;
    return repositoryOf(context, account, { rkey, cid: landed.cid, record });
  }
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
