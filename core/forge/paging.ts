import { quote, UsageError } from "../errors.ts";
import type { Oid } from "../git/object.ts";

/** Which part of a list is asked for. */
export interface Page {
  readonly limit: number;
  /** Where an earlier answer ended. */
  readonly cursor?: string | undefined;
}

/** Makes a cursor that pins the commit an answer was given at and says how many items came before. */
export function writeCursor(commit: Oid, start: number): string {
  return `${commit}.${start}`;
}

/** Reads a cursor of `writeCursor`; anything else is a UsageError. */
export function readCursor(cursor: string | undefined): { pinned?: Oid; start: number } {
  if (cursor === undefined || cursor === "") return { start: 0 };
  const [, pinned, start] = /^([0-9a-f]{40})\.(\d{1,9})$/.exec(cursor) ?? [];
  if (pinned === undefined) {
    throw new UsageError(`cursor is ${quote(cursor)}: give the one an earlier answer had`);
  }
  return { pinned, start: Number(start) };
}
