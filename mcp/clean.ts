import { toText } from "../core/answer.ts";
import { replaceUnsafe } from "../core/errors.ts";

/** Selectors of a letter's form where there is no letter to form, or one already: text in them shows nowhere. */
const strayVariation =
  /(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]|(?<![^\p{ASCII}]|[0-9#*])[\ufe00-\ufe0f]/gu;

/** Most text: there is nothing to look for in it. */
const plain = /^[\t\n\r\x20-\x7e]*$/;

/**
 * Text with nothing in it that hides from a reader or turns its order around: a mark is left in its place, so that what
 * stood around it does not join. Line ends stay as they are: an edit has to name the bytes that are there.
 */
export function legible(text: string): string {
  if (plain.test(text)) return text;
  return replaceUnsafe(text, (found) => "\n\r\t".includes(found) ? found : "\uFFFD")
    .replace(strayVariation, "\uFFFD").toWellFormed();
}

/** As pages show it, what follows an open comment is not seen either. */
const comment = /<!--(?:>|->|.*?(?:--!?>|$))/gs;

/** The keys of text that people write to be shown on a page, where a comment in HTML hides. */
const PROSE = new Set(["body", "description", "message", "notes", "subject", "summary", "title"]);

/** A result with every text in it legible, and what people wrote without the comments that pages do not show. */
export function cleanResult(value: unknown, key = ""): unknown {
  if (typeof value === "string") {
    const text = legible(value);
    return PROSE.has(key) && text.includes("<!--") ? text.replace(comment, "\uFFFD") : text;
  }
  if (value instanceof Uint8Array) return cleanResult(toText(value), key);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  // Nearly all of a long answer is clean already: to make each part of it anew would take longest.
  let clean: [string, unknown][] | undefined;
  for (const [at, [name, item]] of entries.entries()) {
    const isItem = Array.isArray(value);
    const cleanName = isItem ? name : legible(name);
    const cleanItem = cleanResult(item, isItem ? key : name);
    if (clean === undefined && cleanName === name && cleanItem === item) continue;
    clean ??= entries.slice(0, at);
    clean.push([cleanName, cleanItem]);
  }
  if (clean === undefined) return value;
  return Array.isArray(value) ? clean.map(([, item]) => item) : Object.fromEntries(clean);
}
