import { CODE, isObject, type Json, ProtocolError } from "./message.ts";
import type { ResourceTemplate } from "./resources.ts";

/**
 * Gives the values of a template's variable that begin with `value`, as far as this machine knows any, the best first;
 * `chosen` are the values of the variables before it.
 */
export type Complete = (
  name: string,
  value: string,
  chosen: Readonly<Record<string, string>>,
) => Promise<readonly string[]>;

/** A client takes no more. */
const MOST = 100;

/** Answers completion/complete for a variable of a resource template. */
export async function complete(
  { ref, argument, context }: Json,
  templates: readonly ResourceTemplate[],
  find: Complete,
): Promise<Json> {
  const uri = isObject(ref) && ref["type"] === "ref/resource" ? ref["uri"] : undefined;
  const template = templates.find(({ template }) => template.text === uri)?.template;
  if (template === undefined) {
    const texts = templates.map(({ template }) => template.text).join(" or ");
    throw new ProtocolError(
      CODE.invalidParams,
      `params.ref is no template of this server: ${texts}`,
    );
  }
  const { name, value } = isObject(argument) ? argument : {};
  if (typeof name !== "string" || typeof value !== "string") {
    throw new ProtocolError(CODE.invalidParams, "params.argument has no name and value");
  }
  const found = template.names.includes(name) ? await find(name, value, chosenOf(context)) : [];
  const values = found.slice(0, MOST);
  return { completion: { values, total: found.length, hasMore: values.length < found.length } };
}

function chosenOf(context: unknown): Record<string, string> {
  const chosen = isObject(context) && isObject(context["arguments"]) ? context["arguments"] : {};
  return Object.fromEntries(
    Object.entries(chosen).filter((entry): entry is [string, string] =>
      typeof entry[1] === "string"
    ),
  );
}
