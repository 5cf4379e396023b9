import process from "node:process";
import { main } from "./main.ts";
import { Terminal } from "./terminal.ts";

/** Runs a command line on the real terminal and gives its exit status. */
export async function start(argv: readonly string[]): Promise<number> {
  return await main(argv, processTerminal(), (globals, surface) => async (kind) => {
    const { openContexts } = await import("../core/open.ts");
    return await openContexts(globals, process.env, surface)(kind);
  });
}

/** The terminal of this process; an interrupt aborts its signal. */
export function processTerminal(): Terminal {
  const interrupt = new AbortController();
  // A second interrupt finds no handler and ends the process at once.
  process.once("SIGINT", () => interrupt.abort());
  // Each write tells of its own failure; a closed pipe must not also be thrown at the process.
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  return new Terminal({
    env: process.env,
    cwd: process.cwd(),
    // To open it costs time, and few commands read it.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    signal: interrupt.signal,
    interrupt: () => interrupt.abort(),
    now: () => new Date(),
  });
}
