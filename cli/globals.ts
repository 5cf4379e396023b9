import { quote, UsageError } from "../core/errors.ts";
import { type Env, isOn } from "./env.ts";
import type { Line } from "./flags.ts";
import type { ColorWish } from "./terminal.ts";

/** What the flags and variables that every command has come to. */
export interface Globals {
  /** The account to act as: a handle or a DID. */
  readonly as?: string;
  /** The repository of `-R`, as typed. */
  readonly repo?: string;
  /** The folder of `-C`, as typed. */
  readonly dir?: string;
  readonly offline: boolean;
  /** The flag or variable that says so. */
  readonly offlineBy?: string;
  readonly refresh: boolean;
  /** Milliseconds. */
  readonly maxAge?: number;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly debug: boolean;
  readonly noInput: boolean;
}

/** Tells whether a command line wants JSON, before it is known to be well-formed. */
export function wantsJson(argv: readonly string[], env: Env): boolean {
  const end = argv.indexOf("--");
  const flags = end < 0 ? argv : argv.slice(0, end);
  const last = flags.findLast((word) => word === "--json" || word.startsWith("--json="));
  return last === undefined ? env.KNOTLESS_OUTPUT === "json" : last !== "--json=false";
}

/** Puts flags and environment together, flags first. */
export function readGlobals({ given }: Line, env: Env): Globals {
  const text = (flag: string) => {
    const value = given.get(flag);
    return typeof value === "string" ? value : undefined;
  };
  const on = (flag: string) => given.get(flag) === true;
  const as = text("as") ?? (env.KNOTLESS_ACCOUNT || undefined);
  const [repo, dir, age] = [text("repo"), text("C"), text("max-age")];
  const output = env.KNOTLESS_OUTPUT;
  if (output && output !== "json") {
    throw new UsageError(`KNOTLESS_OUTPUT: ${quote(output)} is not json`);
  }
  if (on("offline") && on("refresh")) {
    throw new UsageError("--offline and --refresh exclude each other");
  }
  const offlineBy = on("offline")
    ? "--offline"
    : isOn(env.KNOTLESS_OFFLINE) && !given.has("offline") && !on("refresh")
    ? "KNOTLESS_OFFLINE"
    : undefined;
  return {
    ...(as !== undefined && { as }),
    ...(repo !== undefined && { repo }),
    ...(dir !== undefined && { dir }),
    offline: offlineBy !== undefined,
    ...(offlineBy !== undefined && { offlineBy }),
    refresh: on("refresh"),
    ...(age !== undefined && { maxAge: readDuration(age) }),
    quiet: on("quiet"),
    verbose: on("verbose"),
    debug: on("debug") || isOn(env.KNOTLESS_DEBUG),
    noInput: on("no-input") || isOn(env.KNOTLESS_NO_INPUT) || isOn(env.CI),
  };
}

/** What `--color` and its variables ask for. */
export function readColorWish({ given }: Line, env: Env): ColorWish {
  const flag = given.get("color");
  const value = flag ?? (env.KNOTLESS_COLOR || "auto");
  if (value === "auto" || value === "always" || value === "never") return value;
  const name = flag === undefined ? "KNOTLESS_COLOR" : "--color";
  throw new UsageError(`${name}: ${quote(String(value))} is not one of auto, always, never`);
}

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function readDuration(text: string): number {
  const [, count, unit = "s"] = /^(\d{1,9})([smhd])?$/.exec(text) ?? [];
  if (count === undefined) {
    throw new UsageError(`--max-age: ${quote(text)} is not a time: give 30s, 5m, 1h or 2d`);
  }
  return Number(count) * units[unit as keyof typeof units];
}
