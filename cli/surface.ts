import type { Contexts, Kind, Machine, ReadContext } from "../core/context.ts";
import type { Globals } from "./globals.ts";
import type { Terminal } from "./terminal.ts";

/** What a command may ask of the command line while it runs. */
export interface Surface
  extends
    Pick<ReadContext, "signal" | "note" | "progress">,
    Pick<Machine, "interactive" | "readLine" | "say"> {}

/** Opens the context of a kind. */
export type Open = <K extends Kind>(kind: K) => Promise<Contexts[K]>;

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
    interactive: terminal.isInteractive && !globals.noInput,
    readLine: () => terminal.readLine(),
    say: (text) => {
      terminal.err(text);
    },
  };
}
