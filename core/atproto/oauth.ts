import {
  NodeOAuthClient,
  type NodeSavedSession,
  type NodeSavedState,
  OAuthCallbackError,
  OAuthResponseError,
} from "@atproto/oauth-client-node";
import { AuthError, KnotlessError, quote, RemoteError } from "../errors.ts";
import { toRemoteError } from "./http.ts";
import type { Account, Identity } from "./identity.ts";
import type { JsonObject } from "./json.ts";
import { missingScopes, wantedScopes } from "./scopes.ts";
import { openRedirect, type Visitor } from "./redirect.ts";
import type { BrowserSession } from "./session_store.ts";

/** What a login through the browser needs of the network. */
export interface OAuthOptions {
  readonly identity: Identity;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Whether the network is one of this machine, in plain http. */
  readonly loopback: boolean;
}

/** The library's type of DID is narrower than the syntax. */
type LibraryDid = NodeSavedSession["tokenSet"]["sub"];
type Keep = (saved: NodeSavedSession) => Promise<void>;

const WAIT_MS = 10 * 60_000;
/** Without a port: a server lets a client of this machine come back on any. */
const REDIRECT = "http://127.0.0.1/";

/** Signs in through the browser; what was not granted is in `missing`. */
export async function createBrowserSession(
  account: Account,
  visitor: Visitor,
  options: OAuthOptions,
): Promise<BrowserSession> {
  const wanted = wantedScopes();
  const scope = wanted.join(" ");
  const query = new URLSearchParams({ redirect_uri: REDIRECT, scope });
  const clientId = `http://localhost?${query}`;
  const redirect = await openRedirect();
  const states = new Map<string, NodeSavedState>();
  let saved: NodeSavedSession | undefined;
  const keep: Keep = (session) => {
    saved = session;
    return Promise.resolve();
  };
  const client = openClient({ ...account, clientId }, scope, redirect.url, options, {
    states,
    keep,
  });
  try {
    const url = await client.authorize(account.did, { redirect_uri: redirect.url, scope });
    const [state = ""] = states.keys();
    visitor.visit(url.href);
    const timeout = AbortSignal.timeout(WAIT_MS);
    const params = await redirect.wait(state, visitor, AbortSignal.any([options.signal, timeout]))
      .catch((error: unknown) => {
        if (!timeout.aborted || options.signal.aborted) throw error;
        throw new AuthError("none", "nobody signed in within 10 minutes", {
          account: account.handle,
        });
      });
    await client.callback(params, { redirect_uri: redirect.url });
  } catch (error) {
    throw toLoginError(error, account, options);
  } finally {
    await redirect.close();
  }
  if (saved === undefined) throw new Error("the login left no session");
  const session = toSession({ ...account, scopes: [], missing: [], clientId }, saved);
  if (saved.tokenSet.sub !== account.did) {
    await revokeBrowserSession({ ...session, did: saved.tokenSet.sub }, options);
    throw new AuthError("none", `the browser signed in ${saved.tokenSet.sub}, not ${account.did}`, {
      account: account.handle,
    });
  }
  const scopes = saved.tokenSet.scope.split(" ");
  return { ...session, scopes, missing: missingScopes(wanted, scopes) };
}

/** Asks for new tokens; `write` has put them on disk before this gives them back. */
export async function refreshBrowserSession(
  session: BrowserSession,
  options: OAuthOptions,
  write: (session: BrowserSession) => Promise<void>,
): Promise<BrowserSession | "ended"> {
  let next: BrowserSession | undefined;
  const client = reopenClient(session, options, async (saved) => {
    const refreshed = toSession(session, saved);
    await write(refreshed);
    next = refreshed;
  });
  try {
    await client.restore(session.did, true);
  } catch (error) {
    // The library asks for more after the tokens have come: they are good whatever becomes of that.
    if (next === undefined) {
      if (isEnd(error)) return "ended";
      throw toLoginError(error, session, options);
    }
  }
  return next ?? "ended";
}

/** Tells the server that a login is over. */
export async function revokeBrowserSession(
  session: BrowserSession,
  options: OAuthOptions,
): Promise<void> {
  try {
    await reopenClient(session, options, () => Promise.resolve()).revoke(session.did);
  } catch (error) {
    throw toLoginError(error, session, options);
  }
}

function reopenClient(session: BrowserSession, options: OAuthOptions, keep: Keep): NodeOAuthClient {
  const scope = new URL(session.clientId).searchParams.get("scope") ?? "atproto";
  // Written by this module from the library's own value.
  const saved = {
    dpopJwk: session.dpopJwk,
    authMethod: session.authMethod,
    tokenSet: session.tokenSet,
  } as unknown as NodeSavedSession;
  return openClient(session, scope, REDIRECT, options, { saved, keep });
}

