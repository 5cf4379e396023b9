import { KnotlessError } from "../core/errors.ts";
import { hasBranches, type RefUpdate, spellCurrent } from "../core/forge/moved.ts";
import type { ObjectKind, Oid } from "../core/git/object.ts";
import { checkRefName } from "../core/git/refname.ts";
import type { Manifest } from "../core/mirror/manifest.ts";
import { fromWire } from "./lines.ts";

/** One `push` line: what is to be where. */
export interface Request {
  /** An expression for the object, one character a byte; undefined for a deletion. */
  readonly source: string | undefined;
  /** The ref's name, one character a byte. */
  readonly target: string;
  /** True when it need not lead on from where the ref is. */
  readonly isForced: boolean;
}

/** A request and the object that it is about. */
export interface Resolved extends Request {
  readonly object: { readonly oid: Oid; readonly kind: ObjectKind } | undefined;
  /** The kind of what the ref is at, when the repository at hand has it. */
  readonly before: ObjectKind | undefined;
}

/** Reads what follows `push ` on a line; a leading `+` forces. */
export function parseRequest(line: string): Request {
  const colon = line.lastIndexOf(":");
  const isForced = line.startsWith("+");
  const source = line.slice(isForced ? 1 : 0, colon);
  return { source: source === "" ? undefined : source, target: line.slice(colon + 1), isForced };
}

/** What the requests come to. */
export interface Plan {
  /** By the ref's name as its request has it. */
  readonly updates: ReadonlyMap<string, RefUpdate>;
  /** Why a request cannot be met, in git's words. */
  readonly refused: ReadonlyMap<string, string>;
  /** Refs that are elsewhere than git was told. */
  readonly moved: readonly Moved[];
}

/** A ref that is elsewhere than git was told. */
export interface Moved {
  readonly ref: string;
  readonly old: Oid | undefined;
  readonly now: Oid | undefined;
}

/** What a plan is made from. */
export interface Situation {
  readonly manifest: Manifest;
  /** The refs as git was told of them. */
  readonly listed: ReadonlyMap<string, Oid>;
  /** By the ref's name, one character a byte: the oid that must be there, undefined for none. */
  readonly leases: ReadonlyMap<string, Oid | undefined>;
  readonly atomic: boolean;
}

/** Decides which requests can be met; of an atomic push all or none. */
export function planPush(requests: readonly Resolved[], situation: Situation): Plan {
  const updates = new Map<string, RefUpdate>();
  const refused = new Map<string, string>();
  const moved: Moved[] = [];
  const names = new Set(situation.manifest.refs.keys());
  // What goes makes room for what comes: a branch a for a branch a/b.
  const inOrder = [
    ...requests.filter(({ source }) => source === undefined),
    ...requests.filter(({ source }) => source !== undefined),
  ];
  for (const request of inOrder) {
    const ref = fromWire(request.target);
    const why = ref === undefined
      ? "the name of the ref is not UTF-8"
      : whyMoved(request.target, ref, situation, moved) ?? whyNot(request, ref, situation, names);
    if (why !== undefined || ref === undefined) {
      refused.set(request.target, why ?? "");
      continue;
    }
    const old = situation.manifest.refs.get(ref)?.oid;
    if (request.object === undefined) names.delete(ref);
    else names.add(ref);
    updates.set(request.target, { ref, old, new: request.object?.oid });
  }
  return situation.atomic && refused.size > 0
    ? { updates: new Map(), refused: refuseOthers(requests, refused), moved }
    : { updates, refused, moved };
}

/** Refuses, in git's words, what an atomic push must leave for the sake of what is refused already. */
export function refuseOthers(
  requests: readonly Request[],
  refused: ReadonlyMap<string, string>,
): Map<string, string> {
  return new Map(
    requests.map(({ target }) => [target, refused.get(target) ?? "atomic push failure"]),
  );
}

function whyMoved(
  target: string,
  ref: string,
  { manifest, listed, leases }: Situation,
  moved: Moved[],
): string | undefined {
  const now = manifest.refs.get(ref)?.oid;
  const old = listed.get(ref);
  if (now !== old) moved.push({ ref, old, now });
  if (leases.has(target)) return leases.get(target) === now ? undefined : "stale info";
  return now === old ? undefined : "fetch first";
}

/**
 * Refuses what git leaves to the helper to refuse: a ref that is at what the repository at hand has never seen, or that
 * is no line of commits. Where git has both commits it has looked itself whether one leads to the other.
 */
function whyUnforced(
  { isForced, target, object, before }: Resolved,
  leases: Situation["leases"],
): string | undefined {
  if (isForced || leases.has(target)) return undefined;
  if (before === undefined) return "fetch first";
  const isLine = [before, object?.kind].every((kind) => kind === "commit" || kind === "tag");
  return isLine ? undefined : "needs force";
}

function whyNot(
  request: Resolved,
  ref: string,
  { manifest, leases }: Situation,
  names: ReadonlySet<string>,
): string | undefined {
  const { source, object } = request;
  const isThere = manifest.refs.has(ref);
  if (source === undefined) {
    if (!isThere) return "remote ref does not exist";
    return ref === manifest.record.head ? spellCurrent(ref) : undefined;
  }
  if (object === undefined) return "its object is not in this repository";
  if (ref.startsWith("refs/heads/") && object.kind !== "commit") {
    return `trying to write non-commit object ${object.oid} to branch '${ref}'`;
  }
  return isThere ? whyUnforced(request, leases) : whyNotName(ref) ?? whyNotBeside(ref, names);
}

function whyNotBeside(ref: string, names: ReadonlySet<string>): string | undefined {
  for (const other of names) {
    if (other.startsWith(`${ref}/`) || ref.startsWith(`${other}/`)) {
      return `'${other}' exists; cannot create '${ref}'`;
    }
  }
  return undefined;
}

/** git takes a reason that begins with a double quote for a quoted string, and would lose the rest. */
function whyNotName(ref: string): string | undefined {
  try {
    checkRefName(ref);
    return undefined;
  } catch (error) {
    if (!(error instanceof KnotlessError)) throw error;
    return error.message.replaceAll('"', "'");
  }
}

/** The ref that HEAD is to name after the first push of branches, when that brings not the one it names now. */
export function chooseHead(
  { refs, record }: Manifest,
  updates: Iterable<RefUpdate>,
): string | undefined {
  if (hasBranches(refs)) return undefined;
  const brought = [...updates].map(({ ref }) => ref).filter((ref) => ref.startsWith("refs/heads/"));
  if (brought.length === 0 || brought.includes(record.head)) return undefined;
  return ["refs/heads/main", "refs/heads/master"].find((ref) => brought.includes(ref)) ??
    brought[0];
}
