import { ID } from "../atproto/lexicons.gen.ts";
import { isTid, tidTime } from "../atproto/syntax.ts";
import type { Write } from "../atproto/writer.ts";
import type { WriteContext } from "../context.ts";
import { KnotlessError, UsageError } from "../errors.ts";
import type { RepoName } from "./names.ts";
import { ownRepository } from "./repository.ts";
import { unstarAll } from "./social.ts";

/** The most writes a PDS takes in one commit. */
const BATCH = 200;
/** What is younger may belong to a repository that is being made. */
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Deletes a repository with all that is in it. The repository, its names and its refs go first, in one write, so that a
 * crash leaves packs without a repository, never a repository without packs. What a deletion that was cut off has left
 * behind for more than a day goes too.
 */
export async function deleteRepository(context: WriteContext, named: RepoName, confirm: string) {
  const { uri, rkey, name, owner, mirror, spelled } = await ownRepository(context, named);
  if (confirm !== name) {
    throw new UsageError(`confirm is not the repository's name: give ${name} to delete ${spelled}`);
  }
  const names = await find(context, ID.name, (repo) => repo === uri);
  const refs = await context.records.get(owner, ID.refs, rkey);
  let records = await remove(context, [
    ...names,
    { action: "delete", collection: ID.repo, rkey },
    ...(refs ? [{ action: "delete" as const, collection: ID.refs, rkey }] : []),
  ]);
  const there = new Set<string>();
  for await (const { uri } of context.records.list(owner, ID.repo)) there.add(uri);
  const before = context.now().getTime() - DAY_MS;
  for (const collection of [ID.log, ID.pack]) {
    const left = await find(
      context,
      collection,
      (repo, rkey) => repo === uri || (!there.has(repo) && isTid(rkey) && tidTime(rkey) < before),
    );
    records += await remove(context, left);
  }
  records += await unstarAll(context, uri);
  for (const write of names) await context.mirrors.remember(owner, write.rkey, undefined);
  await context.mirrors.remember(owner, rkey, undefined);
  await mirror.remove();
  return { deleted: uri, records };
}

async function find(
  context: WriteContext,
  collection: string,
  goes: (repo: string, rkey: string) => boolean,
): Promise<Write[]> {
  const found: Write[] = [];
  for await (const { uri, value } of context.records.list(context.account, collection)) {
    const { repo } = value as { repo?: unknown };
    const rkey = uri.slice(uri.lastIndexOf("/") + 1);
    if (typeof repo !== "string" || !goes(repo, rkey)) continue;
    found.push({ action: "delete", collection, rkey });
  }
  return found;
}

async function remove(context: WriteContext, writes: readonly Write[]): Promise<number> {
  for (let start = 0; start < writes.length; start += BATCH) {
    const batch = writes.slice(start, start + BATCH);
    try {
      await context.writer.apply(batch);
    } catch (error) {
      const isDoubt = error instanceof KnotlessError && error.code === "remote.doubt";
      if (!isDoubt || !await isGone(context, batch)) throw error;
    }
  }
  return writes.length;
}

/** A batch goes as a whole: the first of it tells. */
async function isGone(context: WriteContext, [first]: readonly Write[]): Promise<boolean> {
  return first === undefined ||
    await context.records.get(context.account, first.collection, first.rkey) === undefined;
}
