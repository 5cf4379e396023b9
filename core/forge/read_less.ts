import { Buffer } from "node:buffer";
import { UsageError } from "../errors.ts";
import type { readFile } from "./browse.ts";

/** So many lines are enough for one answer. */
const MOST_LINES = 1000;

/** The refusal to give more than `most` bytes of a file, with the lines that do fit; undefined where all fits. */
export function refuseLong(
  result: ReturnType<typeof readFile>,
  most: number,
  args: Readonly<Record<string, unknown>>,
): UsageError | undefined {
  const isPart = "lines" in result;
  const size = isPart ? Buffer.byteLength(result.text) : result.size;
  if (size <= most) return undefined;
  const path = "path" in result ? result.path : args["path"];
  if ("base64" in result) {
    return new UsageError(`${path} is ${size} bytes, too long to give whole`, {
      hint: "git clone has it",
    });
  }
  const start = isPart ? result.start : 1;
  const { lines, bytes } = fitLines(result.text, most);
  if (lines === 0) {
    return new UsageError(`line ${start} of ${path} is ${bytes} bytes, too long to give`, {
      hint: "read the lines before or behind it, or git clone the repository",
    });
  }
  const what = isPart ? `lines ${start} to ${result.end} of ${path} are` : `${path} is`;
  return new UsageError(`${what} ${size} bytes, too long to give whole`, {
    hint: { command: "repo read", args: { ...args, start, end: start + lines - 1 } },
  });
}

/** How many lines at the text's begin fit, and the bytes of these and, where none does, of the first. */
function fitLines(text: string, most: number): { lines: number; bytes: number } {
  let bytes = 0;
  let lines = 0;
  for (let at = 0; at < text.length && lines < MOST_LINES; lines++) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline + 1;
    const length = Buffer.byteLength(text.slice(at, end));
    if (bytes + length > most) return { lines, bytes: lines === 0 ? length : bytes };
    bytes += length;
    at = end;
  }
  return { lines, bytes };
}
