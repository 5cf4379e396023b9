import type { Kind } from "./context.ts";

/** A JSON Schema of the portable kind: one `type` each, no combinators. */
export interface Schema {
  readonly type: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly additionalProperties?: Schema;
}

/** A line for help: what to type after `knotless`, and what it does. */
export interface Example {
  readonly line: string;
  readonly says: string;
}

/** What a parameter may name beside things of this program. */
export type Named = "repo" | "new_repo" | "account" | "server";

/** What fits a parameter beside its type, choices and bounds. */
export interface Fit {
  /** The lengths of a text, or of a list. */
  readonly least?: number;
  readonly most?: number;
  /** What each value of a list has to fit. */
  readonly each?: Fit;
  /** The form of a text that is read as what it names. */
  readonly read?: Exclude<Named, "server">;
}

/** One parameter, as flags and help need it. */
export interface ParamFact {
  readonly name: string;
  readonly type: Schema["type"];
  /** What an array holds. */
  readonly items?: Schema["type"];
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required: boolean;
  readonly description: string;
  /** True for an optional text that may be empty, and means something then. */
  readonly blank?: boolean;
  /** What its value, or each of its values, names. */
  readonly names?: Named;
  /** Absent where only the schema tells what fits. */
  readonly fit?: Fit;
  /** The flag's one letter, without its dash. */
  readonly short?: string;
}

/** A command as plain data: all that routing, argv, help and tools/list need, without loading its code. */
export interface Fact {
  readonly name: string;
  /** The MCP tool; a machine command has none. */
  readonly tool?: string;
  /** The first word of the name. */
  readonly group: string;
  readonly kind: Kind;
  readonly summary: string;
  readonly details?: string;
  /** What `undo` does, where there is one. */
  readonly undo?: string;
  /** True for a write that takes away what others may rely on: an assistant may ask before it. */
  readonly destructive?: boolean;
  /** True where the tool may answer a text as it is: a file, a diff. */
  readonly content?: boolean;
  readonly positionals: readonly string[];
  readonly aliases: readonly string[];
  readonly examples: readonly Example[];
  readonly params: readonly ParamFact[];
  /** The tool's input. */
  readonly schema: Schema;
  /** The key of the module in core/table.ts that has the command. */
  readonly module: string;
}

/** The command whose name, or old name, these words begin with: the longest one, and how many words it took. */
export function findFact(
  words: readonly string[],
  facts: readonly Fact[],
): { fact: Fact; taken: number } | undefined {
  for (let taken = Math.min(words.length, 4); taken > 0; taken--) {
    const name = words.slice(0, taken).join(" ");
    const fact = facts.find((fact) => fact.name === name || fact.aliases.includes(name));
    if (fact) return { fact, taken };
  }
  return undefined;
}

/** The command of an MCP tool. */
export function findTool(tool: string, facts: readonly Fact[]): Fact | undefined {
  return facts.find((fact) => fact.tool === tool);
}

/** One parameter of a command. */
export function paramOf(fact: Fact, name: string): ParamFact | undefined {
  return fact.params.find((param) => param.name === name);
}
