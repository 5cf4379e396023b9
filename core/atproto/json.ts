/** A JSON object whose fields are not known. */
export type JsonObject = { [key: string]: unknown };

/** True for a JSON object: not null, no array, no bytes. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Uint8Array);
}

/** The text of the field `key`, when `value` is an object that has one. */
export function textOf(value: unknown, key: string): string | undefined {
  const field = isObject(value) ? value[key] : undefined;
  return typeof field === "string" ? field : undefined;
}

/** The JSON value of UTF-8 bytes, or undefined when they are none. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
