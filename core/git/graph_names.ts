import { Buffer } from "node:buffer";
import { concat } from "./bytes.ts";

/** The most bytes of paths a graph names; the lists of commits that would need more are left to the trees. */
const MAX_BYTES = 64 << 20;

/** Paths, as text of one character a byte, with the numbers that lists of changes use for them. */
export class PathNames {
  readonly #stored: Uint8Array;
  readonly #added: string[] = [];
  #addedBytes = 0;
  #text: string | undefined;
  #numbers: Map<string, number> | undefined;

  /** Takes the paths stored: each ended by a NUL, one more NUL before the first. */
  constructor(stored: Uint8Array) {
    this.#stored = stored;
  }

  /** Whether no more paths are taken. */
  get isFull(): boolean {
    return this.#stored.length + this.#addedBytes > MAX_BYTES;
  }

  /** The number of a path, undefined when no list has it. */
  find(path: string): number | undefined {
    if (this.#numbers !== undefined) return this.#numbers.get(path);
    const text = this.#stored.length === 0 ? "\0" : this.#read();
    const at = text.indexOf(`\0${path}\0`);
    if (at < 0) return undefined;
    let number = 0;
    for (let end = text.indexOf("\0", 1); end <= at && end > 0; end = text.indexOf("\0", end + 1)) {
      number++;
    }
    return number;
  }

  /** The number of a path, a new one when it has none. */
  number(path: string): number {
    const numbers = this.#numbers ??= this.#index();
    const known = numbers.get(path);
    if (known !== undefined) return known;
    const number = numbers.size;
    numbers.set(path, number);
    this.#added.push(path);
    this.#addedBytes += path.length + 1;
    return number;
  }

  /** All of them, as they are stored. */
  bytes(): Uint8Array {
    if (this.#added.length === 0) return this.#stored;
    const start = this.#stored.length === 0 ? Uint8Array.of(0) : this.#stored;
    return concat([start, Buffer.from(`${this.#added.join("\0")}\0`, "latin1")]);
  }

  #read(): string {
    const { buffer, byteOffset, length } = this.#stored;
    return this.#text ??= Buffer.from(buffer, byteOffset, length).toString("latin1");
  }

  #index(): Map<string, number> {
    const paths = this.#stored.length === 0 ? [] : this.#read().slice(1, -1).split("\0");
    return new Map(paths.map((path, number) => [path, number]));
  }
}
