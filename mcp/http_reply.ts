import type { ServerResponse } from "node:http";
import type { Era } from "./era.ts";
import { CODE, type Message } from "./message.ts";

/** Errors of a modern request that its HTTP status tells as well. */
const STATUS: Readonly<Record<number, number>> = {
  [CODE.methodNotFound]: 404,
  [CODE.parseError]: 400,
  [CODE.invalidRequest]: 400,
  [CODE.invalidParams]: 400,
  [CODE.headerMismatch]: 400,
  [CODE.missingCapability]: 400,
  [CODE.unsupportedVersion]: 400,
};

/** The answer to one HTTP request: JSON, or a stream of events once something is said before the reply. */
export class HttpReply {
  readonly #response: ServerResponse;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;

  constructor(response: ServerResponse) {
    this.#response = response;
    const controller = new AbortController();
    this.signal = controller.signal;
    response.on("close", () => response.writableFinished || controller.abort());
    // A client that has gone hears nothing more; its going is told by the close.
    response.on("error", () => {});
  }

  /** Adds a header to what has not been begun yet. */
  set(name: string, value: string): void {
    this.#response.setHeader(name, value);
  }

  /** Sends a message before the reply. */
  send(message: Message): void {
    const response = this.#response;
    if (response.destroyed) return;
    if (!response.headersSent) {
      response.writeHead(200, {
        "content-type": "text/event-stream",
        "cache-control": "no-cache",
        // Else what stands between may keep a message back until there are more.
        "x-accel-buffering": "no",
      });
    }
    response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  /** Ends with the reply, or with none. */
  end(message: Message | undefined, era: Era): void {
    const response = this.#response;
    if (message === undefined) this.status(202);
    else if (response.headersSent) {
      this.send(message);
      response.end();
    } else {
      const status = era === "modern" ? STATUS[message.error?.code ?? 0] : undefined;
      this.status(status ?? 200, message);
    }
  }

  /** Ends with a status. */
  status(status: number, message?: Message): void {
    const response = this.#response;
    if (!response.headersSent) {
      response.writeHead(status, message && { "content-type": "application/json" });
    }
    response.end(message && JSON.stringify(message));
  }
}
