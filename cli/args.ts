import { quote, UsageError } from "../core/errors.ts";
import { type Fact, type ParamFact, paramOf } from "../core/facts.ts";
import { nearest } from "../core/text.ts";
import { flagName, flagsOf, type Line } from "./flags.ts";
import { readJson } from "./json.ts";
import { usageOf } from "./usage.ts";

/** Where arguments may come from beside the command line. */
export interface Sources {
  /** The repository `-R` names. */
  readonly repo?: string | undefined;
  /** The repository of KNOTLESS_REPO or of the checkout, when there is one. */
  findRepo(): string | undefined;
  readFile(path: string): Promise<string>;
  readStdin(): Promise<string>;
  /** Asks for a parameter that must be typed again; undefined when nobody can be asked. */
  confirm(param: ParamFact, fact: Fact, args: Arguments): Promise<string | undefined>;
}

/** The arguments an MCP client would send. */
export type Arguments = Record<string, unknown>;

/** Turns a command line into the arguments an MCP client would send. */
export async function readArgs(fact: Fact, line: Line, sources: Sources): Promise<Arguments> {
  const stdin = readOnce(sources.readStdin);
  const args = await readInput(line.given.get("input"), fact, sources, stdin);
  for (const { long, param } of flagsOf(fact)) {
    const given = line.given.get(long);
    if (param === undefined || given === undefined) continue;
    if (long === `no-${flagName(param.name)}`) args[param.name] = given === false;
    else args[param.name] = await readValue(param, given, `--${long}`, sources, stdin);
  }
  placeWords(fact, line.words, args, sources);
  await fillMissing(fact, args, sources);
  return args;
}

function readOnce(read: () => Promise<string>): () => Promise<string> {
  let isRead = false;
  return () => {
    if (isRead) throw new UsageError("stdin can be read only once: give - to one flag");
    isRead = true;
    return read();
  };
}

async function readInput(
  given: unknown,
  fact: Fact,
  sources: Sources,
  stdin: () => Promise<string>,
): Promise<Arguments> {
  if (typeof given !== "string") return {};
  const text = given === "-" ? await stdin() : await sources.readFile(given);
  const value = readJson(text, `--input ${quote(given)}`);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`--input ${quote(given)} is not a JSON object of parameters`);
  }
  // Before what is missing is told: it is most likely what a key was meant to give.
  const known = fact.params.map(({ name }) => name);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    const near = nearest(unknown, known);
    throw new UsageError(`no such parameter: ${quote(unknown)}`, {
      hint: near ? `did you mean ${near}?` : `it takes ${known.join(", ") || "none"}`,
    });
  }
  return { ...value };
}

async function readValue(
  param: ParamFact,
  given: string | boolean | readonly string[],
  where: string,
  sources: Sources,
  stdin: () => Promise<string>,
): Promise<unknown> {
  if (typeof given === "boolean") return given;
  const texts = typeof given === "string" ? [given] : given;
  if (param.type === "object" || param.items === "object" || param.items === "array") {
    const values: unknown[] = [];
    for (const text of texts) values.push(await readStructure(text, where, sources, stdin));
    return param.type === "object" ? values.at(-1) : values.flat();
  }
  if (param.type !== "array") return readScalar(param, param.type, texts.at(-1) ?? "", where);
  return texts.flatMap((text) => text === "" ? [] : text.split(","))
    .map((text) => readScalar(param, param.items, text, where));
}

async function readStructure(
  text: string,
  where: string,
  sources: Sources,
  stdin: () => Promise<string>,
): Promise<unknown> {
  if (text === "-") return readJson(await stdin(), `${where} -`);
  if (!text.startsWith("@")) return readJson(text, where);
  const path = text.slice(1);
  return readJson(await sources.readFile(path), `${where} ${quote(text)}`);
}

function readScalar(
  param: ParamFact,
  type: ParamFact["items"],
  text: string,
  where: string,
): unknown {
  if (type === "integer" || type === "number") {
    const pattern = type === "integer" ? /^-?\d+$/ : /^-?\d+(\.\d+)?$/;
    if (pattern.test(text)) return Number(text);
    throw new UsageError(
      `${where}: ${quote(text)} is not a${type === "integer" ? "n" : ""} ${type}`,
    );
  }
  if (param.enum && !param.enum.includes(text)) {
    const near = nearest(text, param.enum);
    throw new UsageError(`${where}: ${quote(text)} is not one of ${param.enum.join(", ")}`, {
      ...(near && { hint: `did you mean ${near}?` }),
    });
  }
  return text;
}

/**
 * Gives the words to the positionals, told apart by their number alone: a repository in the first place may be left out
 * when `-R`, the environment or the checkout names one, and is then never looked for among the words.
 */
function placeWords(
  fact: Fact,
  words: readonly string[],
  args: Arguments,
  sources: Sources,
): void {
  if (sources.repo !== undefined) {
    if (!paramOf(fact, "repo")) throw new UsageError(`${fact.name} takes no --repo`);
    args.repo = sources.repo;
  }
  const open = fact.positionals.filter((name) => !(name in args));
  const given = fact.positionals.filter((name) => name in args);
  if (open[0] === "repo" && words.length < open.length) {
    const repo = sources.findRepo();
    if (repo !== undefined) {
      args.repo = repo;
      open.shift();
    } else if (
      words.length < open.filter((name) => paramOf(fact, name)?.required).length &&
      !isRepoName(words[0])
    ) {
      throw missing(fact, "repo");
    }
  }
  for (const [index, name] of open.entries()) {
    const param = paramOf(fact, name);
    const word = words[index];
    if (param === undefined || word === undefined) break;
    if (param.type === "array") {
      args[name] = words.slice(index).map((text) => readScalar(param, param.items, text, name));
      return;
    }
    args[name] = readScalar(param, param.type, word, name);
  }
  const extra = words[open.length];
  if (extra !== undefined) {
    const [twice] = given;
    const why = twice === undefined ? "" : ` (${twice} is given by a flag or --input already)`;
    throw new UsageError(`one argument too many: ${quote(extra)}${why}`, { hint: usageOf(fact) });
  }
}

/** A word that is one by its form is the repository, and what is missing stands behind it. */
function isRepoName(word = ""): boolean {
  return /^(@?[\w-]+(\.[\w-]+)+|did:[a-z]+:[^/\s]+)\/[^/\s]+$|^(at|knotless):\/\//.test(word);
}

async function fillMissing(fact: Fact, args: Arguments, sources: Sources): Promise<void> {
  for (const param of fact.params) {
    if (!param.required || param.name in args) continue;
    const value = param.name === "repo"
      ? sources.findRepo()
      : param.name === "confirm"
      ? await sources.confirm(param, fact, args)
      : undefined;
    if (value === undefined) throw missing(fact, param.name);
    args[param.name] = value;
  }
}

function missing(fact: Fact, name: string): UsageError {
  const param = paramOf(fact, name);
  const place = fact.positionals.includes(name) ? name.toUpperCase() : `--${flagName(name)}`;
  return new UsageError(`${place} is missing: ${param?.description ?? name}`, {
    hint: name === "repo"
      ? "name it with -R, in KNOTLESS_REPO, or be in a checkout of it"
      : usageOf(fact),
  });
}
