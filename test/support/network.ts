/** A real network for tests: the sandbox of the run, or one of a test's own. */
import { fileURLToPath } from "node:url";
import type { Ready } from "../../scripts/dev.ts";
import type { Account } from "../../scripts/sandbox/state.ts";

/** How a network of a test's own is to be. */
export interface NetworkOptions {
  /** Keeps the network in a directory, so that it can come back. */
  readonly data?: string;
  /** First parts of the handles of the accounts it starts with. */
  readonly accounts?: readonly string[];
  /** The largest blob, in bytes. */
  readonly blobLimit?: number;
  readonly rateLimits?: boolean;
  /** The directory of another network, to share. */
  readonly plc?: string;
  /** Where the PDS listens. */
  readonly port?: number;
  /** The port of what stands in front of the PDS, which its documents name. */
  readonly publicPort?: number;
}

export interface Network extends AsyncDisposable {
  readonly pid: number;
  readonly pds: string;
  readonly plc: string;
  readonly env: Ready["env"];
  /** Those it started with; a test makes its own where it writes. */
  readonly accounts: readonly Account[];
  /** Makes an account whose handle starts with `name` and is like no other. */
  createAccount(name?: string): Promise<Account>;
  /** Gives a fresh app password. */
  appPassword(account: Account): Promise<string>;
  /** Ends a network of a test's own; the shared one goes on. */
  stop(): Promise<void>;
}

const script = fileURLToPath(new URL("../../scripts/dev.ts", import.meta.url));
/** Longer than the sandbox waits for its own parts. */
const startLimit = 450_000;
const stopLimit = 10_000;
const answerLimit = 30_000;

/** Sends a procedure of `com.atproto.server` and gives its answer. */
async function post<T>(pds: string, method: string, input: unknown, token?: string): Promise<T> {
  const response = await fetch(`${pds}/xrpc/com.atproto.server.${method}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(input),
    signal: AbortSignal.timeout(answerLimit),
  });
  if (!response.ok) throw new Error(`${method}: ${response.status} ${await response.text()}`);
  return await response.json();
}

async function createAccount(pds: string, name = "user"): Promise<Account> {
  // A PDS takes 3 to 18 characters, and few plain words.
  const unique = crypto.getRandomValues(new Uint8Array(4)).toHex();
  const handle = `${name.slice(0, 9)}-${unique}.test`;
  const password = `password-${unique}`;
  const input = { handle, email: `${name}-${unique}@example.com`, password };
  const { did } = await post<{ did: string }>(pds, "createAccount", input);
  return { handle, did, password };
}

async function appPassword(pds: string, { did, password }: Account): Promise<string> {
  const { accessJwt } = await post<{ accessJwt: string }>(pds, "createSession", {
    identifier: did,
    password,
  });
  const name = crypto.randomUUID();
  const made = await post<{ password: string }>(pds, "createAppPassword", { name }, accessJwt);
  return made.password;
}

function connect({ pid, pds, plc, env, accounts }: Ready, stop: () => Promise<void>): Network {
  return {
    pid,
    pds,
    plc,
    env,
    accounts,
    createAccount: (name) => createAccount(pds, name),
    appPassword: (account) => appPassword(pds, account),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Gives the first line that a process prints. */
async function readLine(stdout: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = "";
  for await (const chunk of stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const end = text.indexOf("\n");
    if (end >= 0) return text.slice(0, end);
  }
  throw new Error("the sandbox ended before it was ready");
}

function toArguments(options: NetworkOptions): string[] {
  return [
    ...(options.data ? ["--data", options.data] : []),
    ...(options.accounts ? ["--accounts", options.accounts.join(",")] : []),
    ...(options.blobLimit ? ["--blob-limit", String(options.blobLimit)] : []),
    ...(options.rateLimits ? ["--rate-limits"] : []),
    ...(options.plc ? ["--plc", options.plc] : []),
    ...(options.port ? ["--port", String(options.port)] : []),
    ...(options.publicPort ? ["--public-port", String(options.publicPort)] : []),
  ];
}

async function startNetwork(options: NetworkOptions): Promise<Network> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-all", script, ...toArguments(options)],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const kill = (signal: Deno.Signal, milliseconds: number) => {
    const timer = setTimeout(() => process.kill(signal), milliseconds);
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  };
  const stop = async () => {
    try {
      process.kill("SIGTERM");
    } catch {
      // It has ended already.
    }
    using _late = kill("SIGKILL", stopLimit);
    await process.status;
  };
  try {
    using _late = kill("SIGKILL", startLimit);
    return connect(JSON.parse(await readLine(process.stdout)), stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Gives the network that the run's tests share, or starts one when there is none. With `own` it
 * always starts one.
 */
export async function openNetwork(
  options: { own?: false } | ({ own: true } & NetworkOptions) = {},
): Promise<Network> {
  if (options.own) return await startNetwork(options);
  const shared = Deno.env.get("KNOTLESS_TEST_NETWORK");
  return shared ? connect(JSON.parse(shared), async () => {}) : await startNetwork({});
}
