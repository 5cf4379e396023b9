import { toJson, toPrettyJson, toText } from "../core/answer.ts";
import type { AnyCommand } from "../core/command.ts";
import type { Fact } from "../core/facts.ts";
import { safe, type Style } from "../core/text.ts";
import type { Arguments } from "./args.ts";
import type { Globals } from "./globals.ts";
import { spellCommand } from "./hint.ts";
import type { Terminal } from "./terminal.ts";

/** What was run, and what came of it. */
export interface Outcome {
  readonly fact: Fact;
  readonly command: AnyCommand;
  readonly args: Arguments;
  readonly result: unknown;
}

/** Prints a result: for a person on a terminal, as data in a pipe, or as the tool's JSON. */
export async function printResult(
  outcome: Outcome,
  terminal: Terminal,
  { isJson, globals, facts }: { isJson: boolean; globals: Globals; facts: readonly Fact[] },
): Promise<void> {
  const { fact, args, result } = outcome;
  const isQuiet = globals.quiet && fact.kind === "write" && !isJson;
  const text = isQuiet ? undefined : textOf(outcome, terminal.style, isJson);
  if (text !== undefined) await terminal.out(text);
  if (globals.quiet) return;
  if (terminal.isOut && !isJson && text === "") {
    const none = spellNone(result);
    if (none !== undefined) await terminal.err(none);
  }
  if (isCut(result)) {
    const cursor = valueAt(result, "cursor");
    const more = typeof cursor === "string" ? { ...args, cursor } : args;
    const line = spellCommand(fact.name, more, facts);
    await terminal.err(`there is more${terminal.isOut ? `: ${line}` : ""}`);
  }
  const back = terminal.isOut && !isJson ? outcome.command.back?.(result, args) : undefined;
  if (back) await terminal.err(`undo with: ${spellCommand(back.command, back.args ?? {}, facts)}`);
  if (fact.undo && args.undo !== true && terminal.isOut && !isJson) {
    await terminal.err(`undo with: ${spellCommand(fact.name, { ...args, undo: true }, facts)}`);
  }
}

function textOf(outcome: Outcome, style: Style, isJson: boolean): string | Uint8Array {
  const { command, result, fact } = outcome;
  if (isJson) return endLine(style.terminal ? toPrettyJson(result) : toJson(result));
  if (!style.terminal) {
    const data = command.raw?.(result) ?? command.content?.(result);
    if (data !== undefined) return data;
    const text: string | undefined = command.render?.(result, style);
    if (text === undefined) return endLine(toJson(result));
    // What has a content is a file or a diff, or lines of one: the reader asked for just that.
    return endLine(command.content ? text : safe(text));
  }
  if (command.render === undefined) {
    const content = command.content?.(result);
    return endLine(content === undefined ? toPrettyJson(result) : safe(toText(content)));
  }
  const text: string = command.render(safeResult(result), style);
  const uri = valueAt(result, "uri");
  const isUnsaid = fact.kind === "write" && typeof uri === "string" && !text.includes(uri);
  return endLine(isUnsaid ? `${text}\n${safe(uri)}` : text);
}

/** Other people's text in a result made fit for a terminal, so that what `render` adds is all that styles it. */
function safeResult(value: unknown): unknown {
  if (typeof value === "string") return safe(value);
  if (value instanceof Uint8Array) return new TextEncoder().encode(safe(toText(value)));
  if (Array.isArray(value)) return value.map(safeResult);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, safeResult(item)]));
}

/** What a person calls the items of a list whose name does not say. */
const NOUNS: Readonly<Record<string, string>> = { runs: "lines", other: "other refs" };

/** Says of a result that holds nothing but empty lists what there is none of; undefined for any other. */
function spellNone(result: unknown): string | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  const lists = Object.entries(result).filter(([, value]) => Array.isArray(value));
  if (lists.length === 0 || lists.some(([, list]) => list.length > 0)) return undefined;
  return `there are no ${lists.map(([name]) => NOUNS[name] ?? name).join(", ")}`;
}

function isCut(result: unknown): boolean {
  return valueAt(result, "more") === true;
}

function valueAt(result: unknown, key: string): unknown {
  if (typeof result !== "object" || result === null) return undefined;
  return Object.getOwnPropertyDescriptor(result, key)?.value;
}

function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
