import { NotFoundError, OfflineError, quote, RemoteError, UsageError } from "../errors.ts";
import { type Directory, readDocument } from "./did.ts";
import { resolveHandle } from "./handle.ts";
import { isLoopback } from "./http.ts";
import { openIdentityCache } from "./identity_cache.ts";
import { type Did, isDid, isHandle } from "./syntax.ts";

/** An account of the network, as it stands now. */
export interface Account {
  readonly did: Did;
  /** Verified both ways, else `handle.invalid`. */
  readonly handle: string;
  /** The base URL of its PDS. */
  readonly pds: string;
}

/** Tells which account is meant. */
export interface Identity {
  /** The account of a handle, @handle or DID; a handle that its account does not name back is a NotFoundError. */
  resolve(actor: string): Promise<Account>;
  /** The base URL of an account's PDS as its document says now; the handle is not looked at. */
  locate(did: Did): Promise<string>;
  /** Makes the next look at this account ask the network: it may have moved. */
  forget(did: Did): Promise<void>;
}

/** Where identities are asked for, and kept. */
export interface IdentityOptions {
  /** Base URL of the PLC directory; when it is on this machine, accounts may be too. */
  readonly plc: string;
  /** `host:port` of the DNS server asked for `_atproto` TXT records. */
  readonly dns?: string | undefined;
  /** Base URL asked in place of `https://HANDLE` for `/.well-known/atproto-did`. */
  readonly handleHttp?: string | undefined;
  readonly cacheFile: string;
  readonly fetch: typeof fetch;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** Answers from the cache alone, whatever its age. */
  readonly offline: boolean;
  /** Milliseconds for one request, 7,500 at most. */
  readonly timeoutMs?: number;
  /** For the pause before a second try. */
  readonly random?: () => number;
}

const INVALID = "handle.invalid";
const FRESH_MS = 10 * 60_000;
/** A handle's own host may be anybody's: it gets no longer than this. */
const MOST_MS = 7_500;

/** Opens the resolver of handles and DIDs; answers are kept on disk for ten minutes. */
export function openIdentity(options: IdentityOptions): Identity {
  const directory: Directory = {
    ...options,
    loopback: isLoopback(new URL(options.plc)),
    timeoutMs: Math.min(options.timeoutMs ?? MOST_MS, MOST_MS),
    random: options.random ?? (() => 0.5),
  };
  const cache = openIdentityCache(options.cacheFile);
  const pending = new Map<string, Promise<Account>>();

  function known(actor: string, maxAge: number): Account | undefined {
    const entry = cache.find(actor);
    if (entry === undefined) return undefined;
    const { at, ...account } = entry;
    const age = options.now().getTime() - at;
    return maxAge === Infinity || (age >= 0 && age < maxAge) ? account : undefined;
  }

  async function keep(account: Account): Promise<Account> {
    await cache.put({ ...account, at: options.now().getTime() });
    return account;
  }

  async function byHandle(handle: string): Promise<Account> {
    const did = await resolveHandle(directory, handle);
    const document = await readDocument(directory, did);
    if (document.handle !== handle) {
      throw new NotFoundError(
        `${quote(handle)} names ${did}, an account that does not name it back`,
        {
          hint: "give the DID to mean that account",
        },
      );
    }
    return await keep({ did, handle, pds: document.pds });
  }

  async function byDid(did: Did): Promise<Account> {
    const { pds, handle } = await readDocument(directory, did);
    if (handle === undefined) return await keep({ did, handle: INVALID, pds });
    try {
      const verified = await resolveHandle(directory, handle) === did;
      return await keep({ did, handle: verified ? handle : INVALID, pds });
    } catch (error) {
      if (error instanceof NotFoundError) return await keep({ did, handle: INVALID, pds });
      if (!(error instanceof RemoteError)) throw error;
      const before = known(did, Infinity);
      return { did, handle: before?.handle === handle ? handle : INVALID, pds };
    }
  }

  async function resolveNow(actor: string): Promise<Account> {
    const fresh = known(actor, options.offline ? Infinity : FRESH_MS);
    if (fresh !== undefined) return fresh;
    if (options.offline) {
      throw new OfflineError(
        `${quote(actor)} is not known on this machine, and it is offline`,
        actor,
      );
    }
    try {
      return await (isDid(actor) ? byDid(actor) : byHandle(actor));
    } catch (error) {
      const stale = error instanceof RemoteError ? known(actor, Infinity) : undefined;
      if (stale === undefined) throw error;
      return stale;
    }
  }

  return {
    async resolve(text) {
      const actor = readActor(text);
      const running = pending.get(actor);
      if (running !== undefined) return await running;
      const asked = resolveNow(actor).finally(() => pending.delete(actor));
      pending.set(actor, asked);
      return await asked;
    },
    locate: async (did) => (await readDocument(directory, did)).pds,
    forget: (did) => cache.age(did),
  };
}

function readActor(text: string): string {
  if (isDid(text)) return text;
  const handle = text.replace(/^@/, "").toLowerCase();
  if (!isHandle(handle)) {
    throw new UsageError(`${quote(text)} is neither a handle nor a DID`, {
      hint: "a handle is a domain name, such as alice.example.com",
    });
  }
  return handle;
}
