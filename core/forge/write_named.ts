import { ID, type Name, type Repo } from "../atproto/lexicons.gen.ts";
import { pause } from "../atproto/http.ts";
import { parseAtUri } from "../atproto/syntax.ts";
import { checkRecord } from "../atproto/validate.ts";
import type { Write, Writer } from "../atproto/writer.ts";
import type { WriteContext } from "../context.ts";
import { ConflictError, KnotlessError } from "../errors.ts";
import { spellRepo } from "./names.ts";

const TRIES = 6;

/**
 * Writes a repository's records together with the record that gives it `name`, in one commit or not at all: between the
 * two another might take the name. `make` gives the records, anew for each try. A name in use is a ConflictError.
 */
export async function writeNamed(
  context: WriteContext,
  { name, uri }: { name: string; uri: string },
  make: () => Promise<readonly Write[]>,
): ReturnType<Writer["apply"]> {
  for (let attempt = 1;; attempt++) {
    const commit = await context.records.latestCommit(context.account);
    const writes = [...await make(), ...await nameWrites(context, name, uri)];
    try {
      return await context.writer.apply(writes, commit);
    } catch (error) {
      if (!(error instanceof KnotlessError) || error.code !== "conflict.swap") throw error;
      if (attempt === TRIES) {
        throw new ConflictError(`${context.account.handle} is being written to by others`, {
          code: "conflict.busy",
          cause: error,
          hint: "try again",
        });
      }
      await pause(context.random() * 50 * 2 ** attempt, context.signal);
    }
  }
}

/** The write that makes the name's record, or takes over a redirect; none when it leads to the repository already. */
async function nameWrites(context: WriteContext, name: string, uri: string): Promise<Write[]> {
  const { account, records } = context;
  const rkey = name.toLowerCase();
  const found = await records.get(account, ID.name, rkey);
  const value = { repo: uri, createdAt: context.now().toISOString() };
  if (found === undefined) return [{ action: "create", collection: ID.name, rkey, value }];
  checkRecord(ID.name, found.value, found.uri);
  const { repo } = found.value as Name;
  if (repo === uri) return [];
  const target = parseAtUri(repo);
  const holder = target && await records.get(account, ID.repo, target.rkey);
  const held = holder && (holder.value as Repo).name;
  if (typeof held === "string" && held.toLowerCase() === rkey) {
    throw new ConflictError(`${spellRepo(account, held)} exists`, {
      code: "conflict.exists",
      hint: "give another name",
    });
  }
  return [{ action: "update", collection: ID.name, rkey, value }];
}
