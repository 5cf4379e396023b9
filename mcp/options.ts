import type { Fact } from "../core/facts.ts";
import type { AnswerSchema } from "../core/form.ts";
import type { Complete } from "./completion.ts";
import type { Method } from "./connection.ts";
import type { Pace } from "./pace.ts";
import type { Runner } from "./run.ts";
import type { ServerWatch } from "./versions.ts";

/** What is offered in either era beside the list of tools; loaded when one of them is first asked for. */
export const OFFERED = [
  "tools/call",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "completion/complete",
] as const;

/** A method that both eras have. */
export type OfferedMethod = (typeof OFFERED)[number];

/** What MCP offers of the command table, in either era. */
export type Offer = Readonly<Record<OfferedMethod, Method>>;

/** What a server offers and how it runs it. */
export interface ServerOptions extends Omit<Runner, "works"> {
  readonly version: string;
  /** Loads the commands as plain data. */
  facts(): Promise<readonly Fact[]>;
  /** Loads what the answers of commands look like, by the commands' names. */
  answers(): Promise<Readonly<Record<string, AnswerSchema>>>;
  /** Gives the values that begin with a text, from what is on this machine. */
  readonly complete: Complete;
  readonly pace: Pace;
  readonly versions: ServerWatch;
  /** Takes an error that is a bug. */
  report(error: unknown): void;
}
