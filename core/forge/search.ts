import type { ReadContext } from "../context.ts";
import { quote, UsageError } from "../errors.ts";
import { lenientText } from "../git/bytes.ts";
import type { Oid } from "../git/object.ts";
import { quotePath } from "../git/path.ts";
import { lineFinder } from "../git/search.ts";
import { type FoundLines, scopeOf, searchFiles } from "../git/search_tree.ts";
import { lineAt, type Lines, splitLines } from "../git/text.ts";
import { indexesOf } from "../mirror/indexes.ts";
import { growIndex } from "./indexing.ts";
import { noSuchPath } from "./no_path.ts";
import type { Page } from "./paging.ts";
import { commitAt, pathBytes, type Place, type Reading, treeOf } from "./reading.ts";
import { Turns } from "./turns.ts";

/** The bytes of files that the index lacks one answer reads. */
const ALLOWANCE = 64 << 20;
/** A longer line is cut around what was found. */
const LINE_LENGTH = 300;
/** With context, an answer ends early when it has so many characters for each line it may give. */
const LENGTH_A_LINE = 600;

/** A line that holds what was looked for; lines count from 1. */
export type Match = {
  readonly path: string;
  readonly line: number;
  readonly text: string;
};

/** Lines around matches: `matches` are the numbers of those that match. */
export interface MatchRun {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly matches: readonly number[];
  readonly text: string;
}

/** What a search found: `matches`, or `runs` when context was asked for. */
export interface Found {
  readonly commit: Oid;
  readonly matches?: readonly Match[];
  readonly runs?: readonly MatchRun[];
  readonly more?: boolean;
  readonly cursor?: string;
}

/** What a search is asked for. */
export interface SearchAsked extends Place, Page {
  readonly text: string;
  readonly context?: number | undefined;
}

/** Where an answer goes on: a file by its place, and the first of its lines, from 0. */
interface Position {
  readonly place: number;
  readonly line: number;
}

/** The lines of text files that hold a string in any case, by path and line; with `context` runs of lines around them. */
export async function searchText(
  context: Pick<ReadContext, "later" | "note" | "now" | "signal">,
  reading: Reading,
  asked: SearchAsked,
): Promise<Found> {
  const { text, path = "" } = asked;
  const { objects, repository } = reading;
  if (/[\n\0]/.test(text)) throw new UsageError("text is a string of one line");
  const { pinned, place, line } = readPosition(asked.cursor);
  const { commit } = commitAt(reading, pinned ?? asked.rev);
  const tree = treeOf(objects, commit);
  const bytes = pathBytes(path);
  const isInScope = scopeOf(objects, tree, bytes);
  if (isInScope === undefined) throw noSuchPath(reading, commit, bytes);
  const indexes = indexesOf(repository.mirror.path, objects);
  const files = searchFiles(objects, indexes.files(tree), {
    find: lineFinder(text),
    isInScope,
    mayHold: indexes.trigrams.holders(text),
    from: place,
    allowance: { left: ALLOWANCE },
  });
  const { picks, next, isCut } = await pick(files, { place, line }, asked, new Turns(context));
  if (isCut) {
    context.note(
      "this repository is not indexed yet: not all files were searched; go on with the cursor",
    );
  }
  const isNowhere = picks.length === 0 && next === undefined && asked.cursor === undefined &&
    !indexes.files(tree).some((file) => isInScope(file.path));
  if (isNowhere) context.note(`no file that can be searched is at ${quote(quotePath(bytes))}`);
  await growIndex(context, reading, "search");
  const cut = cutter(text);
  return {
    commit,
    ...(asked.context === undefined
      ? { matches: picks.flatMap((pick) => matchesOf(pick, cut)) }
      : { runs: picks.flatMap((pick) => runsOf(pick, asked.context ?? 0, cut)) }),
    ...(next && { more: true, cursor: `${commit}.${next.place}.${next.line}` }),
  };
}

/** Some lines of one file that match. */
interface Picked {
  readonly path: string;
  readonly split: Lines;
  readonly lines: number[];
}

