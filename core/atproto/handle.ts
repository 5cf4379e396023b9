import { NotFoundError, quote, RemoteError } from "../errors.ts";
import { ask, type Reply } from "./http.ts";
import { type Did, isDid } from "./syntax.ts";

const WELL_KNOWN_BYTES = 4096;
/** Names under these never belong to an account (https://atproto.com/specs/handle). */
const RESERVED = /\.(?:alt|arpa|example|internal|invalid|local|localhost|onion)$/;

/** Where handles are asked for. */
export interface HandleSources {
  /** `host:port` of the DNS server; the system's without it. */
  readonly dns?: string | undefined;
  /** Base URL asked in place of `https://HANDLE`, which gets the handle as the forwarded host. */
  readonly handleHttp?: string | undefined;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * The DID that a handle names: in DNS first, then at its well-known address. Throws a NotFoundError when both were heard
 * and neither names one, a RemoteError when one could not be heard.
 */
export async function resolveHandle(sources: HandleSources, handle: string): Promise<Did> {
  if (RESERVED.test(handle)) {
    throw new NotFoundError(
      `${quote(handle)} cannot be an account: its top-level domain is reserved`,
    );
  }
  const dns = await openDns(sources);
  const record = `_atproto.${handle}`;
  const texts = await dns.texts(record);
  const dids = new Set(
    (texts ?? []).flatMap((text) => text.startsWith("did=") ? [text.slice(4).trim()] : []),
  );
  const [did] = dids;
  if (dids.size > 1) throw new NotFoundError(`${quote(record)} in DNS names several accounts`);
  if (did !== undefined && isDid(did)) return did;
  const found = await readWellKnown(sources, handle, dns);
  if (found !== undefined) return found;
  if (texts === undefined) {
    throw new RemoteError(`DNS did not answer for ${quote(record)}`, { host: record });
  }
  throw new NotFoundError(
    `there is no account ${quote(handle)}: neither ${quote(record)} in DNS nor ${
      quote(wellKnown(sources, handle).href)
    } names one`,
  );
}

function wellKnown({ handleHttp }: HandleSources, handle: string): URL {
  return new URL("/.well-known/atproto-did", handleHttp ?? `https://${handle}`);
}

async function readWellKnown(
  sources: HandleSources,
  handle: string,
  dns: Dns,
): Promise<Did | undefined> {
  const url = wellKnown(sources, handle);
  const headers: Record<string, string> = { accept: "text/plain" };
  if (sources.handleHttp !== undefined) headers["x-forwarded-host"] = handle;
  let reply: Reply;
  try {
    reply = await ask(url, { ...sources, maxBytes: WELL_KNOWN_BYTES, init: { headers } });
  } catch (error) {
    const gone = error instanceof RemoteError && sources.handleHttp === undefined &&
      await dns.lacks(handle);
    if (gone) return undefined;
    throw error;
  }
  if (reply.status >= 500 || reply.status === 429) {
    throw new RemoteError(`${quote(url.host)} answered ${reply.status} for ${quote(url.href)}`, {
      host: url.host,
      status: reply.status,
    });
  }
  const text = new TextDecoder().decode(reply.body).trim();
  return reply.status === 200 && isDid(text) ? text : undefined;
}

interface Dns {
  /** The TXT records; undefined when no server answered. */
  texts(name: string): Promise<string[] | undefined>;
  /** True when a server said that the name has no address. */
  lacks(name: string): Promise<boolean>;
}

async function openDns({ dns, signal, timeoutMs }: HandleSources): Promise<Dns> {
  const { Resolver } = await import("node:dns/promises");
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 4), tries: 2 });
  if (dns !== undefined) resolver.setServers([dns]);
  async function answer<T>(question: Promise<T>, none: T): Promise<T | undefined> {
    const stop = () => resolver.cancel();
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await question;
    } catch (error) {
      signal.throwIfAborted();
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      return code === "ENOTFOUND" || code === "ENODATA" ? none : undefined;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }
  return {
    texts: (name) =>
      answer(resolver.resolveTxt(name).then((rows) => rows.map((row) => row.join(""))), []),
    async lacks(name) {
      const [v4, v6] = await Promise.all([
        answer(resolver.resolve4(name), []),
        answer(resolver.resolve6(name), []),
      ]);
      return v4?.length === 0 && v6?.length === 0;
    },
  };
}
