/** The part of `@std/cli/parse-args` that knotless uses, over `node:util`, for machines that cannot reach JSR. */
import { parseArgs as parse } from "node:util";

/** Which flags there are, by their long names. */
export interface ParseOptions {
  /** Flags without a value. */
  readonly boolean?: readonly string[];
  /** Flags with a value; `_` keeps the other words from turning into numbers, which here they never do. */
  readonly string?: readonly string[];
  /** Flags whose every occurrence counts; of the others the last. */
  readonly collect?: readonly string[];
}

/** The values by flag, and the words that belong to none. */
export type Args = { _: (string | number)[] } & Record<string, unknown>;

/** Reads a command line; a boolean flag that is absent is false, a collected one is empty. */
export function parseArgs(args: readonly string[], options: ParseOptions = {}): Args {
  const { boolean = [], string = [], collect = [] } = options;
  const known: Record<string, { type: "boolean" | "string"; multiple: boolean }> = Object.create(
    null,
  );
  for (const name of boolean) known[name] = { type: "boolean", multiple: false };
  for (const name of string) known[name] = { type: "string", multiple: collect.includes(name) };
  const { values, positionals } = parse({
    args: [...args],
    options: known,
    strict: false,
    allowPositionals: true,
  });
  const read: Args = { _: positionals };
  for (const name of boolean) read[name] = values[name] === "false" ? false : !!values[name];
  for (const name of string) {
    if (name !== "_") read[name] = values[name] ?? (collect.includes(name) ? [] : undefined);
  }
  return read;
}
