import { setImmediate } from "node:timers/promises";
import { CorruptError } from "../errors.ts";
import { CommitGraph } from "../git/graph.ts";
import { collectDropped } from "../git/collect.ts";
import type { GraphColumns } from "../git/graph_columns.ts";
import { compactGraph } from "../git/graph_compact.ts";
import { growGraph } from "../git/graph_grow.ts";
import { type CommitSource, readCommits } from "../git/history.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import { listFiles, readText, type SearchedFile } from "../git/search_tree.ts";
import { openTransient, type TransientObjects } from "../git/transient.ts";
import { NO_TRIGRAMS, type TrigramColumns, TrigramIndex } from "../git/trigram.ts";
import { TrigramGrowth } from "../git/trigram_build.ts";
import { isIndexDamage } from "./columns.ts";
import { type OpenGraph, openGraph, saveGraph } from "./graph_file.ts";
import type { RefTarget } from "./manifest.ts";
import { type OpenTrigrams, openTrigrams, saveTrigrams } from "./trigram_file.ts";

/** How many commits one answer indexes beside itself. */
const COMMITS_A_TIME = 1000;
/** How many are indexed before other work has its turn: an answer has a dozen turns, and waits before each. */
const COMMITS_A_STEP = 8;
/** Fewer new commits than this are listed again by the next process rather than written. */
const COMMITS_WORTH_WRITING = 32;
/** A growing graph is written each time it has so many more, which also keeps what is in memory small. */
const COMMITS_A_WRITE = 1 << 13;
/** A walk asks for commits about this often before the graph is worth opening. */
const COMMITS_BY_OBJECT = 500;
/** The bytes of text one answer indexes beside itself. */
const TEXT_A_TIME = 4 << 20;
/** The bytes of text indexed before other work has its turn. */
const TEXT_A_TURN = 1 << 16;
/** Fewer files than this, with less text, are read at each search instead. */
const FILES_WORTH_WRITING = 64;
const TEXT_WORTH_WRITING = 1 << 18;
const LISTS = 2;

/** What the indexes follow of a mirror: which refs it has now, by full name, and under which CID. */
export interface Indexed {
  readonly refs: ReadonlyMap<string, RefTarget>;
  readonly cid: string;
}

/** A graph that grows towards all that the refs had under a CID reach. */
interface Growth {
  readonly cid: string;
  readonly trees: TransientObjects | undefined;
  readonly steps: Generator<void>;
}

/**
 * The indexes beside a mirror: a commit graph with changed paths, and which blobs hold which three bytes. Neither is ever
 * needed for a right answer. They grow a step at a time, so that a large repository's first answers need not wait.
 */
export class Indexes {
  readonly #path: string;
  readonly #objects: ObjectReader;
  readonly #files = new Map<Oid, readonly SearchedFile[]>();
  #graph: CommitGraph | undefined;
  #graphFile: OpenGraph | undefined;
  #growth: Growth | undefined;
  #wholeAt: string | undefined;
  #searchedAt: Oid | undefined;
  #trigrams: TrigramIndex | undefined;
  #trigramFile: OpenTrigrams | undefined;
  /** One step at a time. */
  #work: Promise<unknown> = Promise.resolve();

  /** Opens the indexes in the folder of the mirror at `path`. */
  constructor(path: string, objects: ObjectReader) {
    this.#path = path;
    this.#objects = objects;
  }

  /** The commit graph as far as it has come. */
  get graph(): CommitGraph {
    if (this.#graph === undefined) {
      this.#graphFile = openGraph(this.#path);
      this.#graph = new CommitGraph(this.#objects, this.#graphFile);
    }
    return this.#graph;
  }

