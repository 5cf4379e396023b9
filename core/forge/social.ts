import { type Follow, ID, type Star } from "../atproto/lexicons.gen.ts";
import { isDid, parseAtUri } from "../atproto/syntax.ts";
import { matchesLexicon } from "../atproto/validate.ts";
import type { Account } from "../atproto/identity.ts";
import type { StoredRecord } from "../atproto/records.ts";
import type { ReadContext, WriteContext } from "../context.ts";
import { KnotlessError, NotFoundError, RefusedError, UsageError } from "../errors.ts";
import type { RepoName } from "./names.ts";
import { findRepository } from "./repository.ts";

type Mark = Star | Follow;

/** Follows an account, or with undo stops; `uri` is the follow's, of the one taken back for undo. */
export async function followAccount(context: WriteContext, actor: string, undo: boolean) {
  const { did } = await context.identity.resolve(actor);
  if (did === context.account.did) {
    throw new RefusedError("that is you: an account does not follow itself");
  }
  const uri = await mark(context, ID.follow, did, undo);
  return { following: !undo, uri };
}

/** Whom an account follows, newest first; yours without one. */
export async function listFollows(context: ReadContext, actor: string | undefined) {
  const account = await accountOf(context, actor);
  const follows: { handle: string; did: string; uri: string; createdAt: string }[] = [];
  for (const { uri, value } of await listMarks(context, account, ID.follow)) {
    const { subject, createdAt } = value;
    if (!isDid(subject)) continue;
    follows.push({ handle: await handleOf(context, subject), did: subject, uri, createdAt });
  }
  return { follows };
}

/** Stars a repository, or with undo takes the star back. */
export async function starRepository(context: WriteContext, named: RepoName, undo: boolean) {
  const { uri: subject } = await findRepository(context, named);
  const uri = await mark(context, ID.star, subject, undo);
  return { starred: !undo, uri };
}

/** The repositories an account starred, newest first; one that is gone is null. */
export async function listStars(context: ReadContext, actor: string | undefined) {
  const account = await accountOf(context, actor);
  const stars: { repo: string | null; uri: string; createdAt: string }[] = [];
  for (const { uri, value } of await listMarks(context, account, ID.star)) {
    const { subject, createdAt } = value;
    stars.push({ repo: await spelledOf(context, subject), uri, createdAt });
  }
  return { stars };
}

/** The account that was named, or the one at hand; neither is a UsageError. */
export async function accountOf(
  context: ReadContext,
  actor: string | undefined,
): Promise<Account> {
  if (actor !== undefined) return await context.identity.resolve(actor);
  const reader = await context.reader();
  if (reader) return reader;
  throw new UsageError("handle is missing: whose, when no one is logged in", {
    hint: { signIn: "none" },
  });
}

/** Takes back every star that the account at hand has on these repositories. */
export async function unstarAll(context: WriteContext, subject: string): Promise<number> {
  const mine = await marksOn(context, context.account, ID.star, subject);
  for (const { uri } of mine) await context.writer.delete(ID.star, rkeyOf(uri));
  return mine.length;
}

/** Writes a mark on a subject unless there is one; undo deletes every one and gives the oldest, null without any. */
async function mark(
  context: WriteContext,
  collection: string,
  subject: string,
  undo: boolean,
): Promise<string | null> {
  const marks = await marksOn(context, context.account, collection, subject);
  const oldest = marks.at(-1);
  if (undo) {
    for (const { uri } of marks) await context.writer.delete(collection, rkeyOf(uri));
    return oldest?.uri ?? null;
  }
  if (oldest) return oldest.uri;
  const createdAt = context.now().toISOString();
  return (await context.writer.create(collection, context.tid(), { subject, createdAt })).uri;
}

async function marksOn(
  context: ReadContext,
  account: Account,
  collection: string,
  subject: string,
): Promise<StoredRecord<Mark>[]> {
  const all = await listValid(context, account, collection);
  return all.filter(({ value }) => value.subject === subject);
}

/** Newest first; of several on one subject the oldest counts. */
async function listMarks(
  context: ReadContext,
  account: Account,
  collection: string,
): Promise<StoredRecord<Mark>[]> {
  const oldest = new Map<string, StoredRecord<Mark>>();
  for (const record of await listValid(context, account, collection)) {
    oldest.set(record.value.subject, record);
  }
  return [...oldest.values()].sort((a, b) =>
    b.value.createdAt < a.value.createdAt ? -1 : b.value.createdAt > a.value.createdAt ? 1 : 0
  );
}

/** Newest rkey first. A record that is not what its lexicon says does not count. */
async function listValid(
  context: ReadContext,
  account: Account,
  collection: string,
): Promise<StoredRecord<Mark>[]> {
  const found: StoredRecord<Mark>[] = [];
  for await (const record of context.records.list(account, collection)) {
    if (matchesLexicon(collection, record.value)) found.push(record as StoredRecord<Mark>);
  }
  return found;
}

async function handleOf(context: ReadContext, did: string): Promise<string> {
  try {
    return (await context.identity.resolve(did)).handle;
  } catch (error) {
    if (error instanceof KnotlessError) return "handle.invalid";
    throw error;
  }
}

async function spelledOf(context: ReadContext, subject: string): Promise<string | null> {
  const target = parseAtUri(subject);
  if (target?.collection !== ID.repo) return null;
  try {
    const named = { owner: target.did, rkey: target.rkey };
    return (await findRepository(context, named)).spelled;
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
}

function rkeyOf(uri: string): string {
  return uri.slice(uri.lastIndexOf("/") + 1);
}
