/** The part of `@std/cli/parse-args` that knotless uses, for machines that cannot reach JSR. */

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

/**
 * Reads a command line whose flags are spelled in full, `--flag` or `--flag=value`, up to a `--`; a boolean flag that is
 * absent is false, a collected one is empty.
 */
export function parseArgs(args: readonly string[], options: ParseOptions = {}): Args {
  const { boolean = [], string = [], collect = [] } = options;
  const read: Args = { _: [] };
  for (const name of boolean) read[name] = false;
  for (const name of string) if (name !== "_") read[name] = collect.includes(name) ? [] : undefined;
  for (const [index, word] of args.entries()) {
    if (word === "--") {
      read._.push(...args.slice(index + 1));
      break;
    }
    const [, name = "", text] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    const before = read[name];
    if (boolean.includes(name)) read[name] = text !== "false";
    else if (name === "" || !string.includes(name)) read._.push(word);
    else read[name] = Array.isArray(before) ? [...before, text ?? ""] : text ?? "";
  }
  return read;
}
