import type { WriteContext } from "../context.ts";
import { ConflictError, CorruptError, NotFoundError, quote, UsageError } from "../errors.ts";
import { isAncestor } from "../git/ancestry.ts";
import { log, readCommits } from "../git/history.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import { checkRefName } from "../git/refname.ts";
import { indexesOf } from "../mirror/indexes.ts";
import type { RefTarget } from "../mirror/manifest.ts";
import { peeledOf } from "../mirror/verify.ts";
import { fetchPack } from "./fetch_pack.ts";
import { type RefUpdate, shortRef } from "./moved.ts";
import type { RepoName } from "./names.ts";
import { withPackFile } from "./pack_file.ts";
import { publish } from "./publish.ts";
import { openWriting, type Writing } from "./writing.ts";
import { readRemoteUrl } from "./remote_url.ts";
import type { Advertised } from "./smart_http.ts";

const MOST_HAVES = 1000;
/** The most refs that are named in a message. */
const MOST_NAMED = 10;

/**
 * Brings the branches and tags of a repository at any git host, named by its http(s) URL, into one of the account's.
 * A branch that is there is only moved forward and a tag never: if one would have to be, nothing is written and a
 * ConflictError lists them.
 */
export async function importRepository(
  context: WriteContext,
  named: RepoName,
  from: string,
): Promise<void> {
  const remote = readRemoteUrl(from);
  const writing = await openWriting(context, named);
  const { discover } = await import("./smart_http.ts");
  const found = await discover(remote, context);
  const shown = quote(found.remote.url.href);
  const { refs } = writing.manifest;
  const theirs = branchesAndTags(context, found);
  if (theirs.size === 0) {
    throw new NotFoundError(`${shown} has no commits yet`, { code: "not_found.empty" });
  }
  const wanted = new Map([...theirs].filter(([ref, oid]) => refs.get(ref)?.oid !== oid));
  if (wanted.size === 0) return context.note(`${shown} has nothing new`);
  const held = reachedOf(writing, new Set(wanted.values()));
  const wants = [...new Set(wanted.values())].filter((oid) => !held.has(oid));
  const haves = [...new Set([...held, ...[...refs.values()].map(({ oid }) => oid)])];
  if (wants.length === 0) return await write(context, writing, found, wanted);
  await withPackFile(context, writing.repository.mirror, async (file) => {
    await fetchPack(found, { wants, haves: haves.slice(0, MOST_HAVES), file }, context);
    await write(context, writing, found, wanted, file);
  });
}

async function write(
  context: WriteContext,
  { repository, manifest, reading }: Writing,
  { remote, head }: Advertised,
  wanted: ReadonlyMap<string, Oid>,
  file?: string,
): Promise<void> {
  const { mirror } = repository;
  const received = file === undefined
    ? undefined
    : await mirror.receive(file, [...wanted.values()]);
  let updates: readonly RefUpdate[];
  try {
    const objects = received?.reader ?? reading.objects;
    updates = planUpdates(objects, manifest.refs, wanted, quote(remote.url.href));
  } catch (error) {
    if (received) await mirror.discard(received);
    throw error;
  }
  const isFirst = manifest.refs.size === 0;
  await publish(context, repository, manifest, {
    updates,
    received,
    head: isFirst ? headOf(head, wanted) : undefined,
  });
}

/** The branches and tags that the host has; those whose names no repository here can have are left out with a note. */
function branchesAndTags(context: WriteContext, { refs, remote }: Advertised): Map<string, Oid> {
  const taken = new Map<string, Oid>();
  const left: string[] = [];
  for (const [ref, oid] of refs) {
    if (!/^refs\/(heads|tags)\//.test(ref) || ref.endsWith("^{}")) continue;
    try {
      checkRefName(ref);
      taken.set(ref, oid);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      left.push(ref);
    }
  }
  if (left.length > 0) {
    context.note(`left out of ${quote(remote.url.href)}, by their names: ${listed(left)}`);
  }
  return taken;
}

/**
 * Those of the oids that our refs reach. What else lies in the copy on this machine does not count: the packs at the
 * PDS need not have it.
 */
function reachedOf({ manifest, reading }: Writing, sought: ReadonlySet<Oid>): Set<Oid> {
  const { objects, repository } = reading;
  const left = new Set([...sought].filter((oid) => objects.has(oid)));
  const reached = new Set<Oid>();
  const find = (oid: Oid) => {
    if (left.delete(oid)) reached.add(oid);
  };
  const targets = [...manifest.refs.values()];
  for (const { oid, peeled } of targets) {
    find(oid);
    if (peeled !== undefined) find(peeled);
  }
  const tips = targets.map(({ oid, peeled }) => peeled ?? oid)
    .filter((oid) => objects.info(oid)?.kind === "commit");
  if (![...left].some((oid) => objects.info(oid)?.kind === "commit")) return reached;
  const commits = indexesOf(repository.mirror.path, objects).commits();
  for (const oid of log({ commits, tips: [...new Set(tips)] })) {
    find(oid);
    if (left.size === 0) break;
  }
  return reached;
}

function planUpdates(
  objects: ObjectReader,
  refs: ReadonlyMap<string, RefTarget>,
  wanted: ReadonlyMap<string, Oid>,
  shown: string,
): RefUpdate[] {
  const commits = readCommits(objects);
  const apart: string[] = [];
  const updates: RefUpdate[] = [];
  for (const [ref, oid] of wanted) {
    const isBranch = ref.startsWith("refs/heads/");
    const kind = objects.info(oid)?.kind;
    if (isBranch && kind !== "commit") {
      throw new CorruptError(`${quote(ref)} of ${shown} is at a ${kind}, not at a commit`);
    }
    const old = refs.get(ref)?.oid;
    if (old !== undefined && !(isBranch && isAncestor(commits, old, oid))) apart.push(ref);
    updates.push({ ref, old, new: oid, peeled: peeledOf(objects, oid) });
  }
  if (apart.length === 0) return updates;
  throw new ConflictError(
    `nothing was imported: ${listed(apart.map(shortRef))} moved apart from ${shown}`,
    {
      code: "conflict.not_fast_forward",
      facts: { refs: apart },
      hint: "delete or rename them here, or import into another repository",
    },
  );
}

/** The branch that HEAD of a repository without refs is to name. */
function headOf(theirs: string | undefined, wanted: ReadonlyMap<string, Oid>): string | undefined {
  const usual = [theirs, "refs/heads/main", "refs/heads/master"];
  return usual.find((ref) =>
    ref !== undefined && ref.startsWith("refs/heads/") && wanted.has(ref)
  ) ??
    [...wanted.keys()].find((ref) => ref.startsWith("refs/heads/"));
}

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  const some = names.slice(0, MOST_NAMED).map(quote).join(", ");
  return more > 0 ? `${some} and ${more} more` : some;
}
