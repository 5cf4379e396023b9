import { Buffer } from "node:buffer";
import type { Readable } from "node:stream";
import { CancelledError, UsageError } from "../core/errors.ts";
import { cut, safe, safePainted, type Style } from "../core/text.ts";
import { type Env, isOn } from "./env.ts";
import { openLines, type ReadLine } from "./lines.ts";

/** When to colour: `auto` asks the environment and the stream. */
export type ColorWish = "auto" | "always" | "never";

/** A stream text goes out on. */
export interface Sink {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(chunk: Uint8Array | string, done: (error?: Error | null) => void): boolean;
}

/** A stream text comes in on. */
export type Source = Readable & {
  readonly isTTY?: boolean | undefined;
  /** A terminal has it: each key as it is pressed, and no echo. */
  setRawMode?(on: boolean): unknown;
};

/** What a process has around it. */
export interface Surroundings {
  readonly env: Env;
  readonly cwd: string;
  readonly stdin: Source;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly signal: AbortSignal;
  /** Aborts the signal, as Ctrl-C does. */
  interrupt(): void;
  now(): Date;
}

/** Thrown when who read our output went away: nothing is left to do, and nothing went wrong. */
export class ClosedPipe extends Error {
  override name = "ClosedPipe";
}

/** Thrown when stdout takes no more though who reads it is there: a full disk, most often. */
export class FailedOutput extends Error {
  override name = "FailedOutput";
}

const maxInput = 100_000_000;

/** The streams of one command line: the one place that writes on stdout and stderr. */
export class Terminal {
  readonly env: Env;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** True when stdout is a terminal. */
  readonly isOut: boolean;
  readonly #around: Surroundings;
  readonly #begun: number;
  #shown = 0;
  #wish: ColorWish = "auto";
  #lines: ReadLine | undefined;

  constructor(around: Surroundings) {
    this.env = around.env;
    this.cwd = around.cwd;
    this.signal = around.signal;
    this.isOut = isTerminal(around.stdout, around.env);
    this.#around = around;
    this.#begun = around.now().getTime();
  }

  /** Settles what `--color` said. */
  useColor(wish: ColorWish): void {
    this.#wish = wish;
  }

  /** How text on stdout looks. */
  get style(): Style {
    return {
      terminal: this.isOut,
      color: wantsColor(this.#wish, this.env, this.isOut),
      width: widthOfSink(this.#around.stdout, this.env),
      now: this.#around.now(),
    };
  }

  /** True when a person can be asked: stdin and stderr are terminals. */
  get isInteractive(): boolean {
    return this.#around.stdin.isTTY === true && isTerminal(this.#around.stderr, this.env);
  }

  /** Writes on stdout: bytes as they are, text made safe when it is a terminal. Throws a ClosedPipe or a FailedOutput. */
  async out(text: string | Uint8Array): Promise<void> {
    this.#wipe();
    const shown = typeof text === "string" && this.isOut ? safePainted(text) : text;
    await send(this.#around.stdout, shown);
  }

  /** Writes a line on stderr; nobody need be there to read it. */
  async err(text: string): Promise<void> {
    this.#wipe();
    await send(this.#around.stderr, `${safe(text)}\n`).catch(() => {});
  }

  /** Shows how far long work has come, on a terminal, once it has taken a while; the next line takes its place. */
  progress(text: string, done?: number, total?: number): void {
    const { stderr, now } = this.#around;
    const at = now().getTime();
    if (!isTerminal(stderr, this.env) || isOn(this.env.ACCESSIBLE)) return;
    if (at - this.#begun < 300 || at - this.#shown < 100) return;
    this.#shown = at;
    const part = done === undefined ? "" : total ? ` ${percent(done, total)}%` : ` ${done}`;
    const line = cut(safe(text + part).replaceAll("\n", " "), widthOfSink(stderr, this.env) - 1);
    stderr.write(`\r\x1b[2K${line}`, () => {});
  }

  #wipe(): void {
    if (this.#shown === 0) return;
    this.#shown = 0;
    this.#around.stderr.write("\r\x1b[2K", () => {});
  }

  /** All of stdin as text. */
  async readStdin(): Promise<string> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of this.#around.stdin) {
      const bytes = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
      size += bytes.length;
      if (size > maxInput) throw new UsageError(`stdin is over ${maxInput} bytes`);
      chunks.push(bytes);
    }
    return decode(chunks, "stdin");
  }

  /** The next line of stdin without its end; undefined when there is none, or once nobody waits for it. */
  readLine(signal?: AbortSignal): Promise<string | undefined> {
    this.#lines ??= openLines(this.#around.stdin);
    return this.#lines(signal);
  }

  /** The next line of stdin, not shown where it is typed; undefined when there is none. */
  async readSecret(): Promise<string | undefined> {
    const { stdin, interrupt } = this.#around;
    if (stdin.isTTY !== true || stdin.setRawMode === undefined) return await this.readLine();
    const setRawMode = stdin.setRawMode.bind(stdin);
    const { readHidden } = await import("./secret.ts");
    return await readHidden(Object.assign(stdin, { setRawMode }), interrupt);
  }

  /** Asks a person; throws a CancelledError when nothing comes back. */
  async ask(question: string): Promise<string> {
    this.#wipe();
    await send(this.#around.stderr, safe(question));
    const answer = (await this.readLine())?.trim();
    if (!answer) throw new CancelledError("nothing was typed, and nothing was done");
    return answer;
  }
}

function percent(done: number, total: number): number {
  return Math.min(100, Math.floor(done / total * 100));
}

function decode(chunks: readonly Uint8Array[], name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new UsageError(`${name} is not UTF-8 text`, { cause });
  }
}

function send(sink: Sink, text: string | Uint8Array): Promise<void> {
  if (text.length === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    sink.write(text, (error) => {
      if (!error) resolve();
      else reject(isClosed(error) ? new ClosedPipe() : new FailedOutput(error.message));
    });
  });
}

function isClosed(error: Error): boolean {
  const code = "code" in error ? error.code : undefined;
  return code === "EPIPE" || code === "ERR_STREAM_DESTROYED" || code === "EOF" ||
    code === "ERR_STREAM_WRITE_AFTER_END" || /broken pipe/i.test(error.message);
}

function isTerminal(sink: Sink, env: Env): boolean {
  return sink.isTTY === true || isOn(env.KNOTLESS_FORCE_TTY);
}

function widthOfSink(sink: Sink, env: Env): number {
  const forced = Number(env.KNOTLESS_FORCE_TTY);
  const width = forced > 1 ? forced : Number(env.COLUMNS) || sink.columns || 80;
  return Math.min(Math.max(width, 20), 1000);
}

function wantsColor(wish: ColorWish, env: Env, isTty: boolean): boolean {
  if (wish !== "auto") return wish === "always";
  if (env.NO_COLOR) return false;
  if (isOn(env.FORCE_COLOR) || isOn(env.CLICOLOR_FORCE)) return true;
  if (env.CLICOLOR === "0" || env.TERM === "dumb") return false;
  return isTty;
}
