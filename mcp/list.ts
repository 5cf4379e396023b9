import { describeTool, isTool } from "../core/tools.ts";
import { whyNot } from "./filter.ts";
import type { Json } from "./message.ts";
import type { ServerOptions } from "./options.ts";

/** Answers tools/list: all that are offered, always whole, for many clients ask for no second page. */
export async function listTools(
  { facts, answers, filter }: Pick<ServerOptions, "answers" | "facts" | "filter">,
): Promise<Json> {
  const offered = (await facts()).filter(isTool)
    .filter((fact) => whyNot(fact, filter) === undefined);
  const looks = filter.structured ? await answers() : {};
  return { tools: offered.map((fact) => describeTool(fact, looks[fact.name])) };
}
