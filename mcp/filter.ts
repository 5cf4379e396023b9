import type { ToolFact } from "./tools.ts";

/** Which tools a server offers. */
export interface Filter {
  /** Offers the commands that only read, and nothing else. */
  readonly readOnly: boolean;
}

/** Says why a tool that exists is not offered; undefined when it is. */
export function whyNot({ tool, kind }: ToolFact, { readOnly }: Filter): string | undefined {
  if (!readOnly || kind === "read") return undefined;
  return `${tool} is not offered: this server runs with --read-only`;
}
