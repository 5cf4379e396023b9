import { AuthError, KnotlessError, NotFoundError, quote, RemoteError } from "../errors.ts";
import { withLock } from "../lock.ts";
import { ask, pause } from "./http.ts";
import type { Account, Identity } from "./identity.ts";
import { parseJson, textOf } from "./json.ts";
import { createSession, deleteSession, expiryOf, refreshSession } from "./password.ts";
import type { Visitor } from "./redirect.ts";
import { type DamagedSession, openSessionStore, type StoredSession } from "./session_store.ts";
import type { Signer } from "./signer.ts";
import type { Did } from "./syntax.ts";

/** Sends requests as an account. */
export interface Authorized {
  readonly did: Did;
  readonly pds: string;
  /**
   * Signs and sends a request; `path` is below the PDS. Refreshes the login where needed, and sends again what was
   * refused for that alone. Throws an AuthError when the login has ended.
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** A login on this machine, without its secrets. */
export interface SessionInfo {
  readonly did: Did;
  readonly handle: string;
  readonly pds: string;
  readonly kind: "oauth" | "password";
  readonly scopes: readonly string[];
  /** Scopes that were asked for and not granted. */
  readonly missing: readonly string[];
  /** When it ends unless it is used before, ISO 8601; absent when the PDS does not say. */
  readonly expiresAt?: string;
  /** The file that holds it. */
  readonly path: string;
  readonly ended: boolean;
}

/** The logins of this machine. */
export interface Sessions {
  list(): SessionInfo[];
  /** The files that should hold a login and cannot be read. */
  listDamaged(): DamagedSession[];
  /**
   * The login to act as, and why that one: `as` is a handle or DID; undefined when nobody is signed in. An AuthError
   * where the login of the account that was chosen cannot be read: another one is never taken in its place.
   */
  choose(as?: string): Promise<{ info: SessionInfo; why: string } | undefined>;
  authorized(did: Did): Authorized;
  /** Asks the PDS whether it still takes the login; `unchecked` when it cannot be heard. */
  check(did: Did): Promise<"ok" | "ended" | "unchecked">;
  loginWithPassword(account: Account, password: string): Promise<SessionInfo>;
  loginWithBrowser(account: Account, visitor: Visitor): Promise<SessionInfo>;
  /** Makes it the account to act as. */
  switchTo(did: Did): Promise<SessionInfo>;
  /** Forgets the login, and asks the PDS to: false when the PDS could not be told. */
  logout(did: Did): Promise<boolean>;
}

/** What logins need. */
export interface SessionsOptions {
  /** The folder they are kept in. */
  readonly dir: string;
  readonly identity: Identity;
  readonly fetch: typeof fetch;
  readonly now: () => Date;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Whether the network is one of this machine, in plain http. */
  readonly loopback: boolean;
}

/** Before its end by the clock, so that it does not end on its way. */
const EARLY_MS = 30_000;
/** How long another process that refreshed without our lock may take to write. */
const SECOND_LOOKS_MS = [25, 50, 100] as const;

/** Opens the logins of this machine. */
export function openSessions(options: SessionsOptions): Sessions {
  const { dir, now, signal } = options;
  const store = openSessionStore(dir);
  // A refresh that was sent must be heard out, or its answer, the only key there is now, is lost.
  const sending = { ...options, signal: new AbortController().signal };

  const locked = <T>(did: Did, work: () => Promise<T>) =>
    withLock(store.lockPath(did), signal, work);

  function inform(session: StoredSession): SessionInfo {
    const { did, handle, pds, kind, scopes, missing, ended = false } = session;
    const expiry = kind === "password" ? expiryOf(session.refreshJwt) : undefined;
    return {
      did,
      handle,
      pds,
      kind,
      scopes,
      missing,
      ...(expiry !== undefined && { expiresAt: isoSeconds(expiry) }),
      path: store.path(did),
      ended,
    };
  }

  function read(did: Did): StoredSession {
    const session = store.read(did);
    if (session === undefined) {
      throw new AuthError("none", `${did} is not signed in on this machine`, { account: did });
    }
    if (session === "damaged") throw damagedError({ did, path: store.path(did) });
    if (session.ended) throw endedError(session);
    return session;
  }

  /** The login after `stale`: another process's where one has refreshed it, else refreshed here and on disk. */
  async function refresh(stale: StoredSession): Promise<StoredSession> {
    return await locked(stale.did, async () => {
      const session = read(stale.did);
      if (tokenOf(session) !== tokenOf(stale)) return session;
      const next = await refreshOne(session);
      if (next !== "ended") return next;
      for (const wait of SECOND_LOOKS_MS) {
        await pause(wait, signal);
        const again = read(stale.did);
        if (tokenOf(again) !== tokenOf(stale)) return again;
      }
      await store.write({ ...session, ended: true });
      throw endedError(session);
    });
  }

  async function refreshOne(session: StoredSession): Promise<StoredSession | "ended"> {
    try {
      if (session.kind === "password") {
        const next = await refreshSession(session, sending);
        if (next !== "ended") await store.write(next);
        return next;
      }
      const { refreshBrowserSession } = await import("./oauth.ts");
      return await refreshBrowserSession(session, sending, store.write);
    } catch (error) {
      if (!(error instanceof RemoteError) || error.code.startsWith("remote.rate")) throw error;
      // Whatever the request was for has not been sent.
      const { message, host, status, retryable } = error;
      const code = error.code === "remote" ? undefined : "remote.unreachable";
      throw new RemoteError(message, { host, status, retryable, code, cause: error });
    }
  }

  function authorized(did: Did): Authorized {
    let held = read(did);
    let signer: Promise<Signer> | undefined;
    const signerOf = async (opened: StoredSession) => {
      const { openSigner } = await import("./signer.ts");
      return await openSigner(opened, { ...options, store });
    };
    const send = async (path: string, init: RequestInit) => {
      signer ??= signerOf(held);
      return await (await signer)(held, new URL(path, held.pds), init);
    };
    return {
      did,
      pds: held.pds,
      async fetch(path, init = {}) {
        if (expiryOfTokens(held) - EARLY_MS < now().getTime()) held = await refresh(held);
        const response = await send(path, init);
        if (!await isExpired(response)) return response;
        await response.body?.cancel();
        held = await refresh(held);
        return await send(path, init);
      },
    };
  }

  /** Keeps a fresh login, makes it the default, and ends the one that it replaces. */
  async function keep(session: StoredSession): Promise<SessionInfo> {
    await locked(session.did, async () => {
      const before = store.read(session.did);
      await store.write(session);
      if (before !== undefined && before !== "damaged") await revoke(before);
    });
    await store.writeDefault(session.did);
    return inform(session);
  }

  async function revoke(session: StoredSession): Promise<boolean> {
    try {
      const hurried = { ...options, timeoutMs: Math.min(options.timeoutMs, 5000) };
      if (session.kind === "password") await deleteSession(session, hurried);
      else await (await import("./oauth.ts")).revokeBrowserSession(session, hurried);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof KnotlessError) return false;
      throw error;
    }
  }

