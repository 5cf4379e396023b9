/** Keeps in memory the values used last, up to a number of bytes; one over a quarter of the room is not kept. */
export class Recent<V> {
  readonly #most: number;
  readonly #kept = new Map<string, { readonly value: V; readonly bytes: number }>();
  #bytes = 0;

  /** Makes room for `most` bytes. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The value kept under the key. */
  get(key: string): V | undefined {
    const found = this.#kept.get(key);
    if (found === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    return found.value;
  }

  /** Keeps a value of about so many bytes. */
  set(key: string, value: V, bytes: number): void {
    if (bytes > this.#most / 4) return;
    this.#forget(key);
    this.#kept.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#most) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0;
    this.#kept.delete(key);
  }
}
