import { quote, UsageError } from "../core/errors.ts";

/** What `knotless-mcp --help` says. */
export const HELP = `Serve knotless to an assistant: MCP over stdin and stdout

Usage: knotless-mcp [--read-only] [--http PORT]

  --read-only  Offer only the tools that read
  --http PORT  Serve over HTTP to this machine instead, at an address that is printed; 0 is any free port
  --version    Print the version
  --help       Print this
`;

/** What the command line of knotless-mcp asks for. */
export type Asked =
  | { readonly to: "help" | "version" }
  | { readonly to: "serve"; readonly readOnly: boolean; readonly port?: number };

/** Reads the flags of knotless-mcp; throws a UsageError. */
export function readFlags(argv: readonly string[]): Asked {
  let readOnly = false;
  let port: number | undefined;
  for (let at = 0; at < argv.length; at++) {
    const [flag, given] = splitFlag(argv[at] ?? "");
    if (flag === "--help") return { to: "help" };
    if (flag === "--version") return { to: "version" };
    if (flag === "--http") port = readPort(given ?? argv[++at]);
    else if (flag === "--read-only" && given === undefined) readOnly = true;
    else {
      throw new UsageError(`no such flag: ${quote(argv[at] ?? "")}`, {
        hint: "run knotless-mcp --help",
      });
    }
  }
  return { to: "serve", readOnly, ...(port !== undefined && { port }) };
}

/** `--flag=value` as the two. */
function splitFlag(word: string): [string, string?] {
  const [, flag, value] = /^(--[^=]*)=(.*)$/s.exec(word) ?? [];
  return flag === undefined ? [word] : [flag, value ?? ""];
}

function readPort(text: string | undefined): number {
  const port = /^\d{1,5}$/.test(text ?? "") ? Number(text) : Infinity;
  if (port <= 65_535) return port;
  throw new UsageError(
    text === undefined ? "--http has no port" : `--http is ${quote(text)}, which is no port`,
    { hint: "give a number up to 65535, or 0 for any free port" },
  );
}