/** Takes matches up to the limit, and says where the next one is, or where the search was cut short. */
async function pick(
  files: Generator<FoundLines | undefined, number | undefined>,
  from: Position,
  { context, limit }: SearchAsked,
  turns: Turns,
): Promise<{ picks: Picked[]; next?: Position; isCut: boolean }> {
  const picks: Picked[] = [];
  const most = context === undefined ? Infinity : limit * LENGTH_A_LINE;
  let count = 0;
  let length = 0;
  for (let step = files.next();; step = files.next()) {
    if (step.done) {
      const place = step.value;
      return place === undefined
        ? { picks, isCut: false }
        : { picks, next: { place, line: 0 }, isCut: true };
    }
    await turns.take();
    if (step.value === undefined) continue;
    const { place, path, bytes, lines } = step.value;
    const split = splitLines(bytes);
    const pick: Picked = { path: quotePath(bytesOf(path)), split, lines: [] };
    picks.push(pick);
    for (const line of lines) {
      if (place === from.place && line < from.line) continue;
      if (count === limit || length > most) return { picks, next: { place, line }, isCut: false };
      pick.lines.push(line);
      count++;
      length += lengthAround(split, line, context ?? 0);
    }
  }
}

function lengthAround({ starts, count }: Lines, line: number, context: number): number {
  const last = Math.min(count, line + context + 1);
  return (starts[last] ?? 0) - (starts[Math.max(0, line - context)] ?? 0);
}

function matchesOf({ path, split, lines }: Picked, cut: (line: string) => string): Match[] {
  return lines.map((line) => ({ path, line: line + 1, text: cut(textOf(split, line)) }));
}

function runsOf(
  { path, split, lines }: Picked,
  context: number,
  cut: (line: string) => string,
): MatchRun[] {
  const runs: { start: number; end: number; matches: number[] }[] = [];
  for (const line of lines) {
    const start = Math.max(0, line - context);
    const end = Math.min(split.count - 1, line + context);
    const last = runs.at(-1);
    if (last === undefined || start > last.end + 1) runs.push({ start, end, matches: [line + 1] });
    else {
      last.end = end;
      last.matches.push(line + 1);
    }
  }
  return runs.map(({ start, end, matches }) => {
    const text = Array.from(
      { length: end - start + 1 },
      (_, at) => cut(textOf(split, start + at)),
    );
    return { path, start: start + 1, end: end + 1, matches, text: text.join("\n") };
  });
}

function textOf(split: Lines, line: number): string {
  return lenientText(lineAt(split, line)).replace(/\n$/, "");
}

/** Gives what cuts a long line to a part that holds what was looked for, an ellipsis where something is missing. */
function cutter(text: string): (line: string) => string {
  const needle = text.toLowerCase();
  return (line) => {
    if (line.length <= LINE_LENGTH) return line;
    const found = Math.max(0, line.toLowerCase().indexOf(needle));
    const start = Math.max(0, Math.min(found - LINE_LENGTH / 3, line.length - LINE_LENGTH));
    const part = line.slice(start, start + LINE_LENGTH).toWellFormed();
    const isWhole = start + LINE_LENGTH >= line.length;
    return `${start > 0 ? "…" : ""}${part}${isWhole ? "" : "…"}`;
  };
}

function bytesOf(path: string): Uint8Array {
  return Uint8Array.from(path, (letter) => letter.charCodeAt(0));
}

function readPosition(cursor: string | undefined): Position & { readonly pinned?: Oid } {
  if (cursor === undefined || cursor === "") return { place: 0, line: 0 };
  const [, pinned, place, line] = /^([0-9a-f]{40})\.(\d{1,9})\.(\d{1,9})$/.exec(cursor) ?? [];
  if (pinned === undefined) {
    throw new UsageError(`cursor is ${quote(cursor)}: give the one an earlier answer had`);
  }
  return { pinned, place: Number(place), line: Number(line) };
}
