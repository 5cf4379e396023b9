import { quote, UsageError } from "../core/errors.ts";
import { type Fact, findFact } from "../core/facts.ts";
import { nearest } from "../core/text.ts";
import { globalFlags, suggestFlag } from "./flags.ts";

/** What a command line is about. */
export type Route =
  | { readonly to: "command"; readonly fact: Fact; readonly rest: readonly string[] }
  /** Words to explain: none for the root, a group, a command or a topic. */
  | { readonly to: "help"; readonly words: readonly string[]; readonly rest: readonly string[] };

/** Finds the command a line names, wherever the flags of all commands stand between its words. */
export function route(argv: readonly string[], facts: readonly Fact[]): Route {
  const places = leadingWords(argv);
  const words = places.map((place) => argv[place] ?? "");
  const without = (count: number) => argv.filter((_, at) => !places.slice(0, count).includes(at));
  if (words[0] === "help") {
    return { to: "help", words: words.slice(1), rest: without(places.length) };
  }
  const found = findFact(words, facts);
  if (found) return { to: "command", fact: found.fact, rest: without(found.taken) };
  const [group] = words;
  if (group === undefined) {
    const flag = argv[0] === undefined ? undefined : argv.find((word) => !isGlobal(word));
    if (flag?.startsWith("-") && flag !== "--") {
      throw new UsageError(`no such flag: ${quote(flag)}`, {
        hint: "the flags of a command come after its name",
        ...suggestFlag(flag.replace(/^--/, ""), globalFlags),
      });
    }
    return { to: "help", words: [], rest: argv };
  }
  if (words.length === 1 && facts.some((fact) => fact.group === group)) {
    return { to: "help", words, rest: without(1) };
  }
  throw noSuchCommand(words, facts);
}

/** Where the words stand that come before any flag but those of all commands. */
function leadingWords(argv: readonly string[]): number[] {
  const places: number[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? "";
    if (!word.startsWith("-") || word === "-") places.push(at);
    else if (word === "--" || !isGlobal(word)) break;
    else if (takesNext(word)) at++;
  }
  return places;
}

function isGlobal(word: string): boolean {
  if (word.startsWith("--")) {
    const long = word.slice(2).split("=")[0] ?? "";
    return long.length > 1 && globalFlags.some((flag) => flag.long === long);
  }
  const first = globalFlags.find(({ short }) => short === word[1]);
  return first !== undefined &&
    (!!first.value || word.length === 2 || isGlobal(`-${word.slice(2)}`));
}

function takesNext(word: string): boolean {
  if (word.startsWith("--")) {
    return globalFlags.some(({ long, value }) => value && word === `--${long}`);
  }
  return globalFlags.some(({ short, value }) => value && short && word.endsWith(short)) &&
    !globalFlags.some(({ short, value }) => value && word.slice(1, -1).includes(short ?? "-"));
}

const groupSynonyms: Readonly<Record<string, string>> = {
  auth: "login",
  "log-in": "login",
  bug: "issue",
  issues: "issue",
  mr: "pull",
  patch: "pull",
  pr: "pull",
  project: "repo",
  repos: "repo",
  repository: "repo",
  signin: "login",
  signout: "logout",
  user: "account",
};

const actionSynonyms: Readonly<Record<string, readonly string[]>> = {
  add: ["create", "define"],
  cat: ["read", "show"],
  destroy: ["delete", "remove"],
  get: ["show", "read", "list"],
  history: ["log"],
  info: ["show", "refs"],
  ls: ["list", "tree"],
  mv: ["rename"],
  new: ["create", "add"],
  open: ["create"],
  remove: ["delete"],
  rm: ["delete", "remove"],
  show: ["read", "list"],
  update: ["edit"],
  view: ["show", "read", "list"],
};

/** What people used to other programs type, and what does that here. */
const lineSynonyms: Readonly<Record<string, string>> = {
  "auth login": "login",
  "auth logout": "logout",
  "auth status": "login status",
  "branch list": "repo refs",
  "branch ls": "repo refs",
  "repo view": "repo refs",
  "tag list": "repo refs",
  "tag ls": "repo refs",
};

/** What git does, on URLs of ours as on others. */
const gitWords: ReadonlySet<string> = new Set([
  "add",
  "checkout",
  "clone",
  "fetch",
  "init",
  "merge",
  "pull",
  "push",
  "rebase",
  "remote",
  "switch",
]);

/** What other forges have and this version has not. */
const unmade: Readonly<Record<string, string>> = { pull: "pull requests", issue: "issues" };

/** What to do about a word that another program takes; undefined for any other. */
function adviseOther([word = "", second = ""]: readonly string[]): string | undefined {
  const none = unmade[groupSynonyms[word] ?? word];
  if (none !== undefined && word !== "pull") {
    return `this version has no ${none}: knotless help lists what it has`;
  }
  if (!gitWords.has(word)) return undefined;
  if (word === "init") return "run git init, then knotless repo create";
  if (word !== "clone") return `run git ${word}`;
  const [, repo = "HANDLE/NAME"] = /^(?:knotless:\/\/)?(@?[\w.:-]+\/[\w.-]+)$/.exec(second) ?? [];
  return `run git clone knotless://${repo.replace(/^@/, "")}`;
}

/** The error for words that name no command: with the one meant, or else what there is. */
export function noSuchCommand(words: readonly string[], facts: readonly Fact[]): UsageError {
  const [group = "", action] = words;
  const groups = new Set(facts.map((fact) => fact.group));
  const message = `no such command: ${quote(words.slice(0, 2).join(" "))}`;
  if (words.length === 1 && group === "version") {
    return new UsageError(message, { hint: "did you mean knotless --version?" });
  }
  const line = lineSynonyms[words.slice(0, 2).join(" ")];
  if (line !== undefined && facts.some(({ name }) => name === line)) {
    return new UsageError(message, { hint: `did you mean knotless ${line}?` });
  }
  const synonym = groupSynonyms[group] ?? group;
  const advice = groups.has(synonym) ? undefined : adviseOther(words);
  if (advice !== undefined) return new UsageError(message, { hint: advice });
  const meant = groups.has(group)
    ? group
    : [groupSynonyms[group]].find((name) => name && groups.has(name)) ?? nearest(group, groups);
  if (meant === undefined) {
    const elsewhere = facts.find((fact) => fact.name.endsWith(` ${group}`));
    return new UsageError(message, {
      hint: elsewhere ? `did you mean knotless ${elsewhere.name}?` : "knotless help lists them",
    });
  }
  const actions = facts.filter((fact) => fact.group === meant)
    .map((fact) => fact.name.slice(meant.length + 1)).filter((name) => name !== "");
  const near = action === undefined ? undefined : nearAction(action, actions);
  if (near !== undefined) {
    return new UsageError(message, { hint: `did you mean knotless ${meant} ${near}?` });
  }
  if (actions.length === 0 || (meant !== group && action === undefined)) {
    return new UsageError(message, { hint: `did you mean knotless ${meant}?` });
  }
  return new UsageError(message, { hint: `${meant} takes ${actions.join(", ")}` });
}

function nearAction(action: string, actions: readonly string[]): string | undefined {
  if (actions.includes(action)) return action;
  return actionSynonyms[action]?.find((name) => actions.includes(name)) ?? nearest(action, actions);
}
