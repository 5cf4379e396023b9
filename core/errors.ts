/** A command named in a message: each surface spells it its own way. */
export interface Suggestion {
  readonly command: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** Advice to sign in again: why the login at hand does not do. */
export interface SignIn {
  readonly signIn: "none" | "ended" | "scope";
  /** Whom as, where that is known: a handle or a DID. */
  readonly account?: string;
}

/** Advice to ask the network again: each surface names what keeps it from doing so. */
export interface GoOnline {
  readonly goOnline: true;
}

export type Hint = string | Suggestion | SignIn | GoOnline;

export interface ErrorDetails {
  /** What to do about it, in words or as a command to run. */
  readonly hint?: Hint | undefined;
  readonly cause?: unknown;
  /** A stable dotted code, such as `conflict.branch_moved`; the class has one of its own. */
  readonly code?: string | undefined;
  /** Facts for a program, shown by `--json` only. */
  readonly facts?: Readonly<Record<string, unknown>> | undefined;
}

/** An error whose message is for the user. Anything else that is thrown is a bug. */
export abstract class KnotlessError extends Error {
  abstract override name: string;
  /** The exit status of the command line. */
  abstract readonly exit: number;
  readonly hint: Hint | undefined;
  readonly code: string;
  readonly facts: Readonly<Record<string, unknown>> | undefined;
  /** True when the same call may succeed later. */
  readonly retryable: boolean = false;

  constructor(kind: string, message: string, { hint, cause, code, facts }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.hint = hint;
    this.code = code ?? kind;
    this.facts = facts;
  }
}

/** The arguments do not fit the command. */
export class UsageError extends KnotlessError {
  override name = "UsageError";
  readonly exit = 2;
  constructor(message: string, details?: ErrorDetails) {
    super("usage", message, details);
  }
}

/** There is no such repository, ref, commit, path, file or record. */
export class NotFoundError extends KnotlessError {
  override name = "NotFoundError";
  readonly exit = 5;
  constructor(message: string, details?: ErrorDetails) {
    super("not_found", message, details);
  }
}

/** A rule of the repository or the forge says no; nothing was written. */
export class RefusedError extends KnotlessError {
  override name = "RefusedError";
  readonly exit = 1;
  constructor(message: string, details?: ErrorDetails) {
    super("refused", message, details);
  }
}

/** It moved under us, is in another state, exists already, or does not merge. */
export class ConflictError extends KnotlessError {
  override name = "ConflictError";
  readonly exit = 6;
  constructor(message: string, details?: ErrorDetails) {
    super("conflict", message, details);
  }
}

/** No login, one that has ended, or one short of a scope. */
export class AuthError extends KnotlessError {
  override name = "AuthError";
  readonly exit = 4;
  constructor(
    reason: SignIn["signIn"],
    message: string,
    { account, ...details }: ErrorDetails & { account?: string } = {},
  ) {
    const hint = { signIn: reason, ...(account !== undefined && { account }) };
    super(`auth.${reason}`, message, { hint, ...details });
  }
}

/** A PDS, an appview or the network failed; `retryable` when trying again may help. */
export class RemoteError extends KnotlessError {
  override name = "RemoteError";
  readonly exit = 7;
  readonly host: string;
  readonly status: number | undefined;
  override readonly retryable: boolean;
  constructor(
    message: string,
    details: ErrorDetails & { host: string; status?: number | undefined; retryable?: boolean },
  ) {
    super("remote", message, details);
    this.host = details.host;
    this.status = details.status;
    this.retryable = details.retryable ?? true;
  }
}

/** The network was not to be asked, and what is on this machine does not do. */
export class OfflineError extends RemoteError {
  override name = "OfflineError";
  constructor(message: string, host = "") {
    super(message, {
      host,
      code: "remote.offline",
      retryable: false,
      hint: { goOnline: true },
    });
  }
}

/** Bytes from elsewhere that break a rule of their format: a pack, an object, a record. */
export class CorruptError extends KnotlessError {
  override name = "CorruptError";
  readonly exit = 1;
  constructor(message: string, details?: ErrorDetails) {
    super("corrupt", message, details);
  }
}

/** This program is older than a server takes. */
export class OutdatedError extends KnotlessError {
  override name = "OutdatedError";
  readonly exit = 10;
  constructor(message: string, details?: ErrorDetails) {
    super("outdated", message, details);
  }
}

/** The person said no: declined to confirm, or left the text empty. */
export class CancelledError extends KnotlessError {
  override name = "CancelledError";
  readonly exit = 3;
  constructor(message: string, details?: ErrorDetails) {
    super("cancelled", message, details);
  }
}

let pattern: RegExp | undefined;

/**
 * Characters of other people's text that steer a terminal or hide from a reader: controls, marks that turn the direction
 * of writing, invisible ones and tags. Joiners between letters beyond ASCII stay: Persian, Hindi and emoji need them.
 */
export function unsafe(): RegExp {
  // To make it takes longer than all else a short command loads.
  return pattern ??=
    /[\p{Cc}\p{Bidi_Control}\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2028\u2029\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|(?<![^\p{ASCII}\u200c\u200d])[\u200c\u200d]|[\u200c\u200d](?![^\p{ASCII}\u200c\u200d])/gu;
}

/** Gives the text with each of its unsafe characters replaced. */
export function replaceUnsafe(text: string, by: (character: string) => string): string {
  // deno-lint-ignore no-control-regex
  const isAscii = /^[\x00-\x7f]*$/.test(text);
  // deno-lint-ignore no-control-regex
  return text.replace(isAscii ? /[\x00-\x1f\x7f]/g : unsafe(), by);
}

/** Gives text from elsewhere fit to quote in a message: one line, nothing unsafe, at most 300 characters. */
export function quote(text: string): string {
  const clean = replaceUnsafe(text.slice(0, 1000), () => "\uFFFD").toWellFormed();
  return clean.length > 300 ? `${clean.slice(0, 299).toWellFormed()}…` : clean;
}
