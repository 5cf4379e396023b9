import type { ReadContext } from "../context.ts";
import { NotFoundError, quote, UsageError } from "../errors.ts";
import { strictText } from "../git/bytes.ts";
import { type Commit, commitText, parseCommit } from "../git/commit.ts";
import type { Identity } from "../git/identity.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import { quotePath, unquotePath } from "../git/path.ts";
import { resolveCommit, type RevScope } from "../git/rev.ts";
import { readObject } from "../git/walk.ts";
import type { View } from "../mirror/view.ts";
import { nearest } from "../text.ts";
import { shortRef } from "./moved.ts";
import type { RepoName } from "./names.ts";
import { findRepository, type Repository } from "./repository.ts";

/** A repository opened for reading. */
export interface Reading {
  readonly repository: Repository;
  readonly view: View;
  readonly objects: ObjectReader;
  readonly scope: RevScope;
}

/** What of a repository is asked about: a file or directory of a rev; all of it, of the default branch, if not given. */
export interface Place {
  readonly rev?: string | undefined;
  readonly path?: string | undefined;
}

/** A file that is asked about. */
export interface FilePlace extends Place {
  readonly path: string;
}

/** Lines of a file that are asked about, from 1. */
export interface LineRange {
  readonly start?: number | undefined;
  readonly end?: number | undefined;
}

/** Finds a repository and brings its mirror up to date, as far as the context's freshness asks. */
export async function openReading(context: ReadContext, named: RepoName): Promise<Reading> {
  const repository = await findRepository(context, named);
  return readingOf(repository, await repository.mirror.view(context.freshness));
}

/** The reading of a repository at one view of its mirror. */
export function readingOf(repository: Repository, view: View): Reading {
  const { objects, head } = view;
  const refs = new Map([...view.refs].map(([name, { oid }]) => [name, oid]));
  return { repository, view, objects, scope: { objects, refs, head } };
}

/** The commit a rev names, the default branch's without one; a repository without commits is a NotFoundError. */
export function commitAt(
  { repository, view, scope }: Reading,
  rev: string | undefined,
): { rev: string; commit: Oid } {
  if (scope.refs.size === 0) {
    throw new NotFoundError(`${repository.spelled} has no commits yet`, {
      code: "not_found.empty",
    });
  }
  try {
    return { rev: rev ?? shortRef(view.head), commit: resolveCommit(scope, rev ?? "HEAD") };
  } catch (error) {
    throw withNearest(error, scope.refs);
  }
}

/** The error with the branch or tag that was most likely meant. */
function withNearest(error: unknown, refs: ReadonlyMap<string, Oid>): unknown {
  if (!(error instanceof NotFoundError) || error.code !== "not_found.rev") return error;
  const { message, code, facts } = error;
  const near = nearest(String(facts?.["rev"]), [...refs.keys()].map(shortRef));
  return near === undefined
    ? error
    : new NotFoundError(message, { code, facts, hint: `did you mean ${quote(near)}?` });
}

/** The tree of a commit. */
export function treeOf(objects: ObjectReader, commit: Oid): Oid {
  return readCommit(objects, commit).tree;
}

/** Reads a commit. */
export function readCommit(objects: ObjectReader, commit: Oid): Commit {
  return parseCommit(readObject(objects, commit, "commit"));
}

/** The bytes of a path as given: UTF-8 text, or git's quoted form; slashes at the ends do not count. */
export function pathBytes(path: string): Uint8Array {
  const clean = path.replace(/^(\.?\/)+/, "").replace(/\/+$/, "");
  if (clean === "." || clean === "") return new Uint8Array();
  if (clean.split("/").some((part) => part === "..")) {
    throw new UsageError(`${quotePath(new TextEncoder().encode(path))}: a path holds no ..`);
  }
  return unquotePath(clean);
}

/** Who made a commit and when, as answers have it. */
export interface Person {
  readonly name: string;
  readonly email: string;
  readonly date: string;
}

/** The author or committer of a commit, its date in UTC. */
export function personOf(identity: Identity, encoding: string | undefined): Person {
  return {
    name: commitText(identity.name, encoding),
    email: commitText(identity.email, encoding),
    date: isoDate(identity.time),
  };
}

/** Seconds since 1970 as an ISO 8601 date in UTC. */
export function isoDate(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, -".000Z".length)}Z`;
}

/** A commit's message as git shows it: its first paragraph in one line, and the rest. */
export function messageOf({ message, encoding }: Commit): { summary: string; body: string } {
  return shapeMessage(commitText(message, encoding));
}

const GAP = /\n\s*\n/;
const GAPS = /\n\s*\n/g;

/** The same of a message's text. */
export function shapeMessage(text: string): { summary: string; body: string } {
  const start = /^\s*\n/.exec(text)?.[0].length ?? 0;
  const message = start === 0 ? text : text.slice(start);
  const gap = GAP.exec(message);
  const first = gap === null ? message : message.slice(0, gap.index);
  const rest = gap === null ? "" : message.slice(gap.index + gap[0].length);
  return {
    summary: first.split("\n").map((line) => line.trimEnd()).join(" ").trim(),
    body: rest.replace(GAPS, "\n\n").trimEnd(),
  };
}

/** The bytes as text, or undefined when they are not UTF-8 or hold a NUL. */
export function readableText(bytes: Uint8Array): string | undefined {
  return bytes.includes(0) ? undefined : strictText(bytes);
}
