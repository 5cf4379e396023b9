import type { Surface } from "../core/open.ts";
import type { Exchange } from "./connection.ts";
import type { Pace } from "./pace.ts";
import { spellProgress, startTelling } from "./progress.ts";

/** Outcomes that nobody has come back for are forgotten, the oldest first. */
const MOST_LEFT = 32;

/** What a piece of work may use. */
export type WorkSurface = Pick<Surface, "signal" | "progress">;

/** What there is to say of work that is not done yet. */
export interface Unfinished {
  /** How far it has come, in its own words, if it said so. */
  readonly said: string | undefined;
}

interface Work<T> {
  readonly outcome: Promise<T>;
  readonly controller: AbortController;
  said?: string;
  tell: Surface["progress"];
}

/**
 * The calls of a server under way. One that takes longer than its client waits goes on by itself, and the next call
 * like it gets its outcome: so what is asked twice is done once.
 */
export class Works<T> {
  readonly #pace: Pace;
  /** What was left to go on by itself, the oldest first. */
  readonly #left = new Map<string, Work<T>>();

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** Starts the work, or joins what was left of the same key; gives its outcome, or that it is not done yet. */
  async run(
    key: string,
    exchange: Exchange,
    start: (surface: WorkSurface) => Promise<T>,
  ): Promise<{ readonly done: T } | Unfinished> {
    const work = this.#left.get(key) ?? begin(start);
    this.#left.delete(key);
    const teller = startTelling(exchange, this.#pace.beat);
    work.tell = teller.tell;
    const abort = () => work.controller.abort();
    exchange.signal.addEventListener("abort", abort);
    // It may have been cancelled before it came here.
    if (exchange.signal.aborted) abort();
    try {
      const waits = exchange.meta["progressToken"] === undefined;
      const done = waits ? await this.#within(work) : { done: await work.outcome };
      if (done !== undefined) return done;
      this.#leave(key, work);
      return { said: work.said };
    } finally {
      teller.stop();
      exchange.signal.removeEventListener("abort", abort);
    }
  }

  async #within(work: Work<T>): Promise<{ readonly done: T } | undefined> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, this.#pace.answer, undefined);
    });
    try {
      return await Promise.race([work.outcome.then((done) => ({ done })), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #leave(key: string, work: Work<T>): void {
    // Whoever comes back hears of a failure; until then it is nobody's.
    work.outcome.catch(() => {});
    this.#left.set(key, work);
    for (const [oldest, { controller }] of this.#left) {
      if (this.#left.size <= MOST_LEFT) break;
      controller.abort();
      this.#left.delete(oldest);
    }
  }
}

function begin<T>(start: (surface: WorkSurface) => Promise<T>): Work<T> {
  const controller = new AbortController();
  const work: Work<T> = {
    controller,
    tell: () => {},
    outcome: Promise.resolve().then(() => {
      controller.signal.throwIfAborted();
      return start({
        signal: controller.signal,
        progress(text, done, total) {
          work.said = spellProgress(text, done, total);
          work.tell(text, done, total);
        },
      });
    }),
  };
  return work;
}
