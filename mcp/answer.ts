import { Buffer } from "node:buffer";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types";
import { toJson, toText } from "../core/answer.ts";
import type { AnyCommand } from "../core/command.ts";
import { type KnotlessError, RefusedError, unsafe } from "../core/errors.ts";

/** More than this no client takes as one answer. */
const MAX_BYTES = 1_000_000;

/** The text of a tool's answer: the content where the command has one, else its result as JSON; throws when too long. */
export function answerText(command: AnyCommand, result: unknown): string {
  const content: string | Uint8Array | undefined = command.content?.(result);
  const text = content ?? toJson(result);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_BYTES) return legible(toText(text));
  const oversize: KnotlessError | undefined = command.oversize?.(result, bytes);
  throw oversize ?? new RefusedError(
    `the answer has ${bytes} bytes, more than the ${MAX_BYTES} that fit: ask for less`,
  );
}

/** An answer of text blocks. */
export function answer(...texts: string[]): CallToolResult {
  return { content: texts.map((text) => ({ type: "text", text })) };
}

/** An answer that says why there is none. */
export function failure(text: string): CallToolResult {
  return { ...answer(legible(text)), isError: true };
}

/**
 * Text with nothing in it that hides from a reader or turns its order around. Line ends stay as they are: an edit has
 * to name the bytes that are there.
 */
export function legible(text: string): string {
  return text.replace(unsafe, (found) => "\n\r\t".includes(found) ? found : "\uFFFD")
    .toWellFormed();
}
