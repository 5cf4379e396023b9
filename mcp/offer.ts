import { KnotlessError } from "../core/errors.ts";
import type { Fact } from "../core/facts.ts";
import { nearest } from "../core/text.ts";
import { isTool, type ToolFact } from "../core/tools.ts";
import { answer, answerOf, failure, spellMore } from "./answer.ts";
import { leaveOutBlanks, readArguments } from "./arguments.ts";
import { legible } from "./clean.ts";
import { complete } from "./completion.ts";
import { completeWithin } from "./complete_within.ts";
import type { Exchange } from "./connection.ts";
import { whyNot } from "./filter.ts";
import { spellError } from "./hint.ts";
import { CODE, type Json, ProtocolError } from "./message.ts";
import { findTemplates, readResource } from "./resources.ts";
import { run, type Runner } from "./run.ts";
import type { Offer, ServerOptions } from "./options.ts";
import { Works } from "./works.ts";
import type { ServerWatch } from "./versions.ts";

/** Makes what answers MCP of the command table. */
export function createOffer({ facts, filter, pace, versions, ...options }: ServerOptions): Offer {
  const runner: Runner = {
    open: options.open,
    async load(name) {
      await claimStdout();
      return await options.load(name);
    },
    filter,
    works: new Works(pace),
  };
  const find = once(async () => {
    const all = await facts();
    const tools = all.filter(isTool);
    const offered = tools.filter((fact) => whyNot(fact, filter) === undefined);
    const templates = findTemplates(offered);
    return { facts: all, tools, offered, templates, versions };
  });
  const completeHere = completeWithin(filter, options.complete);
  return {
    "tools/call": async (params, exchange) => callTool(params, exchange, await find(), runner),
    "resources/list": () => ({ resources: [] }),
    "resources/templates/list": async () => ({
      resourceTemplates: (await find()).templates.map(({ described }) => described),
    }),
    "resources/read": async (params, exchange) =>
      readResource(params, exchange, await find(), runner),
    async "completion/complete"(params) {
      await claimStdout();
      return complete(params, (await find()).templates, completeHere);
    },
  };
}

/** Before what may print is loaded; the lists load nothing of the kind. */
async function claimStdout(): Promise<void> {
  const { claimStdout } = await import("./stdout.ts");
  claimStdout();
}

/** Makes it once, when it is first asked for. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => made ??= make();
}

const UNFINISHED = { code: "unfinished", retryable: true };

interface Found {
  readonly facts: readonly Fact[];
  readonly tools: readonly ToolFact[];
  readonly offered: readonly ToolFact[];
  readonly versions: ServerWatch;
}

async function callTool(
  { name, arguments: args = {} }: Json,
  exchange: Exchange,
  { facts, tools, offered, versions }: Found,
  runner: Runner,
): Promise<Json> {
  if (typeof name !== "string") {
    throw new ProtocolError(CODE.invalidParams, "params.name is missing");
  }
  const fact = tools.find(({ tool }) => tool === name);
  if (fact === undefined) throw noSuchTool(name, offered);
  const { filter } = runner;
  const why = whyNot(fact, filter);
  if (why !== undefined) return failure(why);
  try {
    await versions.check();
    const read = readArguments(leaveOutBlanks(args, fact.params), fact.schema);
    const outcome = await run(fact, read, exchange, runner);
    if ("done" in outcome) {
      const { command, result, notes } = outcome.done;
      const { text, value, left } = answerOf(command, result, read, filter);
      const beside = [left, spellMore(fact, read, result, facts), await versions.notice()];
      return answer([text, ...notes, ...beside], filter.structured ? value : undefined);
    }
    const how = outcome.said === undefined ? "" : ` (${legible(outcome.said)})`;
    const said =
      `${name} is still at work${how} and goes on: call it again with the same arguments for its answer`;
    // An answer without structured content has to be an error there.
    return filter.structured ? failure(said, UNFINISHED) : answer([said]);
  } catch (error) {
    if (!(error instanceof KnotlessError)) throw error;
    return failure(spellError(error, facts), filter.structured ? error : undefined);
  }
}

function noSuchTool(name: string, offered: readonly ToolFact[]): ProtocolError {
  const near = nearest(name, offered.map(({ tool }) => tool));
  const said = `no such tool: ${legible(name.slice(0, 100))}`;
  return new ProtocolError(
    CODE.invalidParams,
    near === undefined ? said : `${said} (did you mean ${near}?)`,
  );
}
