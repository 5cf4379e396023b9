import type { Records } from "../atproto/records.ts";

/** What work on a copy needs of the world. */
export interface World {
  readonly records: Records;
  readonly signal: AbortSignal;
  now(): Date;
  /** Fresh text for names of temporary files. */
  unique(): string;
  progress(text: string, done?: number, total?: number): void;
}