  /** The damaged login that is meant, by its DID or by the handle it has now. */
  async function findDamaged(
    damaged: readonly DamagedSession[],
    actor: string,
  ): Promise<DamagedSession | undefined> {
    if (damaged.length === 0) return undefined;
    const did = actor.startsWith("did:")
      ? actor
      : await options.identity.resolve(actor).then((account) => account.did, () => undefined);
    return damaged.find((one) => one.did === did);
  }

  return {
    list: () => store.readAll().sessions.map(inform),
    listDamaged: () => store.readAll().damaged,

    async choose(as) {
      const { sessions, damaged } = store.readAll();
      const infos = sessions.map(inform);
      if (as !== undefined) {
        const name = as.replace(/^@/, "");
        const actor = name.toLowerCase();
        const info = infos.find(({ did, handle }) => did === as || handle === actor);
        if (info !== undefined) return { info, why: "it was asked for" };
        const meant = await findDamaged(damaged, name);
        if (meant !== undefined) throw damagedError(meant);
        throw new AuthError("none", `${quote(as)} is not signed in on this machine`, {
          account: as,
        });
      }
      const chosen = store.readDefault();
      const info = infos.find(({ did }) => did === chosen);
      if (info !== undefined) return { info, why: "it is the default" };
      const lost = damaged.find(({ did }) => did === chosen) ??
        (chosen === undefined ? damaged[0] : undefined);
      if (lost !== undefined) throw damagedError(lost);
      if (chosen !== undefined && infos.length > 0) {
        throw new AuthError(
          "none",
          chosen === "damaged"
            ? `${quote(store.defaultPath)}, which names the account to act as, cannot be read`
            : `${chosen}, the account to act as, is not signed in on this machine`,
          {
            hint: `choose another with knotless login switch: ${
              infos.map(({ handle }) => handle).join(", ")
            }`,
          },
        );
      }
      const [first, second] = infos;
      if (first === undefined) return undefined;
      return { info: first, why: second === undefined ? "it is the only one" : "it is the first" };
    },

    authorized,

    async check(did) {
      try {
        const { fetch, pds } = authorized(did);
        const url = new URL("/xrpc/com.atproto.server.getSession", pds);
        const send: typeof globalThis.fetch = (_, init) => fetch(url.pathname, init);
        const { status, body } = await ask(url, { ...options, fetch: send, maxBytes: 100_000 });
        if (status !== 200) return status === 401 ? "ended" : "unchecked";
        // A captive portal answers 200 to everything.
        return textOf(parseJson(body), "did") === did ? "ok" : "unchecked";
      } catch (error) {
        if (error instanceof AuthError) return "ended";
        if (error instanceof RemoteError) return "unchecked";
        throw error;
      }
    },

    async loginWithPassword(account, password) {
      return await keep(await createSession(account, password, options));
    },

    async loginWithBrowser(account, visitor) {
      const { createBrowserSession } = await import("./oauth.ts");
      return await keep(await createBrowserSession(account, visitor, options));
    },

    async switchTo(did) {
      const session = store.read(did);
      if (session === undefined) throw new NotFoundError(`${did} is not signed in on this machine`);
      if (session === "damaged") throw damagedError({ did, path: store.path(did) });
      await store.writeDefault(did);
      return inform(session);
    },

    logout: (did) =>
      locked(did, async () => {
        const session = store.read(did);
        // First, so that the default never names an account that is gone.
        if (store.readDefault() === did) {
          const { sessions } = store.readAll();
          await store.writeDefault(sessions.find((other) => other.did !== did)?.did);
        }
        await store.remove(did);
        return session === undefined || session !== "damaged" && await revoke(session);
      }),
  };
}

