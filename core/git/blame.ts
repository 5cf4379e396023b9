import { passLines, type Span } from "./blame_lines.ts";
import { blobIn, type FoundFile, renamedFrom } from "./blame_parent.ts";
import { LineNumbers, type NumberedText } from "./blame_text.ts";
import { latin1 } from "./bytes.ts";
import { type CommitGraph, UNCHANGED } from "./graph.ts";
import { NO_PARENT } from "./graph_columns.ts";
import type { Allowance } from "./graph_log.ts";
import { NumberQueue } from "./graph_queue.ts";
import type { Oid } from "./object.ts";
import { readObject } from "./walk.ts";

/** How many texts are kept with their lines numbered: what one commit is compared with is often compared next. */
const TEXTS = 8;

/** Lines that follow each other and come from one commit; counted from 0. */
export interface BlameRun {
  readonly commit: Oid;
  readonly start: number;
  readonly count: number;
  /** The first parent that had the file, and the file's path there. */
  readonly previous?: { readonly commit: Oid; readonly path: Uint8Array } | undefined;
}

/** Which lines are asked about, of what. */
export interface BlameStart {
  readonly tip: Oid;
  readonly file: FoundFile;
  /** From this line, counted from 0, up to before `end`. */
  readonly start: number;
  readonly end: number;
  /** When it is used up, lines are said to come from the commits the search came to. */
  readonly allowance?: Allowance;
}

/** A file as a commit has it, and the lines that come from there or from before. */
interface Origin {
  readonly number: number;
  readonly file: FoundFile;
  spans: Span[];
}

interface Settled {
  readonly span: Span;
  readonly number: number;
  readonly previous: Origin | undefined;
}

/** Finds who last changed lines of a file, as `git blame` does, renames of whole files followed; gives control back often. */
export function* blame(graph: CommitGraph, asked: BlameStart): Generator<void, BlameRun[]> {
  const search = new Search(graph, asked);
  while (search.step()) yield;
  return search.runs();
}

/** The commit, in the history of one, that its version of a file is sure to be the same as: where it changed, if that is indexed. */
export function unchangedSince(graph: CommitGraph, commit: Oid, path: Uint8Array): Oid {
  return graph.oid(follow(graph, graph.number(commit), graph.marks(latin1(path))));
}

/** Goes on to where the file changed, along first parents that have it just so. */
function follow(graph: CommitGraph, number: number, markOf: (number: number) => number): number {
  for (let at = number;;) {
    const next = markOf(at) === UNCHANGED ? graph.parent(at) : NO_PARENT;
    if (next === NO_PARENT) return at;
    at = next;
  }
}

class Search {
  readonly #graph: CommitGraph;
  readonly #allowance: Allowance;
  readonly #queue = new NumberQueue();
  readonly #waiting = new Map<number, Origin[]>();
  readonly #marks = new Map<string, (number: number) => number>();
  readonly #settled: Settled[] = [];
  readonly #lines = new LineNumbers();
  readonly #texts = new Map<Oid, NumberedText>();

  constructor(graph: CommitGraph, { tip, file, start, end, allowance }: BlameStart) {
    this.#graph = graph;
    this.#allowance = allowance ?? { left: Infinity };
    const spans = end > start ? [{ line: start, at: start, count: end - start }] : [];
    this.#give(graph.number(tip), file, spans);
  }

  /** Looks at one commit; false when there is none left. */
  step(): boolean {
    const number = this.#queue.take();
    if (number === undefined) return false;
    const origins = this.#waiting.get(number) ?? [];
    this.#waiting.delete(number);
    for (const origin of origins) this.#pass(origin);
    return true;
  }

  /** What was found, in the order of the lines. */
  runs(): BlameRun[] {
    const runs: { settled: Settled; start: number; count: number }[] = [];
    for (const settled of this.#settled.sort((one, other) => one.span.line - other.span.line)) {
      const { line, count } = settled.span;
      const last = runs.at(-1);
      if (last !== undefined && isSameOrigin(last.settled, settled)) last.count += count;
      else runs.push({ settled, start: line, count });
    }
    return runs.map(({ settled: { number, previous }, start, count }) => ({
      commit: this.#graph.oid(number),
      start,
      count,
      previous: previous &&
        { commit: this.#graph.oid(previous.number), path: previous.file.path },
    }));
  }

  #give(number: number, file: FoundFile, spans: Span[]): void {
    const place = this.#unchangedSince(number, latin1(file.path));
    const waiting = this.#waiting.get(place);
    const known = waiting?.find((origin) => latin1(origin.file.path) === latin1(file.path));
    if (known !== undefined) known.spans.push(...spans);
    else if (waiting !== undefined) waiting.push({ number: place, file, spans });
    else {
      this.#waiting.set(place, [{ number: place, file, spans }]);
      this.#queue.put(place, this.#graph.time(place));
    }
  }

  #unchangedSince(number: number, path: string): number {
    let markOf = this.#marks.get(path);
    if (markOf === undefined) this.#marks.set(path, markOf = this.#graph.marks(path));
    return follow(this.#graph, number, markOf);
  }

  #pass(origin: Origin): void {
    const { number, file } = origin;
    if (!this.#graph.hasChanges(number) && this.#allowance.left-- <= 0) {
      this.#allowance.left = 0;
      return this.#settle(origin, undefined);
    }
    const sources = this.#sources(number, file);
    if ("whole" in sources) {
      return this.#give(sources.whole.number, sources.whole.file, origin.spans);
    }
    const newer = this.#text(file.oid);
    for (const source of sources.changed) {
      const older = this.#text(source.file.oid, newer);
      const { passed, kept } = passLines(origin.spans, older, newer, this.#lines.distinct);
      if (passed.length > 0) this.#give(source.number, source.file, passed);
      origin.spans = kept;
      if (kept.length === 0) return;
    }
    this.#settle(origin, sources.changed[0]);
  }

  #text(oid: Oid, like?: NumberedText): NumberedText {
    const known = this.#texts.get(oid);
    if (known !== undefined) return known;
    const text = this.#lines.number(readObject(this.#graph.objects, oid, "blob"), like);
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size < TEXTS) break;
      this.#texts.delete(oldest);
    }
    this.#texts.set(oid, text);
    return text;
  }

  /** Where a file of a commit comes from: the parent that has just the same, or those that have another version. */
  #sources(number: number, file: FoundFile): { whole: Origin } | { changed: Origin[] } {
    const graph = this.#graph;
    const parents = graph.parents(number);
    const found: (Origin | undefined)[] = parents.map(() => undefined);
    for (const find of [blobIn, renamedFrom]) {
      for (const [index, parent] of parents.entries()) {
        if (found[index] !== undefined) continue;
        const there = find(graph.objects, graph.tree(parent), file, graph.tree(number));
        if (there === undefined) continue;
        const origin = { number: parent, file: there, spans: [] };
        if (there.oid === file.oid) return { whole: origin };
        const before = found.slice(0, index);
        if (before.some((other) => other?.file.oid === there.oid)) continue;
        found[index] = origin;
      }
    }
    return { changed: found.filter((origin) => origin !== undefined) };
  }

  #settle({ number, spans }: Origin, previous: Origin | undefined): void {
    for (const span of spans) this.#settled.push({ span, number, previous });
  }
}

function isSameOrigin(one: Settled, other: Settled): boolean {
  return one.number === other.number && one.previous?.number === other.previous?.number &&
    one.previous?.file.oid === other.previous?.file.oid;
}
