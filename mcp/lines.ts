import { Buffer } from "node:buffer";

const NEWLINE = 0x0a;

/** Puts chunks of bytes together into lines of text; a line over `limit` bytes is dropped and told once. */
export class LineReader {
  #parts: Uint8Array[] = [];
  #size = 0;
  #dropping = false;
  readonly #limit: number;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: () => void;

  constructor(limit: number, onLine: (line: string) => void, onTooLong: () => void) {
    this.#limit = limit;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  /** Takes the next bytes of the stream. */
  push(chunk: Uint8Array): void {
    let start = 0;
    while (true) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      this.#add(chunk.subarray(start, end));
      this.end();
      start = end + 1;
    }
    this.#add(chunk.subarray(start));
  }

  /** Takes what has come as a whole line: at a newline, and at the end of the stream. */
  end(): void {
    const line = Buffer.concat(this.#parts).toString("utf8").trim();
    this.#parts = [];
    this.#size = 0;
    this.#dropping = false;
    if (line !== "") this.#onLine(line);
  }

  #add(part: Uint8Array): void {
    if (this.#dropping || part.length === 0) return;
    this.#size += part.length;
    if (this.#size <= this.#limit) {
      this.#parts.push(part);
      return;
    }
    this.#parts = [];
    this.#dropping = true;
    this.#onTooLong();
  }
}
