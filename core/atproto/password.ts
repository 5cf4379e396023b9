import { Buffer } from "node:buffer";
import { AuthError, quote, RemoteError } from "../errors.ts";
import { ask, type Asking, type Reply } from "./http.ts";
import type { Account } from "./identity.ts";
import { isObject, parseJson, textOf } from "./json.ts";
import type { PasswordSession } from "./session_store.ts";
import {
  inactiveError,
  rateLimited,
  readAnswer,
  readRefusal,
  refusedError,
  xrpcUrl,
} from "./xrpc.ts";

/** How a PDS is asked for its sessions. */
export type Sending = Pick<Asking, "fetch" | "signal" | "timeoutMs">;

async function post(
  pds: string,
  method: string,
  sending: Sending,
  token: string | undefined,
  input?: object,
): Promise<Reply> {
  const headers: Record<string, string> = {};
  if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
  if (input !== undefined) headers["content-type"] = "application/json";
  return await ask(xrpcUrl(pds, `com.atproto.server.${method}`), {
    ...sending,
    maxBytes: 100_000,
    init: { method: "POST", headers, ...(input && { body: JSON.stringify(input) }) },
  });
}

/** Signs in with an account's password or an app password. */
export async function createSession(
  account: Account,
  password: string,
  sending: Sending,
): Promise<PasswordSession> {
  const input = { identifier: account.did, password };
  const reply = await post(account.pds, "createSession", sending, undefined, input);
  const { host } = new URL(account.pds);
  if (reply.status === 200) return readSession(account, host, reply);
  const refusal = readRefusal(host, reply);
  if (refusal.name === "AuthFactorTokenRequired") {
    throw new AuthError("none", `${quote(host)} asks for a code sent by e-mail`, {
      hint: "sign in with an app password, which needs none",
    });
  }
  if (reply.status === 429) throw rateLimited(host, reply.headers);
  const inactive = inactiveError(host, account.did, refusal.name);
  if (inactive !== undefined) throw inactive;
  if (reply.status !== 401) throw refusedError(refusal, reply.headers);
  throw new AuthError("none", `${quote(host)} does not take this password for ${account.handle}`, {
    hint: "make an app password in the account's settings, and give that",
  });
}

/** Asks for new tokens in place of a session's old ones; `ended` when the PDS takes those no more. */
export async function refreshSession(
  session: PasswordSession,
  sending: Sending,
): Promise<PasswordSession | "ended"> {
  const { host } = new URL(session.pds);
  const reply = await post(session.pds, "refreshSession", sending, session.refreshJwt);
  if (reply.status === 200) return readSession(session, host, reply);
  const refusal = readRefusal(host, reply);
  const inactive = inactiveError(host, session.did, refusal.name);
  if (inactive !== undefined) throw inactive;
  if (reply.status === 401 || /^(?:Expired|Invalid)Token$/.test(refusal.name)) return "ended";
  throw refusedError(refusal, reply.headers);
}

/** Tells the PDS that a session is over. */
export async function deleteSession(session: PasswordSession, sending: Sending): Promise<void> {
  await post(session.pds, "deleteSession", sending, session.refreshJwt);
}

/** When a token ends, in milliseconds since 1970; undefined when it does not say. */
export function expiryOf(jwt: string): number | undefined {
  const exp = readClaims(jwt)["exp"];
  return typeof exp === "number" ? exp * 1000 : undefined;
}

function readClaims(jwt: string): Record<string, unknown> {
  const claims = parseJson(Buffer.from(jwt.split(".")[1] ?? "", "base64url"));
  return isObject(claims) ? claims : {};
}

function readSession(account: Account, host: string, reply: Reply): PasswordSession {
  const answer = readAnswer(host, reply);
  const accessJwt = textOf(answer, "accessJwt");
  const refreshJwt = textOf(answer, "refreshJwt");
  if (answer["did"] !== account.did || accessJwt === undefined || refreshJwt === undefined) {
    throw new RemoteError(`${quote(host)} answered a session that is not ${account.did}'s`, {
      host,
      retryable: false,
    });
  }
  const { did, handle, pds } = account;
  const scope = readClaims(accessJwt)["scope"];
  const scopes = typeof scope === "string" ? [scope] : [];
  return { kind: "password", did, handle, pds, scopes, missing: [], accessJwt, refreshJwt };
}
