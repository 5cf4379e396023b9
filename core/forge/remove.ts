import { ID } from "../atproto/lexicons.gen.ts";
import type { Write } from "../atproto/writer.ts";
import type { WriteContext } from "../context.ts";
import { UsageError } from "../errors.ts";
import type { RepoName } from "./names.ts";
import { ownRepository } from "./repository.ts";
import { unstarAll } from "./social.ts";

/** The most writes a PDS takes in one commit. */
const BATCH = 200;

/**
 * Deletes a repository with all that is in it. The repository, its names and its refs go first, in one write, so that a
 * crash leaves packs without a repository, never a repository without packs.
 */
export async function deleteRepository(context: WriteContext, named: RepoName, confirm: string) {
  const { uri, rkey, name, owner, mirror, spelled } = await ownRepository(context, named);
  if (confirm !== name) {
    throw new UsageError(`confirm is not the repository's name: give ${name} to delete ${spelled}`);
  }
  const names = await find(context, ID.name, uri);
  const refs = await context.records.get(owner, ID.refs, rkey);
  let records = await remove(context, [
    ...names,
    { action: "delete", collection: ID.repo, rkey },
    ...(refs ? [{ action: "delete" as const, collection: ID.refs, rkey }] : []),
  ]);
  for (const collection of [ID.log, ID.pack]) {
    records += await remove(context, await find(context, collection, uri));
  }
  records += await unstarAll(context, uri);
  for (const write of names) await context.mirrors.remember(owner, write.rkey, undefined);
  await context.mirrors.remember(owner, rkey, undefined);
  await mirror.remove();
  return { deleted: uri, records };
}

async function find(context: WriteContext, collection: string, repo: string): Promise<Write[]> {
  const found: Write[] = [];
  for await (const { uri, value } of context.records.list(context.account, collection)) {
    if ((value as { repo?: unknown }).repo !== repo) continue;
    found.push({ action: "delete", collection, rkey: uri.slice(uri.lastIndexOf("/") + 1) });
  }
  return found;
}

async function remove(context: WriteContext, writes: readonly Write[]): Promise<number> {
  for (let start = 0; start < writes.length; start += BATCH) {
    await context.writer.apply(writes.slice(start, start + BATCH));
  }
  return writes.length;
}
