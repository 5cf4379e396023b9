import type { ReadContext } from "../context.ts";
import { KnotlessError } from "../errors.ts";
import { listDirectory } from "./browse.ts";
import { parseRepoName } from "./names.ts";
import { openReading } from "./reading.ts";
import { listRefs } from "./list_refs.ts";

/** More are not looked at: a completion has to come at once. */
const MOST = 1000;

/** What a person may be about to name. */
export const KINDS = ["owner", "repo", "rev", "path"] as const;

/**
 * The values of a kind that begin with `value`, as far as this machine knows any; what is not known here is none. The
 * context is one that is offline.
 */
export async function findKnown(
  context: ReadContext,
  kind: (typeof KINDS)[number],
  value: string,
  { owner, repo, rev }: { owner?: string; repo?: string; rev?: string },
): Promise<string[]> {
  try {
    const all = kind === "owner"
      ? await knownOwners(context)
      : owner === undefined
      ? []
      : kind === "repo"
      ? context.mirrors.names(await context.identity.resolve(owner))
      : repo === undefined
      ? []
      : kind === "rev"
      ? await knownRevs(context, `${owner}/${repo}`)
      : await knownPaths(context, `${owner}/${repo}`, rev, value);
    return all.filter((one) => one.toLowerCase().startsWith(value.toLowerCase()));
  } catch (error) {
    if (error instanceof KnotlessError) return [];
    throw error;
  }
}

/** The reader, and every account with a mirror here whose handle is known. */
async function knownOwners(context: ReadContext): Promise<string[]> {
  const { mirrors, identity } = context;
  const reader = await context.reader();
  const dids = mirrors.owners().slice(0, MOST);
  const handles = await Promise.all(dids.map(async (did) => {
    try {
      const { handle } = await identity.resolve(did);
      return handle === "handle.invalid" ? did : handle;
    } catch (error) {
      if (error instanceof KnotlessError) return did;
      throw error;
    }
  }));
  return [...new Set([...(reader ? [reader.handle] : []), ...handles.sort()])];
}

/** Branches, the default one first, then tags. */
async function knownRevs(context: ReadContext, repo: string): Promise<string[]> {
  const { defaultBranch, branches, tags } = listRefs(
    await openReading(context, parseRepoName(repo)),
  );
  return [...new Set([defaultBranch, ...branches.map(nameOf), ...tags.map(nameOf)])];
}

function nameOf({ name }: { name: string }): string {
  return name;
}

/** What is in the directory that a path has been written down to; a directory ends with a slash. */
async function knownPaths(
  context: ReadContext,
  repo: string,
  rev: string | undefined,
  value: string,
): Promise<string[]> {
  const folder = value.slice(0, value.lastIndexOf("/") + 1);
  const reading = await openReading(context, parseRepoName(repo));
  const { entries } = listDirectory(reading, { rev, path: folder, limit: MOST });
  return entries.filter(({ type }) => type !== "submodule")
    .map(({ name, type }) => `${folder}${name}${type === "directory" ? "/" : ""}`);
}
