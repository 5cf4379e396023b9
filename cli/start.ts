import process from "node:process";
import { main } from "./main.ts";
import { openSink } from "./sink.ts";
import { Terminal } from "./terminal.ts";

/** Runs a command line on the real terminal and gives its exit status. */
export async function start(argv: readonly string[]): Promise<number> {
  return await main(argv, await processTerminal(), (globals, surface) => async (kind) => {
    const { openContexts } = await import("../core/open.ts");
    return await openContexts(globals, process.env, surface)(kind);
  });
}

/** The terminal of this process; an interrupt aborts its signal. */
export async function processTerminal(): Promise<Terminal> {
  const interrupt = new AbortController();
  // A second interrupt finds no handler and ends the process at once.
  process.once("SIGINT", () => interrupt.abort());
  return new Terminal({
    env: process.env,
    cwd: process.cwd(),
    // To open it costs time, and few commands read it.
    get stdin() {
      return process.stdin;
    },
    stdout: await openSink(1),
    stderr: await openSink(2),
    signal: interrupt.signal,
    interrupt: () => interrupt.abort(),
    now: () => new Date(),
  });
}
