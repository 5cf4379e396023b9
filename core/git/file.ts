import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { CorruptError } from "../errors.ts";

/** Views of up to this many bytes come from a window that is kept; each window holds two of these. */
const BLOCK = 16384;
const WINDOWS = 8;

/** A file read by position, through a few windows that are used again. */
export class PositionedFile implements Disposable {
  readonly size: number;
  readonly #fd: number;
  readonly #windows = new Map<number, Uint8Array>();

  /** Opens the file for reading. */
  constructor(path: string) {
    this.#fd = openSync(path, "r");
    this.size = fstatSync(this.#fd).size;
  }

  /** Gives `length` bytes from `at`, fewer at the end of the file; they hold only until the next call. */
  view(at: number, length: number): Uint8Array {
    const end = Math.min(at + length, this.size);
    if (end <= at) return new Uint8Array();
    if (end - at > BLOCK) return this.read(at, end - at);
    const block = Math.floor(at / BLOCK);
    const start = block * BLOCK;
    return this.#window(block).subarray(at - start, end - start);
  }

  /** Gives a copy of just `length` bytes from `at`; a CorruptError when the file ends before. */
  read(at: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    this.#fill(bytes, at);
    return bytes;
  }

  /** Closes the file. */
  close(): void {
    this.#windows.clear();
    closeSync(this.#fd);
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.close();
  }

  #window(block: number): Uint8Array {
    const known = this.#windows.get(block);
    if (known !== undefined) return known;
    const window = this.#oldest() ?? new Uint8Array(Math.min(2 * BLOCK, this.size));
    const start = block * BLOCK;
    this.#fill(window.subarray(0, Math.min(window.length, this.size - start)), start);
    this.#windows.set(block, window);
    return window;
  }

  /** Takes the window that was filled first, once there are enough. */
  #oldest(): Uint8Array | undefined {
    if (this.#windows.size < WINDOWS) return undefined;
    for (const [block, window] of this.#windows) {
      this.#windows.delete(block);
      return window;
    }
    return undefined;
  }

  #fill(bytes: Uint8Array, at: number): void {
    for (let done = 0; done < bytes.length;) {
      const count = readSync(this.#fd, bytes, done, bytes.length - done, at + done);
      if (count === 0) throw new CorruptError("a file of the repository ends early");
      done += count;
    }
  }
}
