import { CorruptError, NotFoundError, quote, UsageError } from "../errors.ts";
import { parseCommit, parseNode } from "./commit.ts";
import type { ObjectKind, ObjectReader, Oid } from "./object.ts";
import { isOid } from "./oid.ts";
import { whyNotRefName } from "./refname.ts";
import { parseTag } from "./tag.ts";
import { readObject } from "./walk.ts";

/** What revs are resolved in. */
export interface RevScope {
  readonly objects: ObjectReader;
  /** By full name; annotated tags as they are. */
  readonly refs: ReadonlyMap<string, Oid>;
  /** The full name of the default branch, which an empty repository lacks. */
  readonly head: string;
}

/** Annotated tags of tags of tags end within this many. */
const TAG_DEPTH_LIMIT = 100;
const CANDIDATE_LIMIT = 50;
const SHOWN_CANDIDATES = 10;
const GRAMMAR =
  "HEAD, a branch, a tag, a full ref, an object id or at least 4 digits of one, then ~n, ^n or ^{commit}";

/** Tells whether the repository has no commits yet: no rev can be found in it. */
export function isEmptyScope({ refs }: RevScope): boolean {
  return refs.size === 0;
}

/** Resolves a rev to a commit. A UsageError says what a rev may be, or what a prefix could mean; a NotFoundError that nothing is named so. */
export function resolveCommit(scope: RevScope, rev: string): Oid {
  return peelNamed(scope.objects, resolveRev(scope, rev), rev);
}

/** Resolves a rev to the object it names, as resolveCommit does, but leaves an annotated tag as it is. */
export function resolveRev(scope: RevScope, rev: string): Oid {
  // Most have no suffix, and the patterns take longer to make than all the rest.
  if (!/[~^]/.test(rev)) return resolveBase(scope, rev, rev);
  const [, base = "", suffix = ""] = /^([^~^]*)(.*)$/s.exec(rev) ?? [];
  if (!/^(~\d{0,9}|\^\d{0,9}|\^\{commit\})*$/.test(suffix)) throw notRev(rev);
  let oid = resolveBase(scope, base, rev);
  for (const [step, mark, digits] of suffix.matchAll(/([~^])(?:\{commit\}|(\d*))/g)) {
    oid = peelNamed(scope.objects, oid, rev);
    if (step === "^{commit}") continue;
    const n = Number(digits === "" ? 1 : digits);
    oid = mark === "~" ? ancestor(scope.objects, oid, n, rev) : parent(scope.objects, oid, n, rev);
  }
  return oid;
}

/** Follows annotated tags, and a commit to its tree, until an object of this kind; undefined when there is none. */
export function peel(objects: ObjectReader, oid: Oid, kind: ObjectKind): Oid | undefined {
  let at = oid;
  for (let depth = 0; depth < TAG_DEPTH_LIMIT; depth++) {
    const found = objects.info(at)?.kind;
    if (found === undefined) throw new CorruptError(`the object ${at} is missing`);
    if (found === kind) return at;
    if (found === "tag") at = parseTag(readObject(objects, at, "tag")).object;
    else if (found === "commit" && kind === "tree") {
      at = parseCommit(readObject(objects, at, "commit")).tree;
    } else return undefined;
  }
  throw new CorruptError(`the tag ${oid} is of a tag of a tag, more than ${TAG_DEPTH_LIMIT} deep`);
}

function resolveBase(scope: RevScope, base: string, rev: string): Oid {
  const { refs, head, objects } = scope;
  if (base === "HEAD") {
    const tip = refs.get(head);
    if (tip === undefined) throw new NotFoundError(`HEAD is ${quote(head)}, which does not exist`);
    return tip;
  }
  const lower = base.toLowerCase();
  if (isOid(lower)) {
    if (!objects.has(lower)) throw new NotFoundError(`there is no object ${lower}`);
    return lower;
  }
  if (base.startsWith("-") || whyNotRefName(base) !== undefined) throw notRev(rev);
  const named = (base.startsWith("refs/") ? refs.get(base) : undefined) ??
    refs.get(`refs/heads/${base}`) ?? refs.get(`refs/tags/${base}`);
  if (named !== undefined) return named;
  const prefixed = /^[0-9a-f]{4,40}$/.test(lower) ? resolvePrefix(objects, lower) : undefined;
  if (prefixed !== undefined) return prefixed;
  throw new NotFoundError(`there is no branch, tag or commit "${quote(base)}"`, {
    code: "not_found.rev",
    facts: { rev: base },
  });
}

/** Like git, takes the one commit, or tag of one, for meant when trees and blobs begin alike. */
function resolvePrefix(objects: ObjectReader, prefix: string): Oid | undefined {
  const found = objects.find(prefix, CANDIDATE_LIMIT).map((oid) => ({
    oid,
    kind: objects.info(oid)?.kind,
  }));
  const commits = found.filter(({ oid, kind }) =>
    kind === "commit" || (kind === "tag" && peel(objects, oid, "commit") !== undefined)
  );
  const meant = commits.length > 0 ? commits : found;
  const [first, second] = meant;
  if (second === undefined && found.length < CANDIDATE_LIMIT) return first?.oid;
  const shown = meant.slice(0, SHOWN_CANDIDATES);
  const list = shown.map(({ oid, kind }) => `${oid} (${kind})`).join(", ");
  const more = found.length > shown.length ? " or others" : "";
  throw new UsageError(`${prefix} is ambiguous: it could be ${list}${more}`);
}

function peelNamed(objects: ObjectReader, oid: Oid, rev: string): Oid {
  const commit = peel(objects, oid, "commit");
  if (commit !== undefined) return commit;
  throw new NotFoundError(`"${quote(rev)}" is a ${objects.info(oid)?.kind}, not a commit`);
}

function ancestor(objects: ObjectReader, oid: Oid, generations: number, rev: string): Oid {
  let at = oid;
  for (let step = 0; step < generations; step++) at = parent(objects, at, 1, rev);
  return at;
}

function parent(objects: ObjectReader, oid: Oid, n: number, rev: string): Oid {
  if (n === 0) return oid;
  const found = parseNode(readObject(objects, oid, "commit")).parents[n - 1];
  if (found !== undefined) return found;
  throw new NotFoundError(
    n === 1
      ? `"${quote(rev)}" is before the first commit`
      : `"${quote(rev)}": ${oid} has no parent ${n}`,
  );
}

function notRev(rev: string): UsageError {
  return new UsageError(`"${quote(rev)}" is not a rev: give ${GRAMMAR}`);
}
