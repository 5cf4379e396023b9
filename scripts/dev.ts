/**
 * `deno task dev`: a whole network on this machine (a PDS with accounts, a PLC directory, proofs of
 * handles). Prints one line of JSON when it is ready, and goes when it is told to or when whoever
 * started it is gone.
 */
import { resolve } from "node:path";
import { readCount, readOptions, refuse, UnfitError } from "./options.ts";
import { prepareBundle } from "./sandbox/install.ts";
import type { Sandbox, SandboxOptions } from "./sandbox/sandbox.ts";
import { findStarters, untilOneIsGone } from "./sandbox/starters.ts";
import type { Account } from "./sandbox/state.ts";
import { makeTemporary } from "./sandbox/temporary.ts";

/** The line that says that the network is there. */
export interface Ready {
  readonly ready: true;
  /** The process that stops the network when it gets SIGTERM. */
  readonly pid: number;
  readonly pds: string;
  readonly plc: string;
  readonly accounts: readonly Account[];
  /** Every variable that a client needs. */
  readonly env: Sandbox["env"];
}

const usage = `usage: deno task dev [options]
  --data DIR            keep everything in DIR, and come back as it was
  --accounts alice,bob  accounts to make, by the first part of their handles
  --blob-limit BYTES    the largest blob, 5 MB unless told
  --rate-limits         limit rates as a hosted PDS does
  --plc URL             share the directory of another sandbox
  --port N              the PDS's port
  --public-port N       the port of what stands in front of the PDS
`;

const startLimit = 120_000;
const stopLimit = 5_000;

function say(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
}

function toCount(text: string | undefined, name: string): number | undefined {
  return text === undefined ? undefined : readCount(name, text);
}

function parseOptions(args: string[]): Omit<SandboxOptions, "data" | "temporary"> & {
  readonly data: string | undefined;
} {
  const { values } = readOptions({
    args,
    options: {
      data: { type: "string" },
      accounts: { type: "string", default: "alice,bob" },
      "blob-limit": { type: "string" },
      "rate-limits": { type: "boolean", default: false },
      plc: { type: "string" },
      port: { type: "string" },
      "public-port": { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) endWith(0, usage);
  return {
    data: values.data && resolve(values.data),
    accounts: values.accounts.split(",").filter(Boolean),
    blobLimit: toCount(values["blob-limit"], "blob-limit") ?? 5 * 1024 * 1024,
    rateLimits: values["rate-limits"],
    plc: values.plc,
    port: toCount(values.port, "port"),
    publicPort: toCount(values["public-port"], "public-port"),
  };
}

/** Gives a signal that aborts when this process is to stop. */
async function listenForStop(): Promise<AbortSignal> {
  const stop = new AbortController();
  const signals = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"] as const
    : ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) Deno.addSignalListener(signal, () => stop.abort());
  untilOneIsGone(await findStarters(Deno.ppid)).then(() => stop.abort());
  return stop.signal;
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    signal.addEventListener("abort", () => done());
  });
}

async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(milliseconds);
  await Promise.race([promise, whenAborted(late)]);
  if (late.aborted) throw new Error(`the network did not start in ${milliseconds / 1000} s`);
  return await promise;
}

async function openFolder(data: string): Promise<Deno.FsFile> {
  try {
    await Deno.mkdir(data, { recursive: true });
    return await Deno.open(`${data}/lock`, { create: true, write: true });
  } catch (error) {
    const why = error instanceof Error ? error.message : `${error}`;
    throw new UnfitError(`nothing can be kept in ${data}: ${why}`, { cause: error });
  }
}

/** One sandbox a folder: two would write the same files, and want the same ports. */
async function holdFolder(data: string): Promise<Disposable> {
  const lock = await openFolder(data);
  if (await lock.tryLock(true)) return lock;
  return endWith(1, `already running: ${data} is served by another sandbox`);
}

async function run({ data, ...options }: ReturnType<typeof parseOptions>): Promise<void> {
  const stop = await listenForStop();
  await using parts = new AsyncDisposableStack();
  if (data !== undefined) parts.use(await holdFolder(data));
  const serve = async () => {
    const bundle = await prepareBundle(stop, say);
    const temporary = data ? undefined : parts.use(await makeTemporary());
    const { startSandbox } = await import("./sandbox/sandbox.ts");
    const path = data ?? temporary?.path ?? "";
    const started = startSandbox(bundle, { ...options, data: path, temporary: !data });
    const sandbox = parts.use(await within(startLimit, started));
    const ready: Ready = {
      ready: true,
      pid: Deno.pid,
      pds: sandbox.pds,
      plc: sandbox.plc,
      accounts: sandbox.accounts,
      env: sandbox.env,
    };
    await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify(ready)}\n`));
  };
  await Promise.race([whenAborted(stop), serve()]);
  await whenAborted(stop);
  Deno.unrefTimer(setTimeout(() => Deno.exit(1), stopLimit));
}

/** Nothing but the line may come out where it is read. */
function keepStdoutClean(): void {
  // deno-lint-ignore no-console
  console.log = console.info = console.debug = console.error;
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    say(`sandbox: ${event.reason?.stack ?? event.reason}`);
  });
}

function endWith(status: number, text: string): never {
  say(text);
  Deno.exit(status);
}

if (import.meta.main) {
  keepStdoutClean();
  const options = parseOptions(Deno.args);
  try {
    await run(options);
  } catch (error) {
    if (error instanceof UnfitError) refuse(error.message);
    endWith(1, `sandbox: ${error instanceof Error ? error.stack : error}`);
  }
  Deno.exit(0);
}
