import { describeTool, isTool } from "../core/tools.ts";
import { whyNot } from "./filter.ts";
import type { Json } from "./message.ts";
import type { ServerOptions } from "./options.ts";

/** Answers tools/list: all that are offered, always whole, for many clients ask for no second page. */
export async function listTools(
  { facts, filter }: Pick<ServerOptions, "facts" | "filter">,
): Promise<Json> {
  const offered = (await facts()).filter(isTool)
    .filter((fact) => whyNot(fact, filter) === undefined);
  return { tools: offered.map(describeTool) };
}
