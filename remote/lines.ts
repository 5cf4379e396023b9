import { readSync, writeSync } from "node:fs";
import { CorruptError } from "../core/errors.ts";

const MOST_BYTES = 1_000_000;
const POLL_MS = 5;

/**
 * Reads the next line that git sends, one character a byte, without its end; undefined when git has gone. It takes a byte
 * at a time: what follows a line may be for the program that serves the connection next.
 */
export function readLine(fd = 0): string | undefined {
  const byte = new Uint8Array(1);
  const bytes: number[] = [];
  while (true) {
    const count = again(() => readSync(fd, byte, 0, 1, null));
    if (count === 0) return undefined;
    const [code = 0] = byte;
    if (code === 0x0a) return Buffer.from(bytes).toString("latin1");
    if (bytes.length === MOST_BYTES) throw new CorruptError("git sent a line that does not end");
    bytes.push(code);
  }
}

/** Sends text of one character a byte to git. */
export function answer(text: string): void {
  writeAll(1, Buffer.from(text, "latin1"));
}

/** Writes on stderr, for a person. */
export function tell(text: string | Uint8Array): void {
  writeAll(2, typeof text === "string" ? Buffer.from(text) : text);
}

/** Text as git's lines carry it: one character a byte of its UTF-8. */
export function toWire(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** The text of a part of a line, or undefined when it is not UTF-8. */
export function fromWire(part: string): string | undefined {
  const bytes = Buffer.from(part, "latin1");
  const text = bytes.toString("utf8");
  return bytes.equals(Buffer.from(text)) ? text : undefined;
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += again(() => writeSync(fd, bytes, at));
}

/** Whoever shares the stream may have made it one that does not wait. */
function again(move: () => number): number {
  while (true) {
    try {
      return move();
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EOF") return 0;
      if (code !== "EAGAIN" && code !== "EWOULDBLOCK") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
    }
  }
}
