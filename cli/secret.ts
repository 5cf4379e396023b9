import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** A terminal that can give each key as it is pressed, and echo none. */
export type Keyboard = Readable & { setRawMode(on: boolean): unknown };

const MOST = 65_536;

/**
 * Reads a line from a terminal that shows none of it, and leaves the terminal as it was. Undefined when the line is
 * ended by Ctrl-D, or by Ctrl-C, of which `interrupt` is told: a terminal that echoes nothing sends no signal.
 */
export async function readHidden(
  keyboard: Keyboard,
  interrupt: () => void,
): Promise<string | undefined> {
  const decoder = new StringDecoder("utf8");
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  let held = "";
  const press = (key: string) => {
    if (key === "\r" || key === "\n") resolve(held);
    else if (key === "\x03") {
      interrupt();
      resolve(undefined);
    } else if (key === "\x04") resolve(held || undefined);
    else if (key === "\x7f" || key === "\b") held = [...held].slice(0, -1).join("");
    else if (key === "\x15") held = "";
    else if (held.length < MOST) held += key;
  };
  const hear = (chunk: string | Uint8Array) => {
    for (const key of typeof chunk === "string" ? chunk : decoder.write(chunk)) press(key);
  };
  const stop = () => resolve(held || undefined);
  keyboard.setRawMode(true);
  keyboard.on("data", hear).on("end", stop).on("error", reject).resume();
  try {
    return await promise;
  } finally {
    keyboard.off("data", hear).off("end", stop).off("error", reject).pause();
    keyboard.setRawMode(false);
  }
}
