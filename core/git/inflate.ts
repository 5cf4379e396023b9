import type { Buffer } from "node:buffer";
import process from "node:process";
import { CorruptError } from "../errors.ts";
import { Inflater, type Sink } from "./inflater.ts";

/** Below this many bytes starting zlib costs more than inflating. */
const SMALL = 256;
/** Until it has been called so often, our own code is slower than zlib even so: the runtime has not compiled it. */
const COLD_CALLS = 200;
/** zlib takes no smaller buffer. */
const ZLIB_LEAST = 64;

let calls = 0;

/** Inflates the zlib stream at `at`, which must give just `size` bytes; undefined when the input ends before the stream. */
export function inflate(
  input: Uint8Array,
  at: number,
  size: number,
): { bytes: Uint8Array; consumed: number } | undefined {
  if (size === 0 || (size <= SMALL && ++calls > COLD_CALLS)) {
    const bytes = new Uint8Array(size);
    const inflater = new Inflater(input, at, bytes);
    const ending = inflater.run();
    if (ending === "full") throw tooLong(size);
    if (ending === "short") return undefined;
    if (inflater.produced !== size) throw wrongSize(inflater.produced, size);
    return { bytes, consumed: inflater.consumed };
  }
  try {
    // Only now, for it takes longer to load than to say which refs there are.
    const { inflateSync } = process.getBuiltinModule("node:zlib");
    // The options' type does not tell that `info` changes the answer.
    const answer: unknown = inflateSync(input.subarray(at), {
      info: true,
      // What fills a chunk to its end has zlib make another, and ask again.
      chunkSize: Math.max(size + 1, ZLIB_LEAST),
      maxOutputLength: size,
    });
    const { buffer, engine } = answer as { buffer: Buffer; engine: { bytesWritten: number } };
    if (buffer.length !== size) throw wrongSize(buffer.length, size);
    return {
      bytes: new Uint8Array(buffer.buffer, buffer.byteOffset, size),
      consumed: engine.bytesWritten,
    };
  } catch (error) {
    if (error instanceof CorruptError) throw error;
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "Z_BUF_ERROR") return undefined;
    if (code === "ERR_BUFFER_TOO_LARGE") throw tooLong(size);
    const isWrong = error instanceof Error && error.message.includes("data check");
    const how = isWrong ? "fails its checksum" : "breaks its format";
    throw new CorruptError(`compressed data ${how}`, { cause: error });
  }
}

/** Gives the first bytes of the zlib stream at `at`, `size` of them or what there is. */
export function inflateStart(input: Uint8Array, at: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  const inflater = new Inflater(input, at, bytes);
  inflater.run();
  return bytes.subarray(0, inflater.produced);
}

/** Inflates a stream of any size through one small buffer; undefined when the pieces end before it. */
export function inflateThrough(
  pieces: () => Uint8Array | undefined,
  size: number,
  sink: Sink,
): { consumed: number } | undefined {
  let given = 0;
  const inflater = new Inflater(new Uint8Array(), 0, new Uint8Array(1 << 17), pieces, (bytes) => {
    given += bytes.length;
    if (given > size) throw tooLong(size);
    sink(bytes);
  });
  if (inflater.run() === "short") return undefined;
  if (given !== size) throw wrongSize(given, size);
  return { consumed: inflater.consumed };
}

function tooLong(size: number): CorruptError {
  return new CorruptError(`an object inflates to more than the ${size} bytes it says it has`);
}

function wrongSize(given: number, size: number): CorruptError {
  return new CorruptError(`an object inflates to ${given} bytes, not the ${size} it says it has`);
}
