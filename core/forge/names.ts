import { NotFoundError, quote, UsageError } from "../errors.ts";

/** A repository as someone names it: by owner and name, or by its record. */
export type RepoName =
  | { readonly owner: string; readonly name: string }
  | { readonly owner: string; readonly rkey: string };

const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/;
const WAYS =
  "give handle/name, did:…/name, at://did/dev.knotless.repo/rkey or knotless://handle/name";

/** Why `name` cannot name a repository, or undefined when it can. */
export function refuseName(name: string): string | undefined {
  if (!NAME.test(name)) {
    return "a name is 1 to 100 of A-Z a-z 0-9 . _ - and starts with a letter, a digit or _";
  }
  if (/\.(git|lock)$/i.test(name)) return "a name does not end in .git or .lock";
  if (name.includes("..")) return "a name does not hold ..";
  return undefined;
}

/** Reads `handle/name`, `@handle/name`, `did:…/name`, an at:// URI or a knotless:// URL; throws a UsageError. */
export function parseRepoName(text: string): RepoName {
  const record = /^at:\/\/(did:[a-z]+:[^/\s]+)\/dev\.knotless\.repo\/([A-Za-z0-9._:~-]{1,512})$/
    .exec(text);
  if (record?.[1] && record[2]) return { owner: record[1], rkey: record[2] };
  const bare = text.replace(/^knotless:\/\//i, "").replace(/\/$/, "");
  const slash = bare.indexOf("/");
  if (slash <= 0) throw new UsageError(`${quote(text)} is not a repository: ${WAYS}`);
  const owner = readActor(decode(bare.slice(0, slash)));
  const name = decode(bare.slice(slash + 1)).replace(/\.git$/, "");
  if (owner === undefined) throw new UsageError(`${quote(text)} is not a repository: ${WAYS}`);
  const why = refuseName(name);
  if (why) throw new UsageError(`${quote(text)} is not a repository: ${why}`);
  return { owner, name };
}

/** A handle (lower case, without @) or a DID; undefined when the text is neither by its form. */
export function readActor(text: string): string | undefined {
  if (/^did:[a-z]+:[A-Za-z0-9._:%-]+$/.test(text)) return text;
  const handle = text.replace(/^@/, "").toLowerCase();
  const labels = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;
  return labels.test(handle) && handle.length <= 253 ? handle : undefined;
}

/** How people write the repository: `handle/name`, with the DID where the handle does not verify. */
export function spellRepo(owner: { handle: string; did: string }, name: string): string {
  return `${owner.handle === "handle.invalid" ? owner.did : owner.handle}/${name}`;
}

/** A repository as it was named, fit to name it again. */
export function spellName(named: RepoName): string {
  return "name" in named
    ? `${named.owner}/${named.name}`
    : `at://${named.owner}/dev.knotless.repo/${named.rkey}`;
}

/** The error for a repository that is not there. */
export function noSuchRepository(named: string): NotFoundError {
  return new NotFoundError(`no such repository: ${named}`, { code: "not_found.repo" });
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
