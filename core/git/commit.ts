import { CorruptError } from "../errors.ts";
import { latin1, lenientText, utf8 } from "./bytes.ts";
import { formatHeaders, type Header, parseHeaders } from "./headers.ts";
import { formatIdentity, type Identity, parseIdentity } from "./identity.ts";
import type { Oid } from "./object.ts";
import { isOid } from "./oid.ts";

/** A commit as git stores it; names and message are bytes in `encoding`, UTF-8 when there is none. */
export interface Commit {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  readonly author: Identity;
  readonly committer: Identity;
  readonly encoding?: string | undefined;
  /** The other headers (`gpgsig`, `mergetag`, …), in their order. */
  readonly extra?: readonly Header[] | undefined;
  readonly message: Uint8Array;
}

const OID_DIGITS = 40;
const NOBODY: Identity = {
  name: new Uint8Array(),
  email: new Uint8Array(),
  time: 0,
  zone: "+0000",
};

/** Reads a commit; a missing or malformed tree or parent is a CorruptError, anything else is read as git would. */
export function parseCommit(bytes: Uint8Array): Commit {
  const { headers, message } = parseHeaders(bytes);
  const [first, ...rest] = headers;
  if (first?.name !== "tree") throw new CorruptError("a commit does not start with its tree");
  const parents: Oid[] = [];
  const extra: Header[] = [];
  let author: Identity | undefined;
  let committer: Identity | undefined;
  let encoding: string | undefined;
  for (const header of rest) {
    const { name, value } = header;
    if (name === "parent" && author === undefined) parents.push(oidOf("parent", value));
    else if (name === "author" && author === undefined) author = parseIdentity(value);
    else if (name === "committer" && committer === undefined) committer = parseIdentity(value);
    else if (name === "encoding" && encoding === undefined) encoding = latin1(value);
    else extra.push(header);
  }
  return {
    tree: oidOf("tree", first.value),
    parents,
    author: author ?? NOBODY,
    committer: committer ?? NOBODY,
    encoding,
    extra,
    message,
  };
}

/** The headers of nearly every commit are of this form, and end within so many bytes. */
const USUAL =
  /^tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)author [^\n]*\ncommitter ([^\n]*)> ([0-9]{1,12}) [+-][0-9]+\n(?=[^ ])/;
const USUAL_BYTES = 2048;

/** Reads of a commit what walks need, as `parseCommit` does, and mostly in a fraction of its time. */
export function parseNode(
  bytes: Uint8Array,
): Pick<Commit, "tree" | "parents"> & { readonly time: number } {
  const [, tree, lines = "", who = "", time] = USUAL.exec(
    latin1(bytes, 0, Math.min(bytes.length, USUAL_BYTES)),
  ) ?? [];
  if (tree === undefined || !who.includes("<")) {
    const { tree, parents, committer } = parseCommit(bytes);
    return { tree, parents, time: committer.time };
  }
  const parents: Oid[] = [];
  for (let at = "parent ".length; at < lines.length; at += "parent \n".length + OID_DIGITS) {
    parents.push(lines.slice(at, at + OID_DIGITS));
  }
  return { tree, parents, time: Number(time) };
}

/** Gives the bytes of a commit. */
export function formatCommit(commit: Commit): Uint8Array {
  return formatHeaders([
    { name: "tree", value: utf8(commit.tree) },
    ...commit.parents.map((parent) => ({ name: "parent", value: utf8(parent) })),
    { name: "author", value: formatIdentity(commit.author) },
    { name: "committer", value: formatIdentity(commit.committer) },
    ...(commit.encoding === undefined ? [] : [{ name: "encoding", value: utf8(commit.encoding) }]),
    ...(commit.extra ?? []),
  ], commit.message);
}

/** Reads a name or message of a commit by its `encoding`; U+FFFD for what does not fit it. */
export function commitText(bytes: Uint8Array, encoding: string | undefined): string {
  const label = (encoding ?? "utf-8").trim().toLowerCase();
  if (/^utf-?8$/.test(label)) return lenientText(bytes);
  // The web's "iso-8859-1" is windows-1252, which differs in 0x80 to 0x9f.
  if (/^(iso-?8859-?1|latin-?1|us-ascii)$/.test(label)) return latin1(bytes);
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return lenientText(bytes);
  }
}

function oidOf(header: string, value: Uint8Array): Oid {
  const oid = latin1(value);
  if (!isOid(oid)) throw new CorruptError(`the ${header} of a commit is not an object id`);
  return oid;
}
