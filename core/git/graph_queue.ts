/** Commits by number, the latest date first; of one date, the first put in first, as git's lists do. */
export class NumberQueue {
  readonly #numbers: number[] = [];
  readonly #times: number[] = [];
  readonly #orders: number[] = [];
  #puts = 0;

  /** How many wait. */
  get size(): number {
    return this.#numbers.length;
  }

  /** The date of the commit that would be taken next; -Infinity when none waits. */
  get nextTime(): number {
    return this.#times[0] ?? -Infinity;
  }

  put(number: number, time: number): void {
    const order = this.#puts++;
    let at = this.#numbers.length;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (!this.#isBefore(time, order, up)) break;
      this.#move(up, at);
      at = up;
    }
    this.#set(at, number, time, order);
  }

  /** Takes the next; undefined when none waits. */
  take(): number | undefined {
    const first = this.#numbers[0];
    const number = this.#numbers.pop();
    const time = this.#times.pop();
    const order = this.#orders.pop();
    const size = this.#numbers.length;
    if (number === undefined || time === undefined || order === undefined || size === 0) {
      return first;
    }
    let at = 0;
    for (let below = 1; below < size; below = 2 * at + 1) {
      if (below + 1 < size && this.#isEarlier(below + 1, below)) below++;
      if (this.#isBefore(time, order, below)) break;
      this.#move(below, at);
      at = below;
    }
    this.#set(at, number, time, order);
    return first;
  }

  #isBefore(time: number, order: number, at: number): boolean {
    const other = this.#times[at] ?? 0;
    return time > other || (time === other && order < (this.#orders[at] ?? 0));
  }

  #isEarlier(one: number, other: number): boolean {
    return this.#isBefore(this.#times[one] ?? 0, this.#orders[one] ?? 0, other);
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#numbers[from] ?? 0, this.#times[from] ?? 0, this.#orders[from] ?? 0);
  }

  #set(at: number, number: number, time: number, order: number): void {
    this.#numbers[at] = number;
    this.#times[at] = time;
    this.#orders[at] = order;
  }
}
