import type { Fact, Fit, ParamFact, Schema } from "./facts.ts";
import { parseRepoName, readActor, refuseName } from "./forge/names.ts";

/** How a text is read as what it names; undefined, or an error, when it is none. */
const READERS: Readonly<Record<NonNullable<Fit["read"]>, (text: string) => unknown>> = {
  repo: parseRepoName,
  account: readActor,
  new_repo: (text) => refuseName(text) === undefined ? text : undefined,
};

/**
 * The input that the command's schema would make of arguments that plain facts show to fit; undefined when they do not,
 * which leaves it to the schema to say what is wrong. A schema takes longer to load and to make than most commands run.
 */
export function accept(
  fact: Fact | undefined,
  args: unknown,
): Record<string, unknown> | undefined {
  if (fact === undefined || !isPlain(args)) return undefined;
  const input: Record<string, unknown> = {};
  let taken = 0;
  for (const param of fact.params) {
    if (!Object.hasOwn(args, param.name)) {
      if (param.required) return undefined;
      if (param.default !== undefined) input[param.name] = param.default;
      continue;
    }
    const value = param.fit && read(param, param.type, param.fit, args[param.name]);
    if (value === undefined) return undefined;
    input[param.name] = value;
    taken++;
  }
  return taken === Object.keys(args).length ? input : undefined;
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null &&
    Object.getPrototypeOf(value) === Object.prototype;
}

function read(param: ParamFact, type: Schema["type"], fit: Fit, value: unknown): unknown {
  switch (type) {
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "integer":
      return isWithin(value, param.minimum, param.maximum) ? value : undefined;
    case "string":
      return typeof value === "string" ? readText(param, fit, value) : undefined;
    case "array":
      return Array.isArray(value) ? readList(param, fit, value) : undefined;
    default:
      return undefined;
  }
}

function isWithin(value: unknown, least = -Infinity, most = Infinity): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= least &&
    value <= most;
}

function readText(param: ParamFact, fit: Fit, text: string): unknown {
  if (param.enum) return param.enum.includes(text) ? text : undefined;
  if (!isWithin(text.length, fit.least, fit.most)) return undefined;
  if (fit.read === undefined) return text;
  try {
    return READERS[fit.read](text);
  } catch {
    return undefined;
  }
}

function readList(param: ParamFact, fit: Fit, list: readonly unknown[]): unknown {
  const { items } = param;
  const { each, least, most } = fit;
  if (!items || !each || !isWithin(list.length, least, most)) return undefined;
  const values: unknown[] = [];
  for (const item of list) {
    const value = read(param, items, each, item);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}
