/**
 * Keeps the values used last, up to a number of bytes: two generations, of which the older goes as a whole
 * when the younger has filled half. A value over an eighth of the room is not kept.
 */
export class ByteCache<V> {
  readonly #half: number;
  #young = new Map<number, { value: V; size: number }>();
  #old = new Map<number, { value: V; size: number }>();
  #youngSize = 0;

  /** Makes a cache of at most `bytes`. */
  constructor(bytes: number) {
    this.#half = bytes / 2;
  }

  /** The value kept under the key, if it still is. */
  get(key: number): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young.value;
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.#keep(key, old);
    return old.value;
  }

  /** Keeps a value of so many bytes. */
  set(key: number, value: V, size: number): void {
    // What the maps themselves take counts too, or small values would be without bound.
    if (size <= this.#half / 4) this.#keep(key, { value, size: size + 100 });
  }

  /** Forgets everything. */
  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#youngSize = 0;
  }

  #keep(key: number, entry: { value: V; size: number }): void {
    if (this.#youngSize + entry.size > this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngSize = 0;
    }
    if (!this.#young.has(key)) this.#youngSize += entry.size;
    this.#young.set(key, entry);
  }
}
