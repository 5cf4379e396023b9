import { Readable } from "node:stream";
import { main, type Table } from "../../cli/main.ts";
import type { Globals } from "../../cli/globals.ts";
import type { Open, Surface } from "../../core/open.ts";
import { type Sink, Terminal } from "../../cli/terminal.ts";

/** What a command line run in a test has around it. */
export interface CliOptions {
  readonly table?: Table;
  readonly open?: (globals: Globals, surface: Surface) => Open;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly stdin?: string | readonly Uint8Array[];
  /** The streams that are terminals. */
  readonly terminals?: readonly ("stdin" | "stdout" | "stderr")[];
  readonly columns?: number;
  readonly signal?: AbortSignal;
  readonly now?: () => Date;
}

/** What came of a command line. */
export interface CliResult {
  readonly status: number;
  readonly out: string;
  readonly err: string;
  readonly bytes: Uint8Array;
}

class Taken implements Sink {
  readonly chunks: Uint8Array[] = [];
  constructor(readonly isTTY: boolean, readonly columns: number) {}

  write(chunk: Uint8Array | string, done: () => void): boolean {
    this.chunks.push(typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
    queueMicrotask(done);
    return true;
  }

  get bytes(): Uint8Array {
    return Buffer.concat(this.chunks);
  }
}

/** Runs one command line in this process, by default in pipes and with no colour. */
export async function runCli(
  argv: readonly string[],
  options: CliOptions = {},
): Promise<CliResult> {
  const { terminals = [], columns = 80, stdin = "", env = {} } = options;
  const stdout = new Taken(terminals.includes("stdout"), columns);
  const stderr = new Taken(terminals.includes("stderr"), columns);
  const input = typeof stdin === "string" ? [new TextEncoder().encode(stdin)] : [...stdin];
  const terminal = new Terminal({
    env: { NO_COLOR: "1", ...env },
    cwd: options.cwd ?? "/",
    stdin: Object.assign(Readable.from(input), { isTTY: terminals.includes("stdin") }),
    stdout,
    stderr,
    signal: options.signal ?? new AbortController().signal,
    interrupt: () => {},
    now: options.now ?? (() => new Date("2026-11-30T20:00:00Z")),
  });
  const open = options.open ?? (() => () => Promise.reject(new Error("no context was given")));
  const status = await main(argv, terminal, open, options.table);
  const text = (sink: Taken) => new TextDecoder().decode(sink.bytes);
  return { status, out: text(stdout), err: text(stderr), bytes: stdout.bytes };
}
