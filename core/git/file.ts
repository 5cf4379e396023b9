import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { CorruptError } from "../errors.ts";

/** Views of up to this many bytes come from a window that is kept; each window holds two of these. */
const BLOCK = 16384;
const WINDOWS = 8;
/** Longer views come from a buffer that is used again, up to this many bytes. */
const LONG = 1 << 18;

/** The most bytes of a glance. */
const GLANCE = 2048;

/** A file read by position, through a few windows that are used again. */
export class PositionedFile implements Disposable {
  readonly size: number;
  readonly #fd: number;
  readonly #windows = new Map<number, Uint8Array>();
  readonly #ahead: number;
  readonly #glance = new Uint8Array(GLANCE);
  #long = new Uint8Array();
  #longAt = 0;
  #longLength = 0;

  /** Opens the file for reading; `ahead` bytes at once, when it is read from one end to the other. */
  constructor(path: string, ahead = 0) {
    this.#ahead = ahead;
    this.#fd = openSync(path, "r");
    this.size = fstatSync(this.#fd).size;
  }

  /** Gives `length` bytes from `at`, fewer at the end of the file; they hold only until the next call. */
  view(at: number, length: number): Uint8Array {
    const end = Math.min(at + length, this.size);
    if (end <= at) return new Uint8Array();
    if (end - at > BLOCK || this.#ahead > 0) return this.#longView(at, end);
    const block = Math.floor(at / BLOCK);
    const start = block * BLOCK;
    return this.#window(block).subarray(at - start, end - start);
  }

  /** The same of so few bytes that reading those around them too, as views do, would cost more: no more than `GLANCE`. */
  glance(at: number, length: number): Uint8Array {
    const end = Math.min(at + length, this.size);
    if (end <= at) return new Uint8Array();
    const block = Math.floor(at / BLOCK);
    if (this.#windows.has(block)) return this.view(at, length);
    const bytes = this.#glance.subarray(0, end - at);
    this.#fill(bytes, at);
    return bytes;
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
    this.#long = new Uint8Array();
    closeSync(this.#fd);
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.close();
  }

  #longView(at: number, end: number): Uint8Array {
    const from = at - this.#longAt;
    if (from >= 0 && end <= this.#longAt + this.#longLength) {
      return this.#long.subarray(from, end - this.#longAt);
    }
    const length = Math.min(Math.max(end - at, this.#ahead), this.size - at);
    if (length > Math.max(LONG, this.#ahead)) return this.read(at, end - at);
    if (this.#long.length < length) {
      this.#long = new Uint8Array(Math.min(Math.max(length, this.#ahead), this.size));
    }
    this.#longLength = 0;
    this.#fill(this.#long.subarray(0, length), at);
    this.#longAt = at;
    this.#longLength = length;
    return this.#long.subarray(0, end - at);
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

/** Writes all of the bytes at a place in a file. */
export function writeAt(fd: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(fd, bytes, done, bytes.length - done, at + done);
  }
}
