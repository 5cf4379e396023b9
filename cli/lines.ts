import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** Reads the next line without its end; undefined when there is none, or once `signal` says that nobody waits for it. */
export type ReadLine = (signal?: AbortSignal) => Promise<string | undefined>;

/** More than any line that a person types or a password has. */
const MOST = 65_536;

/** Reads a stream by lines, and between them leaves it alone: a stream that is read keeps the process. */
export function openLines(source: Readable): ReadLine {
  const decoder = new StringDecoder("utf8");
  let held = "";
  let ended = false;

  function take(): string | undefined {
    const end = held.indexOf("\n");
    if (end < 0 && held.length < MOST && !(ended && held !== "")) return undefined;
    const stop = end < 0 ? held.length : end;
    const line = held.slice(0, stop).replace(/\r$/, "");
    held = held.slice(stop + 1);
    return line;
  }

  return async (signal) => {
    const ready = take();
    if (ready !== undefined || ended || signal?.aborted) return ready;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const hear = (chunk: string | Uint8Array) => {
      held += typeof chunk === "string" ? chunk : decoder.write(chunk);
      if (held.includes("\n") || held.length >= MOST) resolve();
    };
    const stop = () => {
      ended = true;
      held += decoder.end();
      resolve();
    };
    source.on("data", hear).on("end", stop).on("error", reject);
    signal?.addEventListener("abort", () => resolve(), { once: true });
    if (source.readableEnded) stop();
    else source.resume();
    try {
      await promise;
    } finally {
      source.off("data", hear).off("end", stop).off("error", reject).pause();
    }
    return signal?.aborted ? undefined : take();
  };
}
