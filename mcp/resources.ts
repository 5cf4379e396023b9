import { Buffer } from "node:buffer";
import { KnotlessError, NotFoundError, quote } from "../core/errors.ts";
import type { Fact } from "../core/facts.ts";
import { answerOf } from "./answer.ts";
import { legible } from "./clean.ts";
import type { Exchange } from "./connection.ts";
import type { Era } from "./era.ts";
import type { Filter } from "./filter.ts";
import { spellError } from "./hint.ts";
import { CODE, type Json, ProtocolError } from "./message.ts";
import { type Outcome, run, type Runner } from "./run.ts";
import { type Part, type Parts, readTemplate, type Template } from "./template.ts";
import type { ServerWatch } from "./versions.ts";

/** A command read by URI. */
interface Row {
  readonly template: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** What its content is; anything else is JSON or bytes. */
  readonly mimeType: string;
  readonly command: string;
  /** The arguments that a URI's parts make, in the order to try: the next only where the one before leads nowhere. */
  args(parts: Parts): readonly Json[];
}

const ROWS: readonly Row[] = [
  {
    template: "knotless://{owner}/{repo}/file/{rev}/{+path}",
    name: "file",
    title: "File",
    description: "A file of a repository, as of a branch, tag or commit",
    mimeType: "text/plain",
    command: "repo read",
    args: ({ owner, repo, rev, path }) => {
      const at = (path: string) => ({ repo: `${owner?.text}/${repo?.text}`, rev: rev?.text, path });
      // A file may be named with a percent sign, and a client may have escaped nothing.
      return spellings(path).map(at);
    },
  },
];

/** A resource template that is offered. */
export interface ResourceTemplate {
  readonly template: Template;
  readonly fact: Fact;
  readonly row: Row;
  /** As resources/templates/list says it. */
  readonly described: Json;
}

/** The templates whose commands exist. */
export function findTemplates(facts: readonly Fact[]): readonly ResourceTemplate[] {
  return ROWS.flatMap((row) => {
    const fact = facts.find(({ name }) => name === row.command);
    if (fact === undefined) return [];
    const { template: uriTemplate, name, title, description, mimeType } = row;
    const described = { uriTemplate, name, title, description, mimeType };
    return [{ template: readTemplate(uriTemplate), fact, row, described }];
  });
}

/** Answers resources/read by the command that the URI's template stands for. */
export async function readResource(
  { uri }: Json,
  exchange: Exchange,
  { facts, templates, versions }: {
    readonly facts: readonly Fact[];
    readonly templates: readonly ResourceTemplate[];
    readonly versions: ServerWatch;
  },
  runner: Runner,
): Promise<Json> {
  if (typeof uri !== "string") throw new ProtocolError(CODE.invalidParams, "params.uri is missing");
  for (const { template, fact, row } of templates) {
    const parts = template.match(uri);
    if (parts === undefined || !areSafe(parts)) continue;
    try {
      await versions.check();
      const tries = row.args(parts);
      const outcome = await runFirst(tries, (args) => run(fact, args, exchange, runner));
      if ("done" in outcome) {
        return { contents: [contentOf(uri, row, outcome.done, tries[0], runner.filter)] };
      }
      const how = outcome.said === undefined ? "" : ` (${legible(outcome.said)})`;
      throw failed(uri, `the read is still at work${how} and goes on: read it again`);
    } catch (error) {
      if (error instanceof KnotlessError) throw failed(uri, legible(spellError(error, facts)));
      throw error;
    }
  }
  throw noSuchResource(uri, exchange.era, templates);
}

/** A name stands between slashes, so it has none; a path has no part that leads elsewhere. */
function areSafe(parts: Parts): boolean {
  return Object.entries(parts).every(([name, { text }]) =>
    name === "path"
      ? text.split("/").every((part) => !["", ".", ".."].includes(part))
      : name === "rev" || !text.includes("/")
  );
}

function spellings(part: Part | undefined): string[] {
  return part === undefined ? [] : [...new Set([part.text, part.written])];
}

/** Tries each until one leads somewhere, and fails as the first did. */
async function runFirst<T>(tries: readonly Json[], attempt: (args: Json) => Promise<T>) {
  let first: unknown;
  for (const args of tries) {
    try {
      return await attempt(args);
    } catch (error) {
      first ??= error;
      if (!(error instanceof NotFoundError)) break;
    }
  }
  throw first;
}

function contentOf(
  uri: string,
  { mimeType }: Row,
  { command, result }: Outcome,
  args: Json | undefined,
  filter: Filter,
): Json {
  const { text, isJson } = answerOf(command, result, args, { ...filter, structured: false });
  const bytes: Uint8Array | undefined = command.raw?.(result);
  if (bytes !== undefined) {
    return {
      uri,
      mimeType: "application/octet-stream",
      blob: Buffer.from(bytes).toString("base64"),
    };
  }
  return { uri, mimeType: isJson ? "application/json" : mimeType, text };
}

function failed(uri: string, why: string): ProtocolError {
  return new ProtocolError(CODE.internalError, why, { uri });
}

function noSuchResource(
  uri: string,
  era: Era,
  templates: readonly ResourceTemplate[],
): ProtocolError {
  const texts = templates.map(({ template }) => template.text);
  return new ProtocolError(
    era === "legacy" ? CODE.resourceNotFound : CODE.invalidParams,
    `no resource is at ${quote(uri)}: a URI is made by ${texts.join(" or ")}`,
    { uri, templates: texts },
  );
}
