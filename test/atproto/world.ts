import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Identity, openIdentity } from "../../core/atproto/identity.ts";
import { openRecords, type Records } from "../../core/atproto/records.ts";
import { openSessions, type Sessions } from "../../core/atproto/session.ts";
import type { Network } from "../support/network.ts";

/** A client's parts against a network, with a folder of its own. */
export interface World extends AsyncDisposable {
  readonly folder: string;
  readonly identity: Identity;
  readonly records: Records;
}

/** Opens the parts; `env` may lead through proxies. */
export async function openWorld(env: Network["env"]): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), "knotless-"));
  const { signal } = new AbortController();
  const identity = openIdentity({
    plc: env.KNOTLESS_PLC,
    dns: env.KNOTLESS_DNS,
    handleHttp: env.KNOTLESS_HANDLE_HTTP,
    cacheFile: join(folder, "identities.json"),
    fetch,
    now: () => new Date(),
    signal,
    offline: false,
  });
  const records = openRecords({ fetch, signal, identity, timeoutMs: 5000, random: () => 0 });
  return {
    folder,
    identity,
    records,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** Calls procedures of a PDS as an account, without any code of ours. */
export type Call = (
  nsid: string,
  input: unknown,
  type?: string,
) => Promise<{ status: number; body: Record<string, unknown> }>;

/** Signs an account in at its PDS. */
export async function signIn(
  pds: string,
  { did, password }: { did: string; password: string },
): Promise<Call> {
  const call = async (token: string | undefined, ...[nsid, input, type]: Parameters<Call>) => {
    const response = await fetch(`${pds}/xrpc/${nsid}`, {
      method: "POST",
      headers: {
        "content-type": type ?? "application/json",
        ...(token && { authorization: `Bearer ${token}` }),
      },
      body: input instanceof Uint8Array ? new Uint8Array(input) : JSON.stringify(input),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
  };
  const { body } = await call(undefined, "com.atproto.server.createSession", {
    identifier: did,
    password,
  });
  return (...parameters) => call(String(body["accessJwt"]), ...parameters);
}

/** The logins of a folder, as another process of the same machine would open them. */
export function openLogins(
  world: World,
  changed: Partial<Parameters<typeof openSessions>[0]> = {},
): Sessions {
  return openSessions({
    dir: join(world.folder, "sessions"),
    identity: world.identity,
    fetch,
    now: () => new Date(),
    random: Math.random,
    signal: new AbortController().signal,
    timeoutMs: 5000,
    loopback: true,
    ...changed,
  });
}
