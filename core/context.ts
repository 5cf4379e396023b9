import type { Account, Identity } from "./atproto/identity.ts";
import type { Records } from "./atproto/records.ts";
import type { Writer } from "./atproto/writer.ts";
import type { Sessions } from "./atproto/session.ts";
import type { Later } from "./background.ts";
import type { Freshness } from "./mirror/view.ts";
import type { Mirrors } from "./mirror/mirrors.ts";

/** What a command may do: a read has no writer, a machine command acts on this machine and has no tool. */
export type Kind = "read" | "write" | "machine";

/** What a command that only reads may use. */
export interface ReadContext {
  /** Whom the command reads as, if anyone is signed in; an AuthError where that login cannot be read. */
  reader(): Promise<Account | undefined>;
  readonly identity: Identity;
  readonly records: Records;
  readonly mirrors: Mirrors;
  readonly freshness: Freshness;
  /** The appview's base URL, when one is configured. */
  readonly appview: string | undefined;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  now(): Date;
  /** Says something beside the answer: a second text over MCP, a line on stderr. */
  note(text: string): void;
  /** Tells how far long work has come. */
  progress(text: string, done?: number, total?: number): void;
  /** Takes work that no answer waits for. */
  readonly later: Later;
}

/** What a command that writes may use as well. */
export interface WriteContext extends ReadContext {
  readonly account: Account;
  readonly writer: Writer;
  /** Author and committer of the commits knotless makes. */
  readonly author: { readonly name: string; readonly email: string };
  /** A fresh TID, later than any it gave before. */
  tid(): string;
  /** From 0 up to 1. */
  random(): number;
}

/** What a command that acts on this machine may use as well. */
export interface MachineContext extends ReadContext {
  readonly sessions: Sessions;
  /** A write context for the account at hand; throws an AuthError without one. */
  writing(): Promise<WriteContext>;
  /** Environment, folders and streams of this machine. */
  readonly machine: Machine;
}

/** The part of this machine that a machine command may touch; the surface makes it. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly configDir: string;
  readonly stateDir: string;
  readonly cacheDir: string;
  /** The program that runs, as an absolute path, and the arguments that make it knotless. */
  readonly program: readonly string[];
  /** Reads one line from stdin; undefined when it has ended, or once `signal` says that nobody waits for it. */
  readLine(signal?: AbortSignal): Promise<string | undefined>;
  /** As `readLine`, but a terminal does not show what is typed. */
  readSecret(): Promise<string | undefined>;
  /** True when a person can be asked. */
  readonly interactive: boolean;
  /** True where it was said that no one is to be waited for. */
  readonly noInput: boolean;
  /** Writes a line on stderr for a person. */
  say(text: string): void;
  /** Opens a URL in the browser; false when there is none. */
  browse(url: string): Promise<boolean>;
}

export interface Contexts {
  readonly read: ReadContext;
  readonly write: WriteContext;
  readonly machine: MachineContext;
}
