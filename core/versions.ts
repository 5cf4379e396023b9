import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { allowedUrl, ask } from "./atproto/http.ts";
import { OutdatedError } from "./errors.ts";
import { readText, writeAtomic } from "./files.ts";
import { type Env, findFolders } from "./folders.ts";

/** What watches over the versions that an appview tells of. */
export interface VersionWatch {
  /**
   * Throws an OutdatedError when the appview takes none as old as this one. Where a day has gone by it also begins to
   * ask, and does not wait for the answer.
   */
  check(): void;
  /** What there is to say of a newer version, once. */
  notice(): string | undefined;
  /** Waits for the answer to a question that was begun; gives whether there was one. */
  answered(): Promise<boolean>;
}

/** What a watch goes by. */
export interface WatchOptions {
  /** This program's. */
  readonly version: string;
  readonly env: Env;
  readonly platform: string;
  readonly fetch: typeof fetch;
  now(): Date;
  /** Tells two writers' temporary files apart. */
  readonly unique: string;
  /** Asks nothing. */
  readonly offline: boolean;
  /** Gives up a question whose answer nobody waits for. */
  readonly signal?: AbortSignal;
}

/** What an appview said last, as the file has it. */
interface Known {
  readonly appview: string;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** The newest version there is. */
  readonly version?: string;
  /** The oldest that the appview takes. */
  readonly minimum?: string;
}

const DAY_MS = 86_400_000;
const TIMEOUT_MS = 10_000;
const MOST_BYTES = 100_000;
const VERSION = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$/;

/** Watches over the versions that the configured appview tells of; undefined where none is configured. */
export function watchVersions(options: WatchOptions): VersionWatch | undefined {
  const { env, platform, version, now } = options;
  const appview = allowedUrl(env.KNOTLESS_APPVIEW ?? "", true);
  if (appview === undefined) return undefined;
  const file = join(findFolders(env, platform).cacheDir, "versions.json");
  const isMinimumIgnored = !["", "0", "false"].includes(env.KNOTLESS_IGNORE_MINIMUM ?? "");
  let known: Known | undefined;
  let asking: Promise<void> | undefined;
  let isTold = false;

  const recall = () => known ??= readKnown(file, appview.origin);
  const keep = async (told: Known): Promise<void> => {
    known = told;
    await mkdir(dirname(file), { recursive: true });
    await writeAtomic(file, JSON.stringify(told), options);
  };
  const question = async (before: Known): Promise<void> => {
    const asked = { ...before, askedAt: now().getTime() };
    // Before the answer: an appview that does not answer is not asked with every start.
    await keep(asked);
    await keep({ ...asked, ...await askVersions(appview, options) });
  };
  return {
    check() {
      const told = recall();
      const age = now().getTime() - told.askedAt;
      if (asking === undefined && !options.offline && !(age >= 0 && age < DAY_MS)) {
        // Whatever fails here is no matter of the call at hand.
        asking = question(told).catch(() => {}).finally(() => asking = undefined);
      }
      const { minimum } = told;
      if (isMinimumIgnored || minimum === undefined || !isOlder(version, minimum)) return;
      throw new OutdatedError(
        `this knotless is ${version}, and ${appview.host} takes ${minimum} or newer`,
        { hint: { command: "upgrade" } },
      );
    },
    notice() {
      const { version: newest } = recall();
      if (isTold || newest === undefined || !isOlder(version, newest)) return undefined;
      isTold = true;
      return `knotless ${newest} is out, and this is ${version}: knotless upgrade brings it`;
    },
    async answered() {
      if (asking === undefined) return false;
      await asking;
      return true;
    },
  };
}

/** Tells whether a version came before another; what is no version came before none. */
export function isOlder(one: string, other: string): boolean {
  const [a, b] = [VERSION.exec(one), VERSION.exec(other)];
  if (a === null || b === null) return false;
  for (let at = 1; at <= 3; at++) {
    const step = Number(a[at]) - Number(b[at]);
    if (step !== 0) return step < 0;
  }
  return false;
}

async function askVersions(
  appview: URL,
  { fetch, signal = new AbortController().signal }: WatchOptions,
): Promise<Pick<Known, "version" | "minimum">> {
  const { status, body } = await ask(new URL("/_status", appview), {
    fetch,
    signal,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MOST_BYTES,
  });
  return status === 200 ? readVersions(JSON.parse(new TextDecoder().decode(body))) : {};
}

function readKnown(file: string, appview: string): Known {
  const nothing = { appview, askedAt: -Infinity };
  let told: unknown;
  try {
    told = JSON.parse(readText(file) ?? "");
  } catch {
    return nothing;
  }
  if (textAt(told, "appview") !== appview) return nothing;
  const askedAt = valueAt(told, "askedAt");
  return {
    appview,
    askedAt: typeof askedAt === "number" ? askedAt : -Infinity,
    ...readVersions(told),
  };
}

/** The versions that something from elsewhere tells of; what does not look like one is left out. */
function readVersions(told: unknown): Pick<Known, "version" | "minimum"> {
  const [version, minimum] = [textAt(told, "version"), textAt(told, "minimum")];
  return {
    ...(version !== undefined && VERSION.test(version) && { version }),
    ...(minimum !== undefined && VERSION.test(minimum) && { minimum }),
  };
}

function textAt(value: unknown, key: string): string | undefined {
  const text = valueAt(value, key);
  return typeof text === "string" ? text : undefined;
}

function valueAt(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}
