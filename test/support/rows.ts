import { readFile } from "node:fs/promises";
import type { Kind } from "../../core/context.ts";

/** One row of the plan of all commands. */
export interface PlanRow {
  readonly command: string;
  readonly tool: string;
  readonly kind: Kind;
  readonly undo: string;
}

/** The plan: every command there is to be, but the conveniences of this machine. */
export async function readRows(): Promise<readonly PlanRow[]> {
  const text = await readFile(new URL("../data/commands.tsv", import.meta.url), "utf8");
  const [, ...lines] = text.trimEnd().split("\n");
  return lines.map((line) => {
    const [command = "", tool = "", kind = "", undo = ""] = line.split("\t");
    return { command, tool, kind: kind as Kind, undo };
  });
}
