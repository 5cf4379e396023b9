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
    inputSchema: schema,
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
