import type { Surface } from "../core/open.ts";
import type { Globals } from "./globals.ts";
import type { Terminal } from "./terminal.ts";

/** The command line as a command sees it. */
export function surfaceOf(terminal: Terminal, globals: Globals): Surface {
  return {
    signal: terminal.signal,
    note: (text) => {
      if (!globals.quiet) terminal.err(`note: ${text}`);
    },
    progress: (text, done, total) => {
      if (!globals.quiet) terminal.progress(text, done, total);
    },
    get interactive() {
      return terminal.isInteractive && !globals.noInput;
    },
    noInput: globals.noInput,
    readLine: (signal) => terminal.readLine(signal),
    readSecret: () => terminal.readSecret(),
    say: (text) => {
      terminal.err(text);
    },
  };
}
