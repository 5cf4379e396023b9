import { read, write } from "node:fs";
import process from "node:process";

const STDIN = 0;
const STDOUT = 1;
const CHUNK_BYTES = 64 << 10;
/** How long to leave a pipe that is full and would not block. */
const FULL_MS = 2;

/** The bytes of stdin as they come, until it ends or breaks. */
export async function* readInput(): AsyncGenerator<Uint8Array> {
  while (true) {
    const chunk = await readChunk();
    if (chunk === "not ready") break;
    if (chunk.length === 0) return;
    yield chunk;
  }
  // Somebody made the pipe one that does not block: only the stream can wait for it.
  yield* process.stdin;
}

function readChunk(): Promise<Uint8Array | "not ready"> {
  const bytes = new Uint8Array(CHUNK_BYTES);
  return new Promise((resolve) =>
    read(STDIN, bytes, 0, bytes.length, null, (error, count) => {
      if (error?.code === "EAGAIN") resolve("not ready");
      // A stdin that fails, as that of a closed terminal does, has ended too.
      else resolve(error ? new Uint8Array() : bytes.subarray(0, count));
    })
  );
}

/** Stdout as a queue: what is written comes out whole and in order, however little the pipe takes at once. */
export class Output {
  /** Resolves when nobody reads any more; what is written then is dropped. */
  readonly broken: Promise<void>;
  #break: () => void = () => {};
  #isBroken = false;
  #tail: Promise<void> = Promise.resolve();
  #backlog = 0;

  constructor() {
    this.broken = new Promise((resolve) => this.#break = resolve);
  }

  /** How many bytes wait to be taken. */
  get backlog(): number {
    return this.#backlog;
  }

  /** Writes the text after all that was written before; resolves when it is out, or never will be. */
  write(text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    this.#backlog += bytes.length;
    return this.#tail = this.#tail.then(() => this.#push(bytes));
  }

  /** Resolves when all that was written is out. */
  flushed(): Promise<void> {
    return this.#tail;
  }

  async #push(bytes: Uint8Array): Promise<void> {
    let rest = bytes;
    while (rest.length > 0 && !this.#isBroken) {
      const count = await writeSome(rest);
      if (count === undefined) {
        this.#isBroken = true;
        this.#break();
      } else rest = rest.subarray(count);
    }
    this.#backlog -= bytes.length;
  }
}

/** Writes as much as stdout takes now and gives how much; undefined when it takes no more at all. */
function writeSome(bytes: Uint8Array): Promise<number | undefined> {
  return new Promise((resolve) =>
    write(STDOUT, bytes, 0, bytes.length, null, (error, count) => {
      if (error?.code === "EAGAIN") setTimeout(resolve, FULL_MS, 0);
      else resolve(error ? undefined : count);
    })
  );
}
