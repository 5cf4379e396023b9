/** A whole network in this process: a PDS with accounts, a PLC directory, and proofs of handles. */
import { promises as dns } from "node:dns";
import { UnfitError } from "../options.ts";
import { startHandleDns, startHandleHttp } from "./handles.ts";
import { listen } from "./listen.ts";
import { importBundle, startPds } from "./pds.ts";
import { findClaimant, openDirectory } from "./plc.ts";
import { type Account, readState, writeState } from "./state.ts";

export interface SandboxOptions {
  /** Where everything is kept. */
  readonly data: string;
  /** True when nobody needs the data after a power cut. */
  readonly temporary: boolean;
  /** First parts of handles. */
  readonly accounts: readonly string[];
  /** Bytes. */
  readonly blobLimit: number;
  readonly rateLimits: boolean;
  /** A directory to share; without it there is one of its own. */
  readonly plc: string | undefined;
  /** The PDS's port; without it the one it had, or a free one. */
  readonly port: number | undefined;
  /** The port of what stands in front of the PDS, which passes on to `port`. */
  readonly publicPort: number | undefined;
}

/** What a client needs to use the network, as environment variables. */
export interface SandboxEnv {
  readonly KNOTLESS_PLC: string;
  /** `host:port`. */
  readonly KNOTLESS_DNS: string;
  readonly KNOTLESS_HANDLE_HTTP: string;
  readonly KNOTLESS_PDS: string;
}

export interface Sandbox extends AsyncDisposable {
  readonly pds: string;
  readonly plc: string;
  readonly accounts: readonly Account[];
  readonly env: SandboxEnv;
}

async function createAccount(pds: string, name: string): Promise<Account> {
  const handle = `${name}.test`;
  const password = crypto.getRandomValues(new Uint8Array(8)).toHex();
  const response = await fetch(`${pds}/xrpc/com.atproto.server.createAccount`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ handle, email: `${name}@example.com`, password }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  if (response.status === 400) {
    throw new UnfitError(`no account can be ${handle}: ${saidIn(text)}`);
  }
  if (!response.ok) throw new Error(`the PDS did not make ${handle}: ${text}`);
  const { did }: { did: string } = JSON.parse(text);
  return { handle, did, password };
}

function saidIn(body: string): string {
  const { message = body }: { message?: string } = JSON.parse(body);
  return message;
}

/** Starts the network from the bundle made by `prepareBundle`. */
export async function startSandbox(path: string, options: SandboxOptions): Promise<Sandbox> {
  await using starting = new AsyncDisposableStack();
  const { data } = options;
  await Deno.mkdir(data, { recursive: true });
  const state = await readState(data);
  const bundle = await importBundle(path);
  if (options.temporary) bundle.skipSyncs();

  const directory = options.plc ? undefined : starting.use(
    listen(state.ports.plc, await openDirectory(bundle, `${data}/plc.jsonl`)),
  );
  const plc = options.plc ?? directory?.url ?? "";
  const pds = starting.use(
    await startPds(bundle, {
      directory: `${data}/pds`,
      port: options.port ?? state.ports.pds,
      publicPort: options.publicPort,
      plc,
      secrets: state.secrets,
      blobLimit: options.blobLimit,
      rateLimits: options.rateLimits,
    }),
  );
  const find = async (handle: string) => await pds.didOf(handle) ?? await findClaimant(plc, handle);
  const names = starting.use(await startHandleDns(state.ports.dns, find));
  // The PDS resolves handles of others by the same server, and asks nobody outside.
  dns.setServers([names.address]);
  const handles = starting.use(startHandleHttp(state.ports.handles, find));

  const accounts = [...state.accounts];
  for (const name of options.accounts) {
    if (accounts.some(({ handle }) => handle === `${name}.test`)) continue;
    accounts.push(await createAccount(`http://localhost:${pds.port}`, name));
  }
  await writeState(data, {
    secrets: state.secrets,
    ports: {
      pds: pds.port,
      plc: directory?.port ?? state.ports.plc,
      dns: names.port,
      handles: handles.port,
    },
    accounts,
  });

  const parts = starting.move();
  return {
    pds: pds.url,
    plc,
    accounts,
    env: {
      KNOTLESS_PLC: plc,
      KNOTLESS_DNS: names.address,
      KNOTLESS_HANDLE_HTTP: handles.url,
      KNOTLESS_PDS: pds.url,
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
