import type { WriteContext } from "../context.ts";
import { ConflictError, NotFoundError, RefusedError } from "../errors.ts";
import { utf8 } from "../git/bytes.ts";
import type { Oid } from "../git/object.ts";
import { checkShortName } from "../git/refname.ts";
import { formatTag } from "../git/tag.ts";
import { writePack } from "../git/write_pack.ts";
import { hashObject } from "../git/hash.ts";
import { isReached, withUnreached } from "./bring.ts";
import { decideAgain } from "./decide_again.ts";
import { applyUpdates, refuseCurrent } from "./moved.ts";
import type { RepoName } from "./names.ts";
import { publish } from "./publish.ts";
import { commitAt } from "./reading.ts";
import type { Manifest } from "../mirror/manifest.ts";
import { openWriting, type Writing } from "./writing.ts";

/** Makes a branch at a rev. */
export async function createBranch(
  context: WriteContext,
  named: RepoName,
  { name, rev }: { name: string; rev?: string | undefined },
) {
  checkShortName("branch", name);
  return await decideAgain(await openWriting(context, named), async (writing) => {
    const { repository, manifest, reading } = writing;
    const { commit } = commitAt(reading, rev);
    const ref = `refs/heads/${name}`;
    refuseBranch(manifest, name);
    await withUnreached(context, writing, commit, async (received) => {
      await publish(context, repository, manifest, { updates: [{ ref, new: commit }], received });
    });
    return { branch: name, commit };
  });
}

/** Removes a branch, but not the default one. */
export async function deleteBranch(context: WriteContext, named: RepoName, name: string) {
  const { repository, manifest } = await openWriting(context, named);
  const ref = `refs/heads/${name}`;
  const old = existing(manifest, ref, `branch ${name}`);
  if (manifest.record.head === ref) throw refuseCurrent(ref, repository.spelled);
  await publish(context, repository, manifest, { updates: [{ ref, old }] });
  return { branch: name, commit: old };
}

/** Renames a branch, the default one with HEAD. */
export async function renameBranch(
  context: WriteContext,
  named: RepoName,
  { branch, name }: { branch: string; name: string },
) {
  checkShortName("branch", name);
  const from = `refs/heads/${branch}`;
  const to = `refs/heads/${name}`;
  return await decideAgain(
    await openWriting(context, named),
    async ({ repository, manifest }) => {
      const oid = existing(manifest, from, `branch ${branch}`);
      refuseBranch(manifest, name);
      const updates = [{ ref: from, old: oid }, { ref: to, new: oid }];
      applyUpdates(manifest.refs, updates);
      await publish(context, repository, manifest, {
        updates,
        ...(manifest.record.head === from && { head: to }),
      });
      return { branch: name, was: branch, commit: oid, pulls: [] };
    },
  );
}

/** Makes a tag at a rev, annotated when there is a message; a tag that exists is never moved. */
export async function createTag(
  context: WriteContext,
  named: RepoName,
  { name, rev, message }: {
    name: string;
    rev?: string | undefined;
    message?: string | undefined;
  },
) {
  checkShortName("tag", name);
  const writing = await openWriting(context, named);
  return await decideAgain(writing, async (writing) => {
    const { repository, manifest, reading } = writing;
    const { commit } = commitAt(reading, rev);
    const ref = `refs/tags/${name}`;
    const old = manifest.refs.get(ref)?.oid;
    if (old !== undefined) {
      throw new ConflictError(`the tag ${name} exists: it is at ${old}`, {
        code: "conflict.exists",
        hint: { command: "tag delete", args: { repo: repository.spelled, name } },
      });
    }
    if (message === undefined) {
      await withUnreached(context, writing, commit, async (received) => {
        await publish(context, repository, manifest, { updates: [{ ref, new: commit }], received });
      });
      return { tag: name, sha: commit, commit };
    }
    refuseUnreached(writing, commit);
    const bytes = tagBytes(context, { name, commit, message });
    const sha = hashObject("tag", bytes);
    const pack = writePack([{ oid: sha, kind: "tag", bytes }]);
    const received = await repository.mirror.receive(pack, [sha]);
    await publish(context, repository, manifest, {
      updates: [{ ref, new: sha, peeled: commit }],
      received,
    });
    return { tag: name, sha, commit };
  });
}

function refuseBranch({ refs }: Manifest, name: string): void {
  const oid = refs.get(`refs/heads/${name}`)?.oid;
  if (oid === undefined) return;
  throw new ConflictError(`the branch ${name} exists: it is at ${oid}`, {
    code: "conflict.exists",
  });
}

function refuseUnreached(writing: Writing, commit: Oid): void {
  if (isReached(writing, commit)) return;
  const { spelled } = writing.repository;
  throw new RefusedError(`no branch or tag leads to ${commit}`, {
    code: "refused.unreached",
    hint: {
      command: "branch create",
      args: { repo: spelled, name: commit.slice(0, 7), rev: commit },
    },
  });
}

function tagBytes(
  { author, now }: WriteContext,
  { name, commit, message }: { name: string; commit: Oid; message: string },
): Uint8Array {
  return formatTag({
    object: commit,
    kind: "commit",
    name: utf8(name),
    tagger: {
      name: utf8(author.name),
      email: utf8(author.email),
      time: Math.floor(now().getTime() / 1000),
      zone: "+0000",
    },
    message: utf8(`${message.replace(/\s+$/, "")}\n`),
  });
}

/** Removes a tag. */
export async function deleteTag(context: WriteContext, named: RepoName, name: string) {
  const { repository, manifest } = await openWriting(context, named);
  const ref = `refs/tags/${name}`;
  const old = existing(manifest, ref, `tag ${name}`);
  await publish(context, repository, manifest, { updates: [{ ref, old }] });
  return { tag: name, sha: old };
}

function existing(manifest: Manifest, ref: string, said: string): Oid {
  const oid = manifest.refs.get(ref)?.oid;
  if (oid === undefined) {
    throw new NotFoundError(`there is no ${said}`, { code: "not_found.ref" });
  }
  return oid;
}
