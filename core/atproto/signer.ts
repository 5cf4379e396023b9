import { openProver } from "./dpop.ts";
import type { SessionStore, StoredSession } from "./session_store.ts";

/** Signs a request with a login's tokens and sends it. */
export type Signer = (session: StoredSession, url: URL, init: RequestInit) => Promise<Response>;

/** What signing needs. */
export interface SignerOptions {
  readonly fetch: typeof fetch;
  readonly now: () => Date;
  readonly random: () => number;
  readonly store: SessionStore;
}

/** Opens the signer for a login: a bearer token, or for one through the browser a proof for each request. */
export async function openSigner(opened: StoredSession, options: SignerOptions): Promise<Signer> {
  const { fetch, now, random, store } = options;
  if (opened.kind === "password") {
    return async (session, url, init) => {
      const token = session.kind === "password" ? session.accessJwt : "";
      return await fetch(url, signed(init, { authorization: `Bearer ${token}` }));
    };
  }
  const prove = await openProver(opened.dpopJwk);
  let nonce = store.readNonce(opened.did);
  return async (session, url, init) => {
    const accessToken = session.kind === "oauth" ? session.tokenSet.access_token : "";
    const attempt = async () => {
      const dpop = await prove({
        method: init.method?.toUpperCase() ?? "GET",
        url,
        accessToken,
        nonce,
        now: Math.floor(now().getTime() / 1000),
        id: `${random().toString(36).slice(2)}${random().toString(36).slice(2)}`,
      });
      const response = await fetch(
        url,
        signed(init, { authorization: `DPoP ${accessToken}`, dpop }),
      );
      const next = response.headers.get("dpop-nonce") ?? nonce;
      if (next !== undefined && next !== nonce) {
        nonce = next;
        await store.writeNonce(session.did, next);
      }
      return response;
    };
    const before = nonce;
    const response = await attempt();
    const asks = response.status === 401 && nonce !== before &&
      response.headers.get("www-authenticate")?.includes('error="use_dpop_nonce"');
    if (!asks) return response;
    await response.body?.cancel();
    return await attempt();
  };
}

function signed(init: RequestInit, more: Record<string, string>): RequestInit {
  const headers = new Headers(init.headers);
  for (const [key, value] of Object.entries(more)) headers.set(key, value);
  return { ...init, headers, redirect: "manual" };
}
