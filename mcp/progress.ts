import type { Surface } from "../core/open.ts";
import { legible } from "./clean.ts";
import type { Exchange } from "./connection.ts";

/** No more often than this does a client hear how a call goes. */
const EVERY_MS = 200;

/** Tells a client how far its call has come, if it asked. */
export interface Teller {
  readonly tell: Surface["progress"];
  /** Ends the telling. */
  stop(): void;
}

/**
 * Tells the client at once that its call has begun, then how far it has come, and every `beatMs` that it goes on. The
 * number only ever grows, so it counts what was told. Without a token it tells nothing.
 */
export function startTelling({ meta, send }: Exchange, beatMs: number): Teller {
  const { progressToken } = meta;
  if (progressToken === undefined) return { tell: () => {}, stop: () => {} };
  let progress = 0;
  let toldAt = -Infinity;
  let last: string | undefined;
  const say = () => {
    const params = { progressToken, progress, ...(last !== undefined && { message: last }) };
    progress++;
    send({ jsonrpc: "2.0", method: "notifications/progress", params });
  };
  say();
  const beat = setInterval(say, beatMs);
  return {
    tell(text, done, total) {
      last = legible(spellProgress(text, done, total));
      const now = performance.now();
      if (now - toldAt < EVERY_MS) return;
      toldAt = now;
      say();
    },
    stop: () => clearInterval(beat),
  };
}

/** How far work has come, in words. */
export function spellProgress(text: string, done?: number, total?: number): string {
  if (done === undefined) return text;
  return total === undefined ? `${text} ${done}` : `${text} ${done}/${total}`;
}
