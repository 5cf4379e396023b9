import type { AnyCommand } from "../core/command.ts";
import { facts } from "../core/facts.gen.ts";
import { type Fact, paramOf } from "../core/facts.ts";
import type { Open, Surface } from "../core/open.ts";
import { version } from "../core/version.ts";
import { type Arguments, readArgs } from "./args.ts";
import { isOn } from "./env.ts";
import { flagsOf, globalFlags, readLine } from "./flags.ts";
import { type Globals, readColorWish, readGlobals, wantsJson } from "./globals.ts";
import { printResult } from "./print.ts";
import { reportError, type ReportOptions } from "./report.ts";
import { type Route, route } from "./route.ts";
import { sourcesOf } from "./sources.ts";
import { surfaceOf } from "./surface.ts";
import type { Terminal } from "./terminal.ts";
import { openWatch } from "./versions.ts";

/** The commands there are, and how their code is had. */
export interface Table {
  readonly facts: readonly Fact[];
  load(name: string): Promise<AnyCommand>;
}

const builtIn: Table = {
  facts,
  load: async (name) => await (await import("../core/table.ts")).loadCommand(name),
};

/** Runs one command line and gives its exit status. */
export async function main(
  given: readonly string[],
  terminal: Terminal,
  open: (globals: Globals, surface: Surface) => Open,
  table: Table = builtIn,
): Promise<number> {
  // No flag stands before it, so it parts nothing.
  const argv = given[0] === "--" ? given.slice(1) : given;
  const report: Writable<ReportOptions> = {
    facts: table.facts,
    command: argv.filter((word) => !word.startsWith("-")).slice(0, 2).join(" "),
    isJson: wantsJson(argv, terminal.env),
    debug: isOn(terminal.env.KNOTLESS_DEBUG) || argv.includes("--debug"),
  };
  try {
    const found = route(argv, table.facts);
    const work = found.to === "help" || asksHelp(found.rest)
      ? explain(found, terminal, table)
      : run(found, terminal, open, table, report);
    return await unlessAborted(work, terminal.signal);
  } catch (error) {
    return await reportError(error, terminal, report);
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function asksHelp(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return (end < 0 ? words : words.slice(0, end)).some((word) => word === "-h" || word === "--help");
}

async function explain(found: Route, terminal: Terminal, { facts }: Table): Promise<number> {
  const words = found.to === "help" ? found.words : found.fact.name.split(" ");
  const rest = found.rest.filter((word) => word !== "-h" && word !== "--help");
  if (found.to === "help") {
    const line = readLine(rest, globalFlags);
    terminal.useColor(readColorWish(line, terminal.env));
    if (line.given.has("version")) return await sayVersion(terminal);
  }
  const { helpFor } = await import("./help.ts");
  const isShort = found.rest.includes("-h") && !found.rest.includes("--help");
  await terminal.out(helpFor(words, facts, { style: terminal.style, isShort }));
  return 0;
}

async function sayVersion(terminal: Terminal): Promise<number> {
  await terminal.out(`knotless ${version}\n`);
  return 0;
}

async function run(
  { fact, rest }: Extract<Route, { to: "command" }>,
  terminal: Terminal,
  open: (globals: Globals, surface: Surface) => Open,
  { facts, load }: Table,
  report: Writable<ReportOptions>,
): Promise<number> {
  report.command = fact.name;
  const line = readLine(rest, [...globalFlags, ...flagsOf(fact)]);
  if (line.given.has("version")) return await sayVersion(terminal);
  terminal.useColor(readColorWish(line, terminal.env));
  const globals = readGlobals(line, terminal.env);
  report.account = globals.as;
  report.offlineBy = globals.offlineBy;
  const surface = surfaceOf(terminal, globals);
  const { isJson } = report;
  // What acts on this machine, an upgrade among it, works at any age.
  const watch = fact.kind === "machine" ? undefined : await openWatch(terminal, globals, isJson);
  watch?.check();
  const args = await readArgs(
    fact,
    line,
    sourcesOf(terminal, globals, surface, (text) => report.aside = text),
  );
  const loaded = Promise.all([load(fact.name), import("../core/command.ts")]);
  const [command, { call }] = await loaded;
  const result = await call(
    command,
    { ...(isJson ? {} : command.whole), ...args, ...allOf(fact, args, terminal, isJson) },
    (kind) => open(globals, surface)(kind),
  );
  await printResult({ fact, command, args, result }, terminal, { isJson, globals, facts });
  await watch?.end();
  return command.exit?.(result) ?? 0;
}

/** A program that reads a list gets all of it, unless it said how much. */
function allOf(fact: Fact, args: Arguments, terminal: Terminal, isJson: boolean): Arguments {
  const most = paramOf(fact, "limit")?.maximum;
  const isForProgram = isJson || !terminal.isOut;
  return most === undefined || "limit" in args || !isForProgram ? {} : { limit: most };
}

/** Gives up waiting for `work` when the signal comes. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
