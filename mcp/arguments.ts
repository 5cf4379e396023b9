import type { ParamFact, Schema } from "../core/facts.ts";

/**
 * A tool call's arguments, set right where clients are known to bend them: `null` for an optional one is left out, a
 * number, a boolean, a list or an object that came as text is read, and one thing is taken for a list of it. What does
 * not fit stays as it came.
 */
export function readArguments(value: unknown, schema: Schema): unknown {
  const read = typeof value === "string" ? readText(value, schema.type) : value;
  if (Array.isArray(read)) {
    const { items } = schema;
    return items === undefined ? read : read.map((item) => readArguments(item, items));
  }
  if (schema.type === "array") return listOfOne(read, schema);
  if (typeof read !== "object" || read === null) return read;
  const entries = Object.entries(read).filter(([, item]) => item !== null);
  return Object.fromEntries(entries.map(([name, item]) => {
    const known = schemaOf(name, schema);
    return [name, known === undefined ? item : readArguments(item, known)];
  }));
}

/** Arguments without those that came empty where an empty one means nothing: clients send them for what is left out. */
export function leaveOutBlanks(value: unknown, params: readonly ParamFact[]): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const blanks = params.filter(({ required, blank }) => !required && !blank);
  return Object.fromEntries(
    Object.entries(value).filter(([key, item]) =>
      item !== "" || !blanks.some(({ name }) => name === key)
    ),
  );
}

/** A text that begins as a list does is a list that broke. */
function listOfOne(value: unknown, { items }: Schema): unknown {
  const isBroken = typeof value === "string" && value.trimStart().startsWith("[");
  if (items === undefined || isBroken) return value;
  const item = readArguments(value, items);
  return fits(item, items.type) ? [item] : value;
}

function schemaOf(name: string, { properties = {}, additionalProperties }: Schema) {
  return Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
}

function readText(text: string, type: Schema["type"]): unknown {
  if (type === "string") return text;
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return text;
  }
  return fits(read, type) ? read : text;
}

function fits(value: unknown, type: Schema["type"]): boolean {
  switch (type) {
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number";
    case "string":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
  }
}