  /** Gives commits to a walk: the first few from their objects, which costs less than opening the graph. */
  commits(): CommitSource {
    if (this.#graph !== undefined) return this.#graph;
    const few = readCommits(this.#objects);
    let asked = 0;
    return {
      commit: (oid) => ++asked > COMMITS_BY_OBJECT ? this.graph.commit(oid) : few.commit(oid),
    };
  }

  /** The search index as far as it has come. */
  get trigrams(): TrigramIndex {
    if (this.#trigrams === undefined) {
      this.#trigramFile = openTrigrams(this.#path);
      this.#trigrams = new TrigramIndex(this.#trigramFile ?? NO_TRIGRAMS);
    }
    return this.#trigrams;
  }

  /** The files of a tree that may be searched; the last lists are kept. */
  files(tree: Oid): readonly SearchedFile[] {
    const files = this.#files.get(tree) ?? listFiles(this.#objects, tree);
    this.#files.delete(tree);
    this.#files.set(tree, files);
    for (const oldest of this.#files.keys()) {
      if (this.#files.size <= LISTS) break;
      this.#files.delete(oldest);
    }
    return files;
  }

  /** Takes the graph a step further towards all that the refs reach, and keeps it; true when it is there. */
  async growGraph(indexed: Indexed): Promise<boolean> {
    return await this.#inTurn(() => this.#growGraph(indexed, COMMITS_A_TIME, COMMITS_A_TIME));
  }

  /** Takes the search index a step further towards all texts of a tree, and keeps it; true when it is there. */
  async growTrigrams(tree: Oid): Promise<boolean> {
    return await this.#inTurn(() => this.#growTrigrams(tree));
  }

  /** Whether both have all that the refs and the tree reach. */
  isWhole({ cid }: Indexed, tree: Oid | undefined): boolean {
    return this.#wholeAt === cid && (tree === undefined || this.#searchedAt === tree);
  }

  /** Makes both whole, that one first, giving way to other work after each small step. */
  async build(
    indexed: Indexed,
    tree: Oid | undefined,
    signal: AbortSignal,
    first: "graph" | "search" = "graph",
  ): Promise<void> {
    using trees = openTransient(this.#path, this.#objects);
    const graph = () => this.#growGraph(indexed, COMMITS_A_STEP, COMMITS_A_WRITE, trees);
    const search = async () => {
      const isWhole = tree === undefined || await this.#growTrigrams(tree, trees);
      // A step takes many times its text, and the next would take that beside it.
      collectDropped();
      return isWhole;
    };
    for (const step of first === "graph" ? [graph, search] : [search, graph]) {
      for (let isWhole = false; !isWhole;) {
        await setImmediate();
        signal.throwIfAborted();
        isWhole = await this.#inTurn(step);
      }
    }
  }

  async #growGraph(
    { refs, cid }: Indexed,
    most: number,
    aWrite: number,
    trees?: TransientObjects,
  ): Promise<boolean> {
    if (this.#wholeAt === cid) return true;
    if (this.#growth?.cid !== cid || this.#growth.trees !== trees) {
      // Only what is put together knows where an unfinished growth stopped.
      if (this.graph.listed > 0) this.#compact();
      this.#growth = { cid, trees, steps: growGraph(this.graph, this.#tips(refs), trees) };
    }
    const isWhole = advance(this.#growth.steps, most);
    trees?.turn();
    const { listed } = this.graph;
    if (listed >= (isWhole ? COMMITS_WORTH_WRITING : aWrite)) {
      await this.#keep(() => saveGraph(this.#path, this.#compact()));
      // The columns before, and what they were made of.
      collectDropped();
    }
    if (isWhole) {
      this.#growth = undefined;
      this.#wholeAt = cid;
    }
    return isWhole;
  }

  #compact(): GraphColumns {
    const columns = compactGraph(this.graph);
    this.#graph = new CommitGraph(this.#objects, columns);
    this.#growth = undefined;
    this.#graphFile?.[Symbol.dispose]();
    this.#graphFile = undefined;
    return columns;
  }

  /** The commits that refs name, without what is no commit. */
  #tips(refs: Indexed["refs"]): Oid[] {
    const tips = [...refs.values()].map(({ oid, peeled }) => peeled ?? oid);
    return tips.filter((oid) => this.graph.has(oid) || this.#objects.info(oid)?.kind === "commit");
  }

  async #growTrigrams(tree: Oid, texts?: TransientObjects): Promise<boolean> {
    if (this.#searchedAt === tree) return true;
    const known = this.trigrams;
    const all = new Set(this.files(tree).map(({ oid }) => oid));
    const lacking = new Set([...all].filter((oid) => !known.has(oid)));
    if (!this.#isWorthIndexing(lacking)) {
      this.#searchedAt = tree;
      return true;
    }
    // Blobs that files have no more only cost room: with too many of them it starts anew.
    const isStale = known.columns.count > 2 * all.size + FILES_WORTH_WRITING;
    const before = isStale ? NO_TRIGRAMS : known.columns;
    const wanted = isStale ? all : lacking;
    const columns = await this.#extend(before, wanted, texts);
    this.#trigrams = new TrigramIndex(columns);
    this.#trigramFile?.[Symbol.dispose]();
    this.#trigramFile = undefined;
    await this.#keep(async () => {
      await saveTrigrams(this.#path, columns);
      // Opened again it leaves the lists in the file.
      this.#trigrams = undefined;
    });
    return columns.count - before.count === wanted.size;
  }

  #isWorthIndexing(blobs: ReadonlySet<Oid>): boolean {
    if (blobs.size >= FILES_WORTH_WRITING) return true;
    let bytes = 0;
    for (const oid of blobs) bytes += this.#objects.info(oid)?.size ?? 0;
    return bytes >= TEXT_WORTH_WRITING;
  }

  /** Adds blobs up to as much text as one step takes, giving way to other work in between. */
  async #extend(
    before: TrigramColumns,
    blobs: Iterable<Oid>,
    texts?: TransientObjects,
  ): Promise<TrigramColumns> {
    const growth = new TrigramGrowth(before);
    let left = TEXT_A_TIME;
    let turn = TEXT_A_TURN;
    for (const oid of blobs) {
      if (left <= 0) break;
      if (turn <= 0) {
        await setImmediate();
        turn = TEXT_A_TURN;
      }
      const text = readText(texts ?? this.#objects, oid);
      growth.add({ oid, text });
      const length = text?.length ?? 0;
      texts?.turn();
      left -= length;
      turn -= length;
    }
    return growth.columns();
  }

  /** Leaves the files open: an answer that waits meanwhile may read on. */
  async #forget(): Promise<void> {
    this.#graph =
      this.#graphFile =
      this.#growth =
      this.#wholeAt =
        undefined;
    this.#trigrams = this.#trigramFile = this.#searchedAt = undefined;
    const { dropDamagedIndexes } = await import("./damage.ts");
    await dropDamagedIndexes(this.#path);
  }

  /** An index that cannot be written is made again next time. */
  async #keep(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
    }
  }

  /** Takes a step, anew from no index when the one there is damaged. */
  async #inTurn(step: () => Promise<boolean>): Promise<boolean> {
    const turn = this.#work.then(async () => {
      try {
        return await step();
      } catch (error) {
        if (!isIndexDamage(error)) throw error;
        await this.#forget();
        return false;
      }
    });
    this.#work = turn.catch(() => undefined);
    return await turn;
  }
}

/** Takes so many steps; true when there are no more. A history that lacks commits is indexed as far as it goes. */
function advance(steps: Generator<void>, most: number): boolean {
  try {
    for (let done = 0; done < most; done++) if (steps.next().done) return true;
    return false;
  } catch (error) {
    if (error instanceof CorruptError && !isIndexDamage(error)) return true;
    throw error;
  }
}

const opened = new WeakMap<ObjectReader, Indexes>();

/** The indexes of the mirror at `path`, the same ones as long as its object store is open. */
export function indexesOf(path: string, objects: ObjectReader): Indexes {
  const indexes = opened.get(objects) ?? new Indexes(path, objects);
  opened.set(objects, indexes);
  return indexes;
}
