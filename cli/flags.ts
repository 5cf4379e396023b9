import { parseArgs } from "@std/cli/parse-args";
import { quote, UsageError } from "../core/errors.ts";
import type { Fact, ParamFact } from "../core/facts.ts";
import { nearest } from "../core/text.ts";

/** One flag of a command line. */
export interface Flag {
  /** As typed, without its dashes. */
  readonly long: string;
  readonly short?: string;
  /** The word help shows for the value; a flag without one takes none. */
  readonly value?: string;
  /** Every occurrence counts; else the last. */
  readonly many?: boolean;
  /** The parameter it gives; a flag of all commands has none. */
  readonly param?: ParamFact;
  readonly says: string;
}

/** The flags every command has; no parameter may have one of their names, but `repo`, which is the same thing. */
export const globalFlags: readonly Flag[] = [
  { long: "repo", short: "R", value: "REPO", says: "the repository, as handle/name" },
  { long: "C", short: "C", value: "DIR", says: "run as if started there" },
  { long: "as", value: "WHO", says: "the account to act as" },
  { long: "json", says: "one JSON document on stdout" },
  { long: "offline", says: "ask only the copies on this machine" },
  { long: "refresh", says: "look at the network first" },
  { long: "max-age", value: "TIME", says: "take copies this old: 30s, 5m, 1h" },
  { long: "input", value: "FILE", says: "parameters as a JSON object; - is stdin" },
  { long: "no-input", says: "never ask anything" },
  { long: "quiet", short: "q", says: "say nothing but errors and data" },
  { long: "verbose", short: "v", says: "say more on stderr" },
  { long: "debug", says: "say what goes wrong inside" },
  { long: "color", value: "WHEN", says: "auto, always or never" },
  { long: "help", short: "h", says: "explain; -h for short" },
  { long: "version", short: "V", says: "say the version" },
];

/** The flag that gives a parameter: `keep_branch` is `keep-branch`. */
export function flagName(param: string): string {
  return param.replaceAll("_", "-");
}

/** The flags a command has of its own. */
export function flagsOf(fact: Fact): readonly Flag[] {
  return fact.params.filter(({ name }) => name !== "repo").flatMap((param): Flag[] => {
    const { name, type, description, short } = param;
    const flag = { long: flagName(name), ...(short && { short }), param, says: description };
    if (type !== "boolean") return [{ ...flag, value: valueWord(param), many: type === "array" }];
    if (param.default !== true) return [flag];
    return [flag, { ...flag, long: `no-${flag.long}` }];
  });
}

function valueWord({ name, type, items }: ParamFact): string {
  const kind = type === "array" ? items : type;
  if (kind === "integer" || kind === "number") return "N";
  return kind === "object" ? "JSON" : name.split("_").at(-1)?.toUpperCase() ?? "TEXT";
}

/** A command line taken apart: the values of the flags that were given, and the words that belong to none. */
export interface Line {
  readonly given: ReadonlyMap<string, string | boolean | readonly string[]>;
  readonly words: readonly string[];
}

/** Reads flags and words; throws a UsageError for a flag there is not, or one that lacks its value. */
export function readLine(argv: readonly string[], flags: readonly Flag[]): Line {
  const { args, given } = spellOut(argv, flags);
  const values = parseArgs(args, {
    boolean: flags.filter(({ value }) => !value).map(({ long }) => long),
    string: ["_", ...flags.filter(({ value }) => value).map(({ long }) => long)],
    collect: flags.filter(({ many }) => many).map(({ long }) => long),
  });
  return {
    given: new Map([...given].map((long) => [long, values[long] as string | boolean | string[]])),
    words: values._.map(String),
  };
}

/** Spells each flag in full with its value behind `=`, so that a value may begin with a dash. */
function spellOut(
  argv: readonly string[],
  flags: readonly Flag[],
): { args: string[]; given: Set<string> } {
  const args: string[] = [];
  const given = new Set<string>();
  const take = (flag: Flag, text: string | undefined) => {
    if (flag.value && text === undefined) throw new UsageError(lacksValue(flag));
    if (!flag.value && text !== undefined && text !== "true" && text !== "false") {
      throw new UsageError(`--${flag.long}: ${quote(text) || "nothing"} is not true or false`, {
        hint: `give --${flag.long} alone to say yes`,
      });
    }
    given.add(flag.long);
    args.push(text === undefined ? `--${flag.long}` : `--${flag.long}=${text}`);
  };
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? "";
    if (word === "--") return { args: [...args, "--", ...argv.slice(at + 1)], given };
    if (!word.startsWith("-") || word === "-") {
      args.push(word);
      continue;
    }
    for (const { flag, text } of flagsIn(word, flags)) {
      if (!flag.value || text !== undefined) take(flag, text);
      else take(flag, isFlag(argv[at + 1], flags) ? undefined : argv[++at]);
    }
  }
  return { args, given };
}

interface Found {
  readonly flag: Flag;
  readonly text: string | undefined;
}

/** The flags one word holds: `--limit=5`, `-qv`, `-L5`. */
function flagsIn(word: string, flags: readonly Flag[]): Found[] {
  if (word.startsWith("--")) {
    const [long = "", ...text] = word.slice(2).split("=");
    const flag = flags.find((flag) => flag.long === long && long.length > 1);
    if (!flag) throw new UsageError(`no such flag: --${quote(long)}`, suggestFlag(long, flags));
    return [{ flag, text: text.length ? text.join("=") : undefined }];
  }
  const found: Found[] = [];
  for (let at = 1; at < word.length; at++) {
    const flag = flags.find(({ short }) => short === word[at]);
    if (!flag) throw new UsageError(`no such flag: -${quote(word.slice(at, at + 1))}`);
    const text = word.slice(at + 1).replace(/^=/, "");
    if (flag.value) return [...found, { flag, text: at + 1 < word.length ? text : undefined }];
    found.push({ flag, text: undefined });
  }
  return found;
}

function isFlag(word: string | undefined, flags: readonly Flag[]): boolean {
  return word !== undefined &&
    flags.some(({ long, short }) => word === `--${long}` || (short && word === `-${short}`));
}

function lacksValue({ long, short, value }: Flag): string {
  const name = long.length > 1 ? `--${long}` : `-${short}`;
  return `${name} needs a value: ${name} ${value}`;
}

/** A hint that names the flag a mistyped one most likely meant. */
export function suggestFlag(long: string, flags: readonly Flag[]): { hint?: string } {
  const near = nearest(long, flags.map((flag) => flag.long).filter((name) => name.length > 1));
  return near ? { hint: `did you mean --${near}?` } : {};
}
