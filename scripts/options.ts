// deno-lint-ignore-file no-console
/** What the scripts are told on their command lines. */
import process from "node:process";
import { parseArgs, type ParseArgsConfig } from "node:util";

/** Something was asked for that does not fit or is not there: told in one line, without where in the script. */
export class UnfitError extends Error {
  override name = "UnfitError";
}

/** Reads a script's options; ends it with a line and status 2 where they do not fit. */
export function readOptions<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    // Behind the first sentence it explains how else to give what is unknown.
    return refuse((error instanceof Error ? error.message : `${error}`).split(". ")[0] ?? "");
  }
}

/** Reads the number that an option is given. */
export function readCount(name: string, text: string): number {
  if (!/^\d{1,12}$/.test(text)) refuse(`--${name} takes a number, not ${JSON.stringify(text)}`);
  return Number(text);
}

/** Ends the script with a line and status 2. */
export function refuse(text: string): never {
  console.error(`error: ${text}`);
  process.exit(2);
}