function openClient(
  { clientId, handle }: { clientId: string; handle: string },
  scope: string,
  redirectUri: `http://127.0.0.1${string}`,
  { identity, fetch, signal, timeoutMs, loopback }: OAuthOptions,
  { states = new Map(), saved, keep }: {
    states?: Map<string, NodeSavedState>;
    saved?: NodeSavedSession;
    keep: Keep;
  },
): NodeOAuthClient {
  return new NodeOAuthClient({
    clientMetadata: {
      client_id: clientId,
      client_name: "knotless",
      scope,
      redirect_uris: [redirectUri],
      response_types: ["code"],
      grant_types: ["authorization_code", "refresh_token"],
      application_type: "native",
      token_endpoint_auth_method: "none",
      dpop_bound_access_tokens: true,
    },
    responseMode: "query",
    allowHttp: loopback,
    // The login's own lock is held around every call that changes it.
    requestLock: async (_, work) => await work(),
    stateStore: {
      get: (key) => states.get(key),
      set: (key, value) => void states.set(key, value),
      del: (key) => void states.delete(key),
    },
    sessionStore: {
      get: () => saved,
      set: (_, session) => keep(session),
      // The library forgets a login for less than its end: what has ended is judged from its errors.
      del: () => {},
    },
    // Unused, but its default is made at once, and needs Node.
    handleResolver: { resolve: () => Promise.resolve(null) },
    identityResolver: {
      // Always a DID: accounts are resolved before they come here.
      async resolve(actor) {
        const did = actor as LibraryDid;
        const service = {
          id: "#atproto_pds" as const,
          type: "AtprotoPersonalDataServer",
          serviceEndpoint: await identity.locate(did),
        };
        return { did, handle, didDoc: { id: did, service: [service] } };
      },
    },
    async fetch(input, init) {
      const { host } = new URL(input instanceof Request ? input.url : input);
      const timeout = AbortSignal.timeout(timeoutMs);
      const signals = [signal, timeout, ...init?.signal ? [init.signal] : []];
      try {
        return await fetch(input, { ...init, signal: AbortSignal.any(signals) });
      } catch (error) {
        throw toRemoteError(error, host, signal, timeout);
      }
    },
  });
}

function toSession(
  { did, handle, pds, scopes, missing, clientId }: Omit<
    BrowserSession,
    "kind" | "dpopJwk" | "authMethod" | "tokenSet"
  >,
  { dpopJwk, authMethod, tokenSet }: NodeSavedSession,
): BrowserSession {
  const { refresh_token, expires_at } = tokenSet;
  if (refresh_token === undefined || expires_at === undefined) {
    throw new RemoteError(`${quote(tokenSet.iss)} gave a login that cannot be refreshed`, {
      host: new URL(tokenSet.iss).host,
      retryable: false,
    });
  }
  return {
    kind: "oauth",
    did,
    handle,
    pds,
    scopes,
    missing,
    clientId,
    dpopJwk: { ...dpopJwk },
    authMethod: authMethod as unknown as JsonObject,
    tokenSet: { ...tokenSet, refresh_token, expires_at },
  };
}

/** True when the server said that it takes the refresh token no more, or no longer serves the account. */
function isEnd(error: unknown): boolean {
  for (const cause of causes(error)) {
    if (cause instanceof KnotlessError) return false;
    if (cause instanceof OAuthResponseError) return cause.error === "invalid_grant";
    if (cause instanceof TypeError && cause.message === "Issuer mismatch") return true;
  }
  return false;
}

function toLoginError(
  error: unknown,
  { handle, pds }: Pick<Account, "handle" | "pds">,
  { signal }: OAuthOptions,
): unknown {
  if (signal.aborted) return signal.reason;
  const { host } = new URL(pds);
  const all = [...causes(error)];
  const known = all.find((cause) => cause instanceof KnotlessError);
  if (known !== undefined) return known;
  const said = all.find((cause) => cause instanceof OAuthResponseError);
  if (said !== undefined) {
    return new RemoteError(
      `${quote(host)} refused the login: ${
        quote(said.errorDescription ?? said.error ?? "no reason")
      }`,
      {
        host,
        status: said.status,
        retryable: said.status >= 500 || said.status === 429,
        cause: error,
      },
    );
  }
  if (all.some((cause) => cause instanceof Error && cause.name === "TimeoutError")) {
    return new RemoteError(`${quote(host)} did not answer in time`, { host, cause: error });
  }
  const back = all.find((cause) => cause instanceof OAuthCallbackError);
  if (back?.params.get("error") === "access_denied") {
    return new AuthError("none", `the login of ${handle} was refused in the browser`, {
      account: handle,
    });
  }
  return new RemoteError(`${quote(host)} did not complete the login: ${quote(messageOf(error))}`, {
    host,
    retryable: false,
    cause: error,
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function* causes(error: unknown): Iterable<unknown> {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < 10; depth++) {
    yield cause;
    cause = cause.cause;
  }
}
