import type { WriteContext } from "../context.ts";
import { ConflictError, NotFoundError, quote, RefusedError, UsageError } from "../errors.ts";
import { isAncestor } from "../git/ancestry.ts";
import { utf8 } from "../git/bytes.ts";
import { buildCommit, type BuiltCommit, checkUnmoved, finishMessage } from "../git/commit_build.ts";
import type { Oid } from "../git/object.ts";
import { checkShortName } from "../git/refname.ts";
import { resolveCommit } from "../git/rev.ts";
import type { Change } from "../git/tree_build.ts";
import { writePack } from "../git/write_pack.ts";
import { indexesOf } from "../mirror/indexes.ts";
import { decideAgain } from "./decide_again.ts";
import { shortRef } from "./moved.ts";
import type { RepoName } from "./names.ts";
import { publish } from "./publish.ts";
import { pathBytes } from "./reading.ts";
import { openWriting, type Writing } from "./writing.ts";

/** One change of a commit, as it is asked for. */
export interface AskedChange {
  readonly path: string;
  readonly content?: string | undefined;
  readonly base64?: string | undefined;
  readonly edits?: readonly { readonly old: string; readonly new: string }[] | undefined;
  readonly delete?: boolean | undefined;
}

/**
 * Commits changes to a branch without a working tree. On a branch that moved meanwhile edits are made in the file as it
 * is there; whole files and deletions only where their path is still as it was, else ConflictError.
 */
export async function commitChanges(
  context: WriteContext,
  named: RepoName,
  { branch, message, changes: asked, base }: {
    branch?: string | undefined;
    message: string;
    changes: readonly AskedChange[];
    base?: string | undefined;
  },
) {
  finishMessage(message);
  const changes = asked.map(readChange);
  if (branch !== undefined) checkShortName("branch", branch);
  let seen: { readonly oid: Oid | undefined } | undefined;
  return await decideAgain(await openWriting(context, named), async (writing) => {
    const { repository, manifest, reading } = writing;
    const ref = branch === undefined ? manifest.record.head : `refs/heads/${branch}`;
    const tip = tipOf(writing, ref);
    seen ??= { oid: base === undefined ? tip : baseOf(writing, base, tip, ref) };
    if (tip !== undefined) checkUnmoved(reading.objects, seen.oid, tip, changes);
    const built = build(context, writing, { tip, changes, message });
    const received = await repository.mirror.receive(packOf(writing, built), [built.commit]);
    const firstHead = tip === undefined ? ref : undefined;
    const updates = [{ ref, old: tip, new: built.commit }];
    await publish(context, repository, manifest, { updates, firstHead, received });
    const moved = seen.oid !== tip && changes.some((change) => "edits" in change);
    return { branch: shortRef(ref), commit: built.commit, ...(moved && { moved: true }) };
  });
}

function tipOf({ manifest, repository }: Writing, ref: string): Oid | undefined {
  const tip = manifest.refs.get(ref)?.oid;
  if (tip !== undefined || manifest.refs.size === 0) return tip;
  throw new NotFoundError(`there is no branch ${shortRef(ref)}`, {
    code: "not_found.ref",
    hint: {
      command: "branch create",
      args: { repo: repository.spelled, name: shortRef(ref) },
    },
  });
}

function baseOf(
  { reading }: Writing,
  base: string,
  tip: Oid | undefined,
  ref: string,
): Oid {
  const oid = resolveCommit(reading.scope, base);
  const commits = indexesOf(reading.repository.mirror.path, reading.objects).commits();
  if (tip === undefined || !isAncestor(commits, oid, tip)) {
    throw new ConflictError(`base ${oid} is not in the history of ${shortRef(ref)}`, {
      code: "conflict.base",
    });
  }
  return oid;
}

function build(
  context: WriteContext,
  { reading }: Writing,
  { tip, changes, message }: { tip: Oid | undefined; changes: readonly Change[]; message: string },
): BuiltCommit {
  const person = {
    name: utf8(context.author.name),
    email: utf8(context.author.email),
    time: Math.floor(context.now().getTime() / 1000),
    zone: "+0000",
  };
  return buildCommit(reading.objects, {
    tip,
    changes,
    message,
    author: person,
    committer: person,
  });
}

function packOf({ reading }: Writing, { objects }: BuiltCommit): Uint8Array {
  return writePack(objects.map(({ oid, kind, bytes, base }) => {
    const held = base === undefined ? undefined : reading.objects.read(base);
    return {
      oid,
      kind,
      bytes,
      ...(base !== undefined && held && { base: { oid: base, bytes: held.bytes } }),
    };
  }));
}

function readChange({ path, content, base64, edits, delete: isGone }: AskedChange): Change {
  const given = [content, base64, edits, isGone || undefined].filter((way) => way !== undefined);
  if (given.length !== 1) {
    throw new UsageError(`${quote(path)}: give one of content, base64, edits and delete`);
  }
  const bytes = changePath(path);
  if (content !== undefined) return { path: bytes, content: utf8(content) };
  if (base64 !== undefined) return { path: bytes, content: readBase64(path, base64) };
  if (edits !== undefined) {
    if (edits.length === 0) throw new UsageError(`${quote(path)}: edits is empty`);
    return {
      path: bytes,
      edits: edits.map((edit) => ({ old: utf8(edit.old), new: utf8(edit.new) })),
    };
  }
  return { path: bytes, delete: true };
}

/** Unlike a path to read, a path to write is taken as it is: a slash too many is refused, not forgiven. */
function changePath(path: string): Uint8Array {
  return path.startsWith('"') ? pathBytes(path) : utf8(path);
}

function readBase64(path: string, text: string): Uint8Array {
  const bytes = Buffer.from(text, "base64");
  const plain = text.replace(/\s+/g, "").replace(/=+$/, "");
  if (bytes.toString("base64").replace(/=+$/, "") !== plain) {
    throw new UsageError(`${quote(path)}: base64 is not base64`);
  }
  return bytes;
}

/** Refuses a batch, which only a gateway can write. */
export function refuseBatch(batch: boolean | undefined): void {
  if (batch) {
    throw new RefusedError("there is no gateway yet: leave batch out", {
      code: "refused.no_gateway",
    });
  }
}
