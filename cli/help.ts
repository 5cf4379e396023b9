import { type Fact, findFact, type ParamFact, paramOf } from "../core/facts.ts";
import { color, type Style } from "../core/text.ts";
import { type Flag, flagName, flagsOf } from "./flags.ts";
import { lines, table, wrap } from "./layout.ts";
import { noSuchCommand } from "./route.ts";
import { topics } from "./topics.ts";
import { usageLine } from "./usage.ts";

/** How help looks, and whether `-h` asked for little of it. */
export interface HelpOptions {
  readonly style: Style;
  readonly isShort: boolean;
}

/** The help for what was asked: nothing, a group, a command or a topic; throws a UsageError for anything else. */
export function helpFor(
  words: readonly string[],
  facts: readonly Fact[],
  options: HelpOptions,
): string {
  const [first] = words;
  if (first === undefined) return rootHelp(facts, options);
  const found = findFact(words, facts);
  if (found?.taken === words.length) return commandHelp(found.fact, options);
  const isGroup = words.length === 1 && facts.some(({ group }) => group === first);
  if (isGroup) return groupHelp(first, facts, options);
  const topic = words.length === 1 ? topics[first] : undefined;
  if (topic !== undefined) return lines(topic());
  throw noSuchCommand(words, facts);
}

interface Section {
  readonly title: string;
  /** The groups it takes; all when absent. */
  readonly groups?: readonly string[];
  readonly kinds?: readonly Fact["kind"][];
}

/** Help's chapters, by what a person wants to do; a command stands in the first that takes it. */
const sections: readonly Section[] = [
  { title: "Start here", groups: ["login", "logout", "status"] },
  { title: "Read code", groups: ["repo"], kinds: ["read"] },
  { title: "Change code", groups: ["repo", "branch", "tag"], kinds: ["read", "write"] },
  { title: "Talk", groups: ["pull", "issue", "comment", "label", "triager"] },
  { title: "Run", groups: ["run", "workflow", "runner", "agent", "secret", "queue", "release"] },
  { title: "People", groups: ["account", "org", "notification", "mod", "admin", "theme"] },
  { title: "This machine", kinds: ["machine"] },
];

/** The title of the chapter a command stands in. */
export function sectionOf(fact: Fact): string | undefined {
  return sections.find(({ groups, kinds }) =>
    (groups?.includes(fact.group) ?? true) && (kinds?.includes(fact.kind) ?? true)
  )?.title;
}

/** By itself it is the server; its commands are about that. */
const MCP = "Serve the commands to an assistant; config, tools";

function rootHelp(facts: readonly Fact[], { style }: HelpOptions): string {
  const text: string[] = [
    "Git repositories on the AT Protocol, without a forge server",
    "",
    `${heading("Usage", style)}  knotless <group> <action> [arguments] [flags]`,
    "",
  ];
  for (const { title } of sections) {
    const rows = rowsOf(facts.filter((fact) => sectionOf(fact) === title))
      .filter(([name]) => name !== "mcp");
    if (title === "This machine") rows.push(["mcp", MCP]);
    for (const [index, [name, says]] of rows.entries()) {
      const chapter = index === 0 ? title : "";
      const lead = heading(chapter, style) + " ".repeat(14 - chapter.length);
      text.push(`${lead}${name.padEnd(14)} ${says}`);
    }
  }
  text.push("", "knotless <group> lists a group's actions; --help explains a command, -h in short");
  text.push(`knotless help WORD, of ${Object.keys(topics).join(", ")}`);
  return lines(text);
}

/** A row a group: its actions as far as they fit, or the summary where the group is itself a command. */
function rowsOf(facts: readonly Fact[]): [string, string][] {
  const groups = [...new Set(facts.map(({ group }) => group))];
  return groups.map((group): [string, string] => {
    const own = facts.filter((fact) => fact.group === group);
    const only = own.length === 1 ? own[0] : own.find(({ name }) => name === group);
    if (only) return [only.name, fitWords(only.summary.split(" "), " ")];
    const actions = own.map(({ name }) => name.slice(group.length + 1)).filter((name) => name);
    return [group, fitWords(actions, ", ")];
  });
}

/** As many of the words as one line of the program's help has room for. */
function fitWords(words: readonly string[], between: string): string {
  const room = 80 - 14 - 15;
  if (words.join(between).length <= room) return words.join(between);
  const kept = [...words];
  while (kept.length > 1 && [...kept, "…"].join(between).length > room) kept.pop();
  return [...kept, "…"].join(between);
}

function groupHelp(group: string, facts: readonly Fact[], { style }: HelpOptions): string {
  const rows = facts.filter((fact) => fact.group === group)
    .map(({ name, summary }): [string, string] => [name, summary]);
  return lines([
    heading("Usage", style),
    `  knotless ${group} <action> [arguments] [flags]`,
    "",
    heading("Actions", style),
    ...table(rows),
    "",
    `knotless ${group} <action> --help explains one, with examples`,
  ]);
}

function commandHelp(fact: Fact, { style, isShort }: HelpOptions): string {
  const text = [
    ...wrap(fact.summary, ""),
    "",
    heading("Usage", style),
    ...wrap(usageLine(fact), "  "),
  ];
  if (!isShort && fact.examples.length) {
    text.push("", heading("Examples", style));
    for (const { line, says } of fact.examples) {
      text.push(...wrap(says, "  # "), `  knotless ${line}`);
    }
  }
  if (!isShort && fact.details) text.push("", ...wrap(fact.details, ""));
  const positionals = fact.positionals.flatMap((name) => paramOf(fact, name) ?? []);
  if (positionals.length) {
    const rows = positionals.map((param): [string, string] => [
      param.name.toUpperCase(),
      param.name === "repo" ? `${said(param)}; else -R, KNOTLESS_REPO, the checkout` : said(param),
    ]);
    text.push("", heading("Arguments", style), ...table(rows));
  }
  const flags = flagsOf(fact).filter(({ long, param }) =>
    param && !fact.positionals.includes(param.name) && long === flagName(param.name)
  );
  if (flags.length) text.push("", heading("Flags", style), ...table(flags.map(flagRow)));
  text.push("");
  if (isShort) text.push(...wrap(`knotless ${fact.name} --help says more, with examples`, ""));
  else {text.push(
      "Flags of every command: knotless help flags",
      "Exit codes: knotless help exit-codes",
    );}
  return lines(text);
}

function flagRow(flag: Flag): [string, string] {
  const { long, short, value, many, param, says } = flag;
  const no = param?.default === true ? "[no-]" : "";
  const name = `${short ? `-${short}, ` : "    "}--${no}${long}${value ? ` ${value}` : ""}`;
  return [name, (param ? said(param) : says) + (many ? "; may be repeated" : "")];
}

/** A parameter's description, with what it takes and what it is when not given. */
function said(param: ParamFact): string {
  const notes: string[] = [];
  if (param.enum) notes.push(param.enum.join(", "));
  const usual = param.default;
  const isTold = usual !== undefined && usual !== false && usual !== "" && !Array.isArray(usual);
  if (isTold) notes.push(`usually ${usual === true ? "on" : String(usual)}`);
  if (param.items === "object" || param.type === "object") notes.push("JSON, @file or -");
  return param.description + (notes.length ? ` (${notes.join("; ")})` : "");
}

function heading(title: string, style: Style): string {
  return color(title, "bold", style);
}
