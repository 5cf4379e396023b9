import { globalFlags } from "./flags.ts";
import { table, wrap } from "./layout.ts";

const exitCodes: readonly (readonly [string, string])[] = [
  ["0", "it worked; an empty list is no failure, nor is a reader that stopped reading"],
  ["1", "refused: by a rule, or by this machine"],
  ["2", "usage: an argument that is unknown, missing or does not fit"],
  ["3", "cancelled by you"],
  ["4", "not signed in, a login that has ended, or one that may not do this"],
  ["5", "not found"],
  ["6", "conflict: it moved, exists already, or is in another state"],
  ["7", "the network or a server failed: trying again may help"],
  ["8", "a wait ended before what it waited for"],
  ["9", "what was waited for ended without success"],
  ["10", "this knotless is older than the server takes"],
  ["70", "a bug in knotless"],
  ["130", "interrupted"],
];

const environment: readonly (readonly [string, string])[] = [
  ["KNOTLESS_ACCOUNT", "the account to act as, like --as"],
  ["KNOTLESS_REPO", "the repository, where -R names none"],
  ["KNOTLESS_OUTPUT", "json: as if every command had --json"],
  ["KNOTLESS_OFFLINE", "1: ask only the copies on this machine"],
  ["KNOTLESS_NO_INPUT", "1: never ask anything; CI does the same"],
  ["KNOTLESS_DEBUG", "1: say what goes wrong inside"],
  ["KNOTLESS_CONFIG_DIR", "the settings, else XDG_CONFIG_HOME/knotless"],
  ["KNOTLESS_CACHE_DIR", "copies of repositories, else XDG_CACHE_HOME/knotless"],
  ["KNOTLESS_STATE_DIR", "logins, else XDG_STATE_HOME/knotless"],
  ["KNOTLESS_PDS", "the PDS a login goes to when its handle does not say"],
  ["KNOTLESS_APPVIEW", "the appview's URL"],
  ["KNOTLESS_IGNORE_MINIMUM", "1: work on though the appview asks for a newer one"],
  ["KNOTLESS_MCP_…", "the flags of knotless-mcp, such as KNOTLESS_MCP_READ_ONLY"],
  ["KNOTLESS_PLC", "the PLC directory's URL, on a network of your own"],
  ["KNOTLESS_DNS", "host:port asked for handles, on a network of your own"],
  ["KNOTLESS_HANDLE_HTTP", "URL asked for handles, on a network of your own"],
  ["KNOTLESS_COLOR", "auto, always or never, like --color"],
  ["NO_COLOR", "set: no colour"],
  ["FORCE_COLOR", "set: colour in pipes too; CLICOLOR_FORCE does the same"],
  ["KNOTLESS_FORCE_TTY", "1 or a width: write as if to a terminal"],
  ["ACCESSIBLE", "1: no line that is drawn over"],
  ["GIT_DIR", "the git directory of the checkout"],
];

const formatting = [
  "On a terminal a list is a table, dates are relative, and a list that was cut is followed by how " +
  "to go on. This text may change.",
  "In a pipe a list is one line an entry, its fields parted by tabs, without a header, with all " +
  "entries unless --limit says how many. Tab, newline and backslash in a field are \\t, \\n and " +
  "\\\\. Files and diffs are their bytes. The order of fields does not change.",
  "A path that is not UTF-8, or holds a control or hidden character, a quote or a backslash, is in " +
  'git\'s quoted form everywhere: "a\\tb", "caf\\303\\251" with octal bytes. It stands as it is in ' +
  "a field, not escaped again.",
  "With --json there is one JSON document on stdout, the same that the tool answers; a list has all " +
  "entries unless --limit says how many. An error is " +
  'one too: {"error": {code, message, hint, exit, retryable, command, details}}. Keys may be ' +
  "added, and do not change.",
];

/** What `knotless help` explains beside commands, by the word for it: each gives its lines, laid out when they are asked for. */
export const topics: Readonly<Record<string, () => readonly string[]>> = {
  "exit-codes": () => table(exitCodes),
  environment: () => table(environment),
  flags: () =>
    table(globalFlags.map(({ long, short, value, says }) => {
      const name = long.length > 1 ? `${short ? `-${short}, ` : "    "}--${long}` : `-${long}`;
      return [value ? `${name} ${value}` : name, says];
    })),
  formatting: () =>
    formatting.flatMap((text, index) => [...(index ? [""] : []), ...wrap(text, "")]),
};
