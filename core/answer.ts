import { replaceUnsafe } from "./errors.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Text of an unknown encoding as UTF-8; what is not becomes U+FFFD. */
export function toText(value: Uint8Array | string): string {
  return typeof value === "string" ? value : decoder.decode(value);
}

/** A Buffer turns itself into an object before a replacer sees it, so the holder's own value is looked at. */
function plain(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const own = this[key];
  return own instanceof Uint8Array ? toText(own) : value;
}

/** A result as compact JSON, the same text from every surface; bytes in it are text of an unknown encoding. */
export function toJson(result: unknown): string {
  // With a replacer it takes three times as long.
  return JSON.stringify(result, holdsBytes(result) ? plain : undefined) ?? "null";
}

function holdsBytes(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof Uint8Array) return true;
  return Array.isArray(value) ? value.some(holdsBytes) : Object.values(value).some(holdsBytes);
}

/** A result as JSON for a person at a terminal: indented, what could steer the terminal or hide is escaped. */
export function toPrettyJson(result: unknown): string {
  const text = JSON.stringify(result, plain, 2) ?? "null";
  return replaceUnsafe(text, (found) => found === "\n" ? found : escaped(found));
}

function escaped(text: string): string {
  let said = "";
  for (let at = 0; at < text.length; at++) {
    said += `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
  return said;
}
