import { type GitHttpResponse, GitRemoteHTTP } from "isomorphic-git/managers";
import { CorruptError, quote, RefusedError } from "../errors.ts";
import type { Oid } from "../git/object.ts";
import { isOid } from "../git/oid.ts";
import { baseOf, getRefs, SERVICE, type Wire } from "./git_host.ts";
import type { Remote } from "./remote_url.ts";

/** What a git host says that a repository has. */
export interface Advertised {
  /** Where it is, after redirects. */
  readonly remote: Remote;
  /** By full name; one that ends in `^{}` is what the annotated tag of that name peels to. */
  readonly refs: ReadonlyMap<string, Oid>;
  /** The ref that HEAD names, where the host says so. */
  readonly head: string | undefined;
  readonly capabilities: ReadonlySet<string>;
}

/** What the library gives, and what it notes on a body that breaks off within: it takes the part for the whole. */
interface Parsed {
  readonly refs?: ReadonlyMap<string, string>;
  readonly symrefs?: ReadonlyMap<string, string>;
  readonly capabilities?: ReadonlySet<string>;
}
type Body = AsyncGenerator<Uint8Array> & { error?: unknown };

/** Asks a git host which refs a repository has; each way not to have it is an error that says which. */
export async function discover(remote: Remote, wire: Wire): Promise<Advertised> {
  const { remote: reached, list } = await getRefs(remote, wire);
  const { refs = new Map(), symrefs, capabilities = new Set() } = await parse(reached, list);
  const shown = quote(reached.url.href);
  if ([...capabilities].some((capability) => /^object-format=(?!sha1$)/.test(capability))) {
    throw new RefusedError(`${shown} has SHA-256 object ids; knotless keeps those of SHA-1`, {
      code: "refused.object_format",
    });
  }
  const oids = [...refs.values()];
  if (oids.includes("shallow")) {
    throw new RefusedError(`${shown} is shallow: it lacks a part of its own history`, {
      code: "refused.shallow",
    });
  }
  if (!oids.every(isOid)) throw broken(reached);
  return { remote: reached, refs, head: symrefs?.get("HEAD"), capabilities };
}

async function parse(remote: Remote, list: Uint8Array): Promise<Parsed> {
  const body: Body = once(list);
  const answer: GitHttpResponse = {
    url: remote.url.href,
    headers: { "content-type": `application/x-${SERVICE}-advertisement` },
    body,
    statusCode: 200,
    statusMessage: "OK",
  };
  try {
    const parsed: Parsed = await GitRemoteHTTP.discover({
      http: { request: () => Promise.resolve(answer) },
      service: SERVICE,
      url: baseOf(remote),
      headers: {},
      protocolVersion: 1,
    });
    if (body.error === undefined) return parsed;
  } catch (error) {
    throw broken(remote, error);
  }
  throw broken(remote, body.error);
}

function broken({ url }: Remote, cause?: unknown): CorruptError {
  return new CorruptError(`${quote(url.host)} answers with a list of refs that breaks its format`, {
    cause,
  });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
