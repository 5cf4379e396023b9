import type { Fact, Schema } from "./facts.ts";
import type { AnswerSchema } from "./form.ts";

/** A command that assistants can call. */
export type ToolFact = Fact & { readonly tool: string };

/** Tells whether a command is a tool at all. */
export function isTool(fact: Fact): fact is ToolFact {
  return fact.tool !== undefined;
}

/** A tool as tools/list says it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly outputSchema?: AnswerSchema;
  readonly annotations: Readonly<Record<string, boolean>>;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** As many characters of a file or a diff a client may show its model at once, where it asks how many. */
const MOST_CHARACTERS = 100_000;

/** A command as tools/list says it; with `answer` also what it answers. */
export function describeTool(fact: ToolFact, answer?: AnswerSchema): Tool {
  const { tool, name, summary, details, schema, content } = fact;
  return {
    name: tool,
    title: titleOf(name),
    description: details === undefined ? summary : `${summary}. ${details}`,
    inputSchema: lean(schema),
    ...(answer && { outputSchema: answer }),
    annotations: annotationsOf(fact),
    ...(content && { _meta: { "anthropic/maxResultSizeChars": MOST_CHARACTERS } }),
  };
}

/** The bytes of a tool that a model is given with every request: name, description and input. */
export function weighTool({ name, description, inputSchema }: Tool): number {
  return new TextEncoder().encode(JSON.stringify({ name, description, inputSchema })).length;
}

/** About how many tokens so many bytes are. */
export function tokensOf(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** What the server's instructions explain once for all tools, and what is left to say of it in each. */
const EXPLAINED: Readonly<Record<string, string>> = {
  "the repository, as handle/name": "",
  "whose, as a handle or a DID (yours if not given)": "",
  "whom, as a handle or a DID": "",
  "a branch, tag or commit (the default branch if not given)": "",
  "the first line, from 1": "",
  "the first line (all if not given)": "",
  "the last line (the file's if not given)": "",
  "the last line (start if not given)": "start if not given",
  "at most this many": "",
  "go on where an earlier answer's cursor says": "",
};

/** What the names of parameters say themselves, and what is left to say. */
const NAMED: Readonly<Record<string, string>> = {
  "its links, in place of those it had": "in place of those it had",
  "its name": "",
  "its new name": "",
  "the branch": "",
  "the branch (the default branch if not given)": "the default branch if not given",
  "the branch its HEAD names (main if not given)": "main if not given",
  "the commit message": "",
  "the directory (the top if not given)": "the top if not given",
  "the file": "",
  "the new branch": "",
  "the tag": "",
  "true deletes it": "",
  "what replaces it": "",
  "what to compare with": "",
  "words to find it by, in place of those it had": "in place of those it had",
};

/** A schema without what is said elsewhere, and without bounds: they keep nonsense out, and the command checks them. */
function lean(
  { description = "", minimum: _least, maximum: _most, properties, items, ...rest }: Schema,
): Schema {
  const said = EXPLAINED[description] ?? NAMED[description] ?? description;
  return {
    ...rest,
    ...(said !== "" && { description: said }),
    ...(items && { items: lean(items) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, lean(property)]),
      ),
    }),
  };
}

function titleOf(name: string): string {
  const words = name.replaceAll("-", " ");
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

/** Every tool reaches the network of accounts, so all are of the open world. */
function annotationsOf({ kind, undo, destructive }: Fact): Tool["annotations"] {
  if (kind === "read") return { readOnlyHint: true, openWorldHint: true };
  return {
    readOnlyHint: false,
    destructiveHint: destructive === true,
    // What can be undone sets a state: done again it is already so, and nothing is written.
    idempotentHint: undo !== undefined,
    openWorldHint: true,
  };
}
