import type { Hint } from "../core/errors.ts";
import type { Fact, ParamFact } from "../core/facts.ts";
import { flagName } from "./flags.ts";

/** What a hint of the command line may name besides commands. */
export interface Around {
  readonly account?: string | undefined;
  /** What keeps it from the network: a flag, unless a variable does. */
  readonly offlineBy?: string | undefined;
}

/** Spells a hint for the command line: a suggestion as the command to run. */
export function spellHint(
  hint: Hint,
  facts: readonly Fact[],
  { account = "HANDLE", offlineBy = "--offline" }: Around = {},
): string {
  if (typeof hint === "string") return hint;
  if ("signIn" in hint) return `run knotless login ${shellQuote(hint.account ?? account)}`;
  if ("goOnline" in hint) {
    return offlineBy.startsWith("-") ? `leave ${offlineBy} out` : `unset ${offlineBy}`;
  }
  return `run ${spellCommand(hint.command, hint.args ?? {}, facts)}`;
}

/** Spells a command and its arguments as a line for a shell. */
export function spellCommand(
  command: string,
  args: Readonly<Record<string, unknown>>,
  facts: readonly Fact[],
): string {
  const fact = facts.find(({ name }) => name === command);
  const words: string[] = [];
  const placed = new Set<string>();
  const isWord = (name: string) => {
    const value = args[name];
    return typeof value === "string" && value !== "" && !value.startsWith("-");
  };
  // With words missing behind it, a repository among them would be taken for the next of them in a checkout.
  const positionals = fact?.positionals ?? [];
  const takesAll = positionals.every(isWord);
  if (isWord("repo") && positionals[0] === "repo" && !takesAll) {
    words.push(`-R ${shellQuote(String(args.repo))}`);
    placed.add("repo");
  }
  for (const name of positionals.filter((name) => !placed.has(name))) {
    if (!isWord(name)) break;
    words.push(shellQuote(String(args[name])));
    placed.add(name);
  }
  for (const [name, value] of Object.entries(args)) {
    if (placed.has(name)) continue;
    words.push(...spellFlag(name, value, fact?.params.find((param) => param.name === name)));
  }
  return ["knotless", command, ...words].join(" ");
}

function spellFlag(name: string, value: unknown, param: ParamFact | undefined): string[] {
  const flag = `--${flagName(name)}`;
  if (value === undefined || value === null) return [];
  if (value === true) return [flag];
  if (value === false) return param?.default === true ? [`--no-${flagName(name)}`] : [];
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) {
    return value.map((item) => spellValue(flag, String(item)));
  }
  return [spellValue(flag, typeof value === "object" ? JSON.stringify(value) : String(value))];
}

function spellValue(flag: string, text: string): string {
  return text.startsWith("-") ? `${flag}=${shellQuote(text)}` : `${flag} ${shellQuote(text)}`;
}

/** Quotes a word for a POSIX shell, if it needs it. */
export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
