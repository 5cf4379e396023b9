import process from "node:process";
import { toJson, toPrettyJson } from "../core/answer.ts";
import { KnotlessError, NotFoundError, quote, UsageError } from "../core/errors.ts";
import type { Fact } from "../core/facts.ts";
import { spellHint } from "./hint.ts";
import { ClosedPipe, FailedOutput, type Terminal } from "./terminal.ts";

/** What the report of an error depends on, as far as it was known when the error came. */
export interface ReportOptions {
  readonly facts: readonly Fact[];
  /** The command, or the words given for one. */
  readonly command: string;
  readonly isJson: boolean;
  readonly debug: boolean;
  readonly account?: string | undefined;
  /** The flag or variable that keeps it from the network. */
  readonly offlineBy?: string | undefined;
  /** What was assumed and may be why, said where an error has no hint of its own. */
  readonly aside?: string | undefined;
}

/** What went wrong, in the words and numbers the command line has for it. */
interface Report {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly exit: number;
  readonly retryable: boolean;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** Advice of a runtime to whoever wrote the request, which is not who reads it. */
const CHATTER =
  /(?<=[.)]\s)(?:Is the computer able to access the url\?|Was there a typo in the url or port\?|For more information, pass `verbose: true`.*)/i;

const interrupted: Report = {
  code: "interrupted",
  message: "interrupted",
  exit: 130,
  retryable: true,
};

/** Tells about an error and gives the exit status: sentences on stderr and, if asked, one JSON document on stdout. */
export async function reportError(
  error: unknown,
  terminal: Terminal,
  options: ReportOptions,
): Promise<number> {
  if (error instanceof ClosedPipe) return 0;
  const report = terminal.signal.aborted
    ? interrupted
    : await describeDisk(error, terminal) ?? describe(error, options);
  const { code, message, hint, exit, retryable, details } = report;
  if (options.isJson) {
    const { command } = options;
    const document = { error: { code, message, hint, exit, retryable, command, details } };
    const text = terminal.isOut ? toPrettyJson(document) : toJson(document);
    // The status tells enough where nobody reads, or nothing can be written.
    await terminal.out(`${text}\n`).catch(() => {});
  }
  if (report === interrupted) return exit;
  await terminal.err(`error: ${message}`);
  const cause = causeOf(error, message);
  if (cause) await terminal.err(`cause: ${cause}`);
  if (hint) await terminal.err(`hint: ${hint}`);
  if (options.debug && error instanceof Error && error.stack) await terminal.err(error.stack);
  return exit;
}

/** A disk that is full or may not be written is told by the folder, wherever it was met. */
async function describeDisk(error: unknown, { env }: Terminal): Promise<Report | undefined> {
  if (error instanceof KnotlessError || error instanceof FailedOutput) return undefined;
  const { explainDisk } = await import("../core/disk.ts");
  const trouble = explainDisk(error, env, process.platform);
  return trouble && { code: "system", ...trouble, exit: 1, retryable: false };
}

function describe(error: unknown, options: ReportOptions): Report {
  const { facts, aside, debug } = options;
  if (error instanceof KnotlessError) {
    return {
      code: error.code,
      message: error.message,
      hint: error.hint === undefined
        ? explains(error, aside)
        : spellHint(error.hint, facts, options),
      exit: error.exit,
      retryable: error.retryable,
      details: error.facts,
    };
  }
  const message = quote(error instanceof Error ? error.message : String(error));
  if (error instanceof FailedOutput) {
    return {
      code: "system",
      message: `cannot write on stdout: ${message}`,
      hint: "what was printed is not whole; what the command does beside that is done",
      exit: 1,
      retryable: false,
    };
  }
  // A full disk or a folder that may not be written is the machine's matter, not a bug.
  if (error instanceof Error && "syscall" in error) {
    return { code: "system", message, exit: 1, retryable: false };
  }
  const name = error instanceof Error ? error.name : "thrown";
  return {
    code: "bug",
    message: `a bug in knotless: ${name}: ${message}`,
    hint: debug ? undefined : "run it again with --debug, and report what it says",
    exit: 70,
    retryable: false,
  };
}

function explains(error: KnotlessError, aside: string | undefined): string | undefined {
  const isOfRepo = error instanceof NotFoundError ||
    (error instanceof UsageError && /^repo\b/.test(error.message));
  return isOfRepo ? aside : undefined;
}

/** What the chain of causes adds to the message. */
function causeOf(error: unknown, message: string): string | undefined {
  const said: string[] = [];
  let cause = error instanceof Error ? error.cause : undefined;
  for (let depth = 0; depth < 4 && cause instanceof Error; depth++, cause = cause.cause) {
    const text = quote(cause.message.replace(CHATTER, "").trim());
    if (text && ![message, ...said].some((earlier) => earlier.includes(text))) said.push(text);
  }
  return said.length ? said.join(": ") : undefined;
}
