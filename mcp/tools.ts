import type { Tool } from "@modelcontextprotocol/sdk/types";
import type { Fact } from "../core/facts.ts";

/** A command that assistants can call. */
export type ToolFact = Fact & { readonly tool: string };

/** Tells whether a command is a tool at all. */
export function isTool(fact: Fact): fact is ToolFact {
  return fact.tool !== undefined;
}

/** A command as tools/list says it. */
export function describeTool(fact: ToolFact): Tool {
  const { tool, name, summary, details, schema } = fact;
  return {
    name: tool,
    title: titleOf(name),
    description: details === undefined ? summary : `${summary}. ${details}`,
    // The SDK's type has the same schema, but would write to it.
    inputSchema: schema as Tool["inputSchema"],
    annotations: annotationsOf(fact),
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
