import { quote, UsageError } from "../core/errors.ts";
import type { FilterWish } from "./filter.ts";

/** What `knotless-mcp --help` says. */
export const HELP = `Serve knotless to an assistant: MCP over stdin and stdout

Usage: knotless-mcp [flags]

  --read-only            Offer only the tools that read
  --toolsets SETS        Offer only these sets of tools: groups, core, review, …; all if not given
  --tools TOOLS          Offer these tools, beside those of the sets
  --exclude-tools TOOLS  Do not offer these, whatever else names them
  --repo REPO            Let no other repository be named
  --lockdown             Give only text by people with a part in the repository
  --structured           Answer as structured content too
  --http PORT            Serve over HTTP to this machine, at an address that is printed; 0 is any free port
  --version              Print the version
  --help, -h             Print this

Lists are parted by commas. Each flag has a variable, KNOTLESS_MCP_READ_ONLY to KNOTLESS_MCP_STRUCTURED; of
a list the flag counts, and a switch is on when either is.

knotless mcp config prints what makes a client start it; knotless mcp tools lists the tools.
`;

/** What the command line of knotless-mcp asks for. */
export type Asked =
  | { readonly to: "help" | "version" }
  | { readonly to: "serve"; readonly wish: FilterWish; readonly port?: number };

type Env = Readonly<Record<string, string | undefined>>;

const SWITCHES = {
  "--read-only": "readOnly",
  "--lockdown": "lockdown",
  "--structured": "structured",
} as const;

const LISTS = {
  "--toolsets": "toolsets",
  "--tools": "tools",
  "--exclude-tools": "excludeTools",
  "--repo": "repos",
} as const;

/** Reads the flags of knotless-mcp and their variables; throws a UsageError. */
export function readFlags(argv: readonly string[], env: Env = {}): Asked {
  const switches = new Set<string>();
  const lists = new Map<string, string[]>();
  let port: number | undefined;
  for (let at = 0; at < argv.length; at++) {
    const [flag, given] = splitFlag(argv[at] ?? "");
    if (flag === "--help" || flag === "-h") return { to: "help" };
    if (flag === "--version") return { to: "version" };
    if (flag === "--http") port = readPort(given ?? argv[++at]);
    else if (flag in SWITCHES && given === undefined) switches.add(flag);
    else if (flag in LISTS) {
      lists.set(flag, [...lists.get(flag) ?? [], ...readList(flag, given ?? argv[++at])]);
    } else {
      throw new UsageError(`no such flag: ${quote(argv[at] ?? "")}`, {
        hint: "run knotless-mcp --help",
      });
    }
  }
  const own = new Map<string, string>();
  for (const flag of Object.keys(LISTS)) {
    const name = variable(flag);
    const text = env[name];
    if (!text || lists.has(flag)) continue;
    lists.set(flag, readList(name, text));
    own.set(flag, name);
  }
  const isOn = (flag: string) => switches.has(flag) || isSet(env[variable(flag)]);
  const wish = {
    readOnly: isOn("--read-only"),
    ...Object.fromEntries(
      Object.entries(SWITCHES).flatMap(([flag, key]) => isOn(flag) ? [[key, true]] : []),
    ),
    ...Object.fromEntries(
      Object.entries(LISTS).flatMap(([flag, key]) =>
        lists.has(flag) ? [[key, lists.get(flag)]] : []
      ),
    ),
    ...(own.size > 0 && { variables: own }),
  };
  return { to: "serve", wish, ...(port !== undefined && { port }) };
}

/** The variable that stands for a flag: `--read-only` is KNOTLESS_MCP_READ_ONLY. */
function variable(flag: string): string {
  return `KNOTLESS_MCP_${flag.slice(2).replaceAll("-", "_").toUpperCase()}`;
}

/** True for a variable that is set to anything but nothing, 0 and false. */
export function isSet(value = ""): boolean {
  return !["", "0", "false"].includes(value);
}

/** `--flag=value` as the two. */
function splitFlag(word: string): [string, string?] {
  const [, flag, value] = /^(--[^=]*)=(.*)$/s.exec(word) ?? [];
  return flag === undefined ? [word] : [flag, value ?? ""];
}

/** An empty list would leave nothing out where all but a few was meant. */
function readList(flag: string, text: string | undefined): string[] {
  const list = (text ?? "").split(",").map((word) => word.trim()).filter((word) => word !== "");
  if (list.length > 0 && !text?.startsWith("--")) return list;
  throw new UsageError(`${flag} names nothing`, { hint: "give a list, parted by commas" });
}

function readPort(text: string | undefined): number {
  const port = /^\d{1,5}$/.test(text ?? "") ? Number(text) : Infinity;
  if (port <= 65_535) return port;
  throw new UsageError(
    text === undefined ? "--http has no port" : `--http is ${quote(text)}, which is no port`,
    { hint: "give a number up to 65535, or 0 for any free port" },
  );
}
