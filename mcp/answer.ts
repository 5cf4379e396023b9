import { Buffer } from "node:buffer";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types";
import { toJson, toText } from "../core/answer.ts";
import type { AnyCommand } from "../core/command.ts";
import type { Fact } from "../core/facts.ts";
import { type KnotlessError, RefusedError } from "../core/errors.ts";
import { cleanResult, legible } from "./clean.ts";
import type { Filter } from "./filter.ts";
import { spellHint } from "./hint.ts";
import { spellWithheld, withhold } from "./lockdown.ts";
import { isObject } from "./message.ts";

/** The key of an answer's `_meta` that has an error's code. */
const ERROR = "dev.knotless/error";

/** More than this is not given as one answer: bytes of a file, or of the text of anything else. */
const MAX_BYTES = 1_000_000;

/** A result as it is answered. */
export interface Answered {
  /** The content where the command has one, else the result as JSON. */
  readonly text: string;
  readonly isJson: boolean;
  /** The result, where it is answered as JSON or clients are given it beside its content. */
  readonly value?: unknown;
  /** What the answer leaves out, and why. */
  readonly left?: string;
}

/** What is answered of a command's result; throws when it is too long. */
export function answerOf(
  command: AnyCommand,
  result: unknown,
  args: unknown,
  { lockdown, structured }: Filter,
): Answered {
  const withheld = lockdown ? withhold(result) : undefined;
  const given = withheld === undefined ? result : withheld.result;
  const left = withheld && spellWithheld(withheld);
  const content: string | Uint8Array | undefined = command.content?.(given);
  const isJson = content === undefined;
  const value = isJson || structured ? cleanResult(given) : undefined;
  const text = isJson ? toJson(value) : legible(toText(content));
  refuseLong(command, result, args, text);
  return {
    text,
    isJson,
    ...(value !== undefined && { value }),
    ...(left !== undefined && { left }),
  };
}

function refuseLong(command: AnyCommand, result: unknown, args: unknown, text: string): void {
  if (command.oversize) {
    const oversize = command.oversize(result, MAX_BYTES, isObject(args) ? args : {});
    if (oversize) throw oversize;
    return;
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES) {
    throw new RefusedError(
      `the answer has ${bytes} bytes, more than the ${MAX_BYTES} that fit: ask for less`,
    );
  }
}

/** An answer of text blocks, with the value behind the first where a client is to have it as well. */
export function answer(texts: readonly (string | undefined)[], value?: unknown): CallToolResult {
  return {
    content: texts.flatMap((text) => text === undefined ? [] : [{ type: "text", text }]),
    ...(isObject(value) && { structuredContent: value }),
  };
}

/**
 * An answer that says why there is none, with the error for programs where they are to have it: not as structured
 * content, which clients hold to the tool's schema, also that of an error.
 */
export function failure(
  text: string,
  error?: Pick<KnotlessError, "code" | "retryable">,
): CallToolResult {
  return {
    ...answer([legible(text)]),
    isError: true,
    ...(error && { _meta: { [ERROR]: { code: error.code, retryable: error.retryable } } }),
  };
}

/** The call that goes on where a list was cut, or one file of a diff too long to give; undefined where all is there. */
export function spellMore(
  { name, params }: Fact,
  args: unknown,
  result: unknown,
  facts: readonly Fact[],
): string | undefined {
  if (!isObject(result) || !isObject(args)) return undefined;
  const { more, cursor, files } = result;
  const [file]: unknown[] = Array.isArray(files) ? files : [];
  const next = more === true && typeof cursor === "string"
    ? { cursor }
    : isObject(file) && params.some(({ name }) => name === "paths")
    ? { paths: [file["path"]] }
    : undefined;
  if (next === undefined) return undefined;
  return legible(
    `there is more: ${spellHint({ command: name, args: { ...args, ...next } }, facts)}`,
  );
}