function tokenOf(session: StoredSession): string {
  return session.kind === "password" ? session.accessJwt : session.tokenSet.access_token;
}

/** When the access token ends; a token that does not say is used until it is refused. */
function expiryOfTokens(session: StoredSession): number {
  const expiry = session.kind === "password"
    ? expiryOf(session.accessJwt)
    : Date.parse(session.tokenSet.expires_at);
  return expiry ?? Infinity;
}

/** True when the PDS refused a request only because its token has ended. */
async function isExpired(response: Response): Promise<boolean> {
  if (response.status !== 400 && response.status !== 401) return false;
  if (response.headers.get("www-authenticate")?.includes('error="invalid_token"')) return true;
  const body: unknown = await response.clone().json().catch(() => undefined);
  return typeof body === "object" && body !== null && "error" in body &&
    (body.error === "ExpiredToken" || body.error === "InvalidToken");
}

function damagedError({ did, path }: DamagedSession): AuthError {
  return new AuthError("ended", `the login of ${did} cannot be read: ${quote(path)} is damaged`, {
    code: "auth.damaged",
    hint:
      `sign in to that account again, knotless login ${did}, or leave it: knotless logout ${did}`,
    facts: { did, path },
  });
}

function endedError({ handle }: StoredSession): AuthError {
  return new AuthError("ended", `the login of ${handle} has ended`, { account: handle });
}

function isoSeconds(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
}
