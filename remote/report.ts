import process from "node:process";
import { explainDisk } from "../core/disk.ts";
import { type Hint, KnotlessError, quote } from "../core/errors.ts";
import type { Options } from "./options.ts";
import { tell } from "./lines.ts";

/**
 * Tells, in git's manner, why nothing can go on, and gives the exit status git expects then; `account` is whom to sign in
 * as where the error does not say.
 */
export function reportFatal(error: unknown, isDebug: boolean, account?: string): number {
  tell(`fatal: ${wordsOf(error)}\n`);
  const hint = error instanceof KnotlessError
    ? error.hint && spellHint(error.hint, account)
    : explainDisk(error, process.env, process.platform)?.hint;
  if (hint !== undefined) tell(`hint: ${hint}\n`);
  if (isDebug && error instanceof Error && error.stack) tell(`${error.stack}\n`);
  return 128;
}

function wordsOf(error: unknown): string {
  if (error instanceof KnotlessError) return error.message;
  const trouble = explainDisk(error, process.env, process.platform);
  if (trouble !== undefined) return trouble.message;
  const message = quote(error instanceof Error ? error.message : String(error));
  // What the machine could not do is no bug of ours.
  const isSystem = error instanceof Error && "syscall" in error;
  return isSystem ? message : `a bug in knotless: ${message}`;
}

/** Spells a hint as a person at a shell takes it. */
export function spellHint(hint: Hint, account = "HANDLE"): string {
  if (typeof hint === "string") return hint;
  if ("signIn" in hint) return `run knotless login ${quote(hint.account ?? account)}`;
  if ("goOnline" in hint) return "unset KNOTLESS_OFFLINE";
  const words = Object.entries(hint.args ?? {}).map(([name, value]) =>
    value === true
      ? `--${name.replaceAll("_", "-")}`
      : name.includes("_")
      ? `--${name.replaceAll("_", "-")} ${value}`
      : String(value)
  );
  return `run knotless ${[hint.command, ...words].join(" ")}`;
}

const EACH_MS = 100;

/** Shows how far long work has come, as git does: a line that is written over. */
export class Progress {
  readonly #options: Options;
  readonly #now: () => number;
  #text: string | undefined;
  #last = 0;

  constructor(options: Options, now: () => number) {
    this.#options = options;
    this.#now = now;
  }

  /** Shows `text`, with how much of it is done. */
  show(text: string, done?: number, total?: number): void {
    if (!this.#options.progress) return;
    const isDone = done !== undefined && done === total;
    const now = this.#now();
    if (text === this.#text && !isDone && now - this.#last < EACH_MS) return;
    if (this.#text !== undefined && this.#text !== text) this.end();
    this.#text = text;
    this.#last = now;
    const said = text.charAt(0).toUpperCase() + text.slice(1);
    const part = done === undefined || !total
      ? ""
      : `: ${percent(done, total)}% (${done}/${total})`;
    tell(`\r${said}${part}`);
  }

  /** Ends the line that is shown, if one is. */
  end(): void {
    if (this.#text !== undefined) tell(", done.\n");
    this.#text = undefined;
  }

  /** Says a line of its own. */
  note(text: string): void {
    this.end();
    if (this.#options.verbosity > 0) tell(`${text}\n`);
  }
}

function percent(done: number, total: number): string {
  return String(Math.min(100, Math.floor(done / total * 100))).padStart(3);
}
