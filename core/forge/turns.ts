import { setImmediate } from "node:timers/promises";
import type { ReadContext } from "../context.ts";

/** How long long work goes on before other work has its turn: an answer has a dozen turns, and waits before each. */
const TURN_MS = 20;

/** Long work of an answer in turns with other work. */
export class Turns {
  readonly #context: Pick<ReadContext, "now" | "signal">;
  #since: number;
  #before = 0;

  constructor(context: Pick<ReadContext, "now" | "signal">) {
    this.#context = context;
    this.#since = context.now().getTime();
  }

  /** The milliseconds of its turns, without those of others. */
  get worked(): number {
    return this.#before + this.#context.now().getTime() - this.#since;
  }

  /** Gives way when its turn has been long enough; throws when nobody waits for the answer any more. */
  async take(): Promise<void> {
    const { now, signal } = this.#context;
    const took = now().getTime() - this.#since;
    if (took < TURN_MS) return;
    await setImmediate();
    signal.throwIfAborted();
    this.#before += took;
    this.#since = now().getTime();
  }
}
