import process from "node:process";
import { join } from "node:path";
import { allowedUrl, isLoopback, tellWaiting } from "./atproto/http.ts";
import { openIdentity } from "./atproto/identity.ts";
import { openRecords } from "./atproto/records.ts";
import { openSessions, type Sessions } from "./atproto/session.ts";
import { makeTids } from "./atproto/syntax.ts";
import type { Contexts, Kind, MachineContext, ReadContext, WriteContext } from "./context.ts";
import { readAuthor } from "./author.ts";
import { never, openBackground } from "./background.ts";
import { AuthError, OfflineError, quote, UsageError } from "./errors.ts";
import { type Env, findFolders } from "./folders.ts";
import { type MachineSurface, openMachine } from "./machine.ts";
import type { OpenStore } from "./mirror/mirror.ts";
import { openMirrors } from "./mirror/mirrors.ts";

/** What every command is run under, whatever surface asks. */
export interface Globals {
  /** The account to act as: a handle or a DID. */
  readonly as?: string | undefined;
  readonly offline?: boolean;
  /** Looks at the owner's PDS each time; where that fails, so does the command. */
  readonly refresh?: boolean;
  /** Milliseconds. */
  readonly maxAge?: number | undefined;
}

/** What a surface gives the commands it runs. */
export interface Surface extends Pick<ReadContext, "signal" | "note" | "progress">, MachineSurface {
  /** True where the process goes on after the answer, and has time for what was put off. */
  readonly goesOn?: boolean;
}

/** Opens the context of a kind. */
export type Open = <K extends Kind>(kind: K) => Promise<Contexts[K]>;

const PLC = "https://plc.directory";
const TIMEOUT_MS = 30_000;
/** A small answer comes sooner, or not at all: with the second try that is half a minute. */
const READ_TIMEOUT_MS = 15_000;
/** How long a person waits without being told for whom. */
const UNTOLD_MS = 5_000;
const MAX_AGE_MS = 30_000;

/**
 * Takes what a process keeps between calls: settings from the environment, open files, the last TID. Gives what opens
 * the contexts of one call.
 */
export function openWorld(globals: Globals, env: Env): (surface: Surface) => Open {
  const folders = findFolders(env, process.platform);
  const plc = readUrl("KNOTLESS_PLC", env.KNOTLESS_PLC || PLC);
  const appview = env.KNOTLESS_APPVIEW && readUrl("KNOTLESS_APPVIEW", env.KNOTLESS_APPVIEW).origin;
  const stores = new Map<string, OpenStore>();
  const later = openBackground();
  const now = () => new Date();
  const tid = makeTids(() => Date.now(), Math.random);
  const freshness = {
    offline: globals.offline ?? false,
    maxAge: globals.refresh ? 0 : globals.maxAge ?? MAX_AGE_MS,
    strict: globals.refresh ?? false,
  };
  return (surface) => {
    const { signal, note, progress } = surface;
    const common = {
      fetch: freshness.offline ? refuseToAsk : tellWaiting(fetch, note, UNTOLD_MS),
      now,
      signal,
      random: Math.random,
      timeoutMs: TIMEOUT_MS,
    };
    const identity = openIdentity({
      ...common,
      plc: plc.origin,
      dns: env.KNOTLESS_DNS || undefined,
      handleHttp: env.KNOTLESS_HANDLE_HTTP || undefined,
      cacheFile: join(folders.cacheDir, "identities.json"),
      offline: freshness.offline,
    });
    const records = openRecords({
      ...common,
      identity,
      timeoutMs: READ_TIMEOUT_MS,
      longMs: TIMEOUT_MS,
    });
    const mirrors = openMirrors({
      cacheDir: folders.cacheDir,
      records,
      signal,
      stores,
      now,
      unique: tid,
      note,
      progress,
    });
    const sessions = openSessions({
      ...common,
      dir: join(folders.stateDir, "sessions"),
      identity,
      loopback: isLoopback(plc),
    });
    let chosen: ReturnType<Sessions["choose"]> | undefined;
    const choose = () => chosen ??= sessions.choose(globals.as);
    const read = (login = choose): ReadContext => ({
      reader: async () => (await login())?.info,
      identity,
      records,
      mirrors,
      freshness,
      appview,
      fetch: common.fetch,
      signal,
      now,
      note,
      progress,
      later: surface.goesOn ? later : never,
    });
    const write = async (): Promise<WriteContext> => {
      if (freshness.offline) {
        throw new OfflineError("nothing was sent: this writes, and is not done offline");
      }
      const login = await choose();
      if (login === undefined) throw new AuthError("none", "no one is logged in");
      const { openWriter } = await import("./atproto/writer.ts");
      const { did } = login.info;
      const account = await identity.resolve(did);
      const authorized = () => sessions.authorized(did);
      return {
        ...read(),
        account,
        writer: openWriter({ account, authorized, signal, timeoutMs: TIMEOUT_MS }),
        author: readAuthor(folders.configDir, account),
        tid,
        random: Math.random,
      };
    };
    // A command of this machine may be the one that signs in whom --as names.
    const chooseIfThere = () =>
      choose().catch((error: unknown) => {
        if (error instanceof AuthError) return undefined;
        throw error;
      });
    const machine = (): MachineContext => ({
      ...read(chooseIfThere),
      sessions,
      writing: write,
      machine: openMachine(surface, env, folders),
    });
    const openers: { [K in Kind]: () => Promise<Contexts[K]> } = {
      async read() {
        // Who is asked for by name is to be signed in; anyone else may read.
        if (globals.as !== undefined) await choose();
        return read();
      },
      write,
      machine: () => Promise.resolve(machine()),
    };
    return (kind) => openers[kind]();
  };
}

/** Opens the contexts of one call in a process of its own. */
export function openContexts(globals: Globals, env: Env, surface: Surface): Open {
  return openWorld(globals, env)(surface);
}

function readUrl(name: string, text: string): URL {
  const url = allowedUrl(text, true);
  if (url === undefined) {
    throw new UsageError(
      `${name} is ${quote(text)}: give an https URL; http is for this machine alone`,
    );
  }
  return url;
}

/** Stands in for the network where it is not to be asked. */
function refuseToAsk(input: string | URL | Request): Promise<Response> {
  const { host } = new URL(input instanceof Request ? input.url : input);
  return Promise.reject(new OfflineError(`${host} was not asked`, host));
}
