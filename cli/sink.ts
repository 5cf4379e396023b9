import { fstatSync, statSync, write, writeSync } from "node:fs";
import type { Sink } from "./terminal.ts";

/** How long to leave a pipe that is full and would not block. */
const FULL_MS = 2;
/** An empty pipe takes so much without waiting for who reads it. */
const AT_ONCE = 1 << 16;

/**
 * Opens stdout or stderr: a terminal as the stream that knows its width, all else by its number, since to open a stream
 * takes longer than most commands.
 */
export async function openSink(fd: 1 | 2): Promise<Sink> {
  if (isDevice(fd)) {
    const { openTty } = await import("./tty.ts");
    const stream = openTty(fd);
    if (stream !== undefined) return stream;
  }
  let tail: Promise<void> | undefined;
  return {
    write(chunk, done) {
      const bytes = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
      const rest = tail === undefined && bytes.length <= AT_ONCE ? writeNow(fd, bytes) : bytes;
      if (rest.length === 0) {
        done();
        return true;
      }
      // What is written comes out whole and in order.
      tail = (tail ?? Promise.resolve()).then(() => writeAll(fd, rest)).then(() => done(), done);
      return true;
    },
  };
}

/** True for what may be a terminal; the device that swallows all is none. */
function isDevice(fd: number): boolean {
  try {
    const found = fstatSync(fd);
    return found.isCharacterDevice() &&
      found.rdev !== statSync("/dev/null", { throwIfNoEntry: false })?.rdev;
  } catch {
    return false;
  }
}

/**
 * Writes what is taken at once, and gives the rest. Most commands write once and are done: a thread that writes for them
 * would cost more.
 */
function writeNow(fd: number, bytes: Uint8Array): Uint8Array {
  try {
    return bytes.subarray(writeSync(fd, bytes));
  } catch {
    // What went wrong does so again, and is told then.
    return bytes;
  }
}

async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  let rest = bytes;
  while (rest.length > 0) rest = rest.subarray(await writeSome(fd, rest));
}

/** Writes as much as is taken now, and gives how much that was. */
function writeSome(fd: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) =>
    write(fd, bytes, 0, bytes.length, null, (error, count) => {
      if (error?.code === "EAGAIN") setTimeout(resolve, FULL_MS, 0);
      else if (error) reject(error);
      else resolve(count);
    })
  );
}
