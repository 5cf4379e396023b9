import type { Readable } from "node:stream";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport";
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from "@modelcontextprotocol/sdk/types";
import { LineReader } from "./lines.ts";

const MAX_LINE_BYTES = 16 << 20;
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown };
}

/**
 * MCP over two streams, one message a line. It answers what is no message at all by itself, and knows which requests
 * still wait for their reply, so that none is lost when the input ends.
 */
export class StdioTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;

  readonly #input: Readable;
  readonly #write: (text: string) => Promise<void>;
  readonly #isRequest: (message: unknown) => message is JSONRPCRequest;
  readonly #waiting = new Set<RequestId>();
  readonly #unsent = new Set<Promise<void>>();
  #hasEnded = false;
  #settle: () => void = () => {};

  /** Resolves when the input has ended and each request that came has been answered or cancelled. */
  readonly drained: Promise<void> = new Promise((resolve) => this.#settle = resolve);
  /** Resolves when the input has ended. */
  readonly ended: Promise<void>;

  /** `write` resolves when its text is out; `isRequest` is the SDK's own judgement. */
  constructor(
    { input, write, isRequest }: {
      input: Readable;
      write: (text: string) => Promise<void>;
      isRequest: (message: unknown) => message is JSONRPCRequest;
    },
  ) {
    this.#input = input;
    this.#write = write;
    this.#isRequest = isRequest;
    this.ended = new Promise((resolve) => {
      for (const event of ["end", "close", "error"]) input.once(event, resolve);
    });
  }

  start(): Promise<void> {
    const reader = new LineReader(MAX_LINE_BYTES, (line) => this.#take(line), () => {
      this.#refuse(null, INVALID_REQUEST, `a message is over ${MAX_LINE_BYTES} bytes`);
    });
    this.#input.on("data", (chunk: Uint8Array) => reader.push(chunk));
    this.ended.then(() => {
      reader.end();
      this.#hasEnded = true;
      this.#settleIfDone();
    });
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const sent = this.#write(`${JSON.stringify(message)}\n`);
    this.#unsent.add(sent);
    try {
      await sent;
    } finally {
      this.#unsent.delete(sent);
      if (!("method" in message) && message.id !== undefined) this.#waiting.delete(message.id);
      this.#settleIfDone();
    }
  }

  close(): Promise<void> {
    this.#input.pause();
    this.onclose?.();
    return Promise.resolve();
  }

  #take(line: string): void {
    let message: Message | null;
    try {
      message = JSON.parse(line);
    } catch {
      this.#refuse(null, PARSE_ERROR, "not JSON");
      return;
    }
    if (typeof message !== "object" || message === null || Array.isArray(message)) {
      this.#refuse(null, INVALID_REQUEST, "not one JSON-RPC message");
      return;
    }
    if ("id" in message && "method" in message) this.#request(message);
    else this.#forward(message);
  }

  #request(message: Message): void {
    const { jsonrpc, id, method, params } = message;
    // Keys beside these four would make the SDK drop the request without a reply.
    const request = { jsonrpc, id, method, ...(params !== undefined && { params }) };
    if (!this.#isRequest(request)) {
      const isId = typeof id === "string" || typeof id === "number";
      this.#refuse(isId ? id : null, INVALID_REQUEST, "not a JSON-RPC request");
      return;
    }
    this.#waiting.add(request.id);
    this.#forward(request);
  }

  #forward(message: Message): void {
    if (message.method === "notifications/cancelled") {
      const id = message.params?.requestId;
      if (typeof id === "string" || typeof id === "number") this.#waiting.delete(id);
    }
    this.onmessage?.(message as JSONRPCMessage);
  }

  #refuse(id: RequestId | null, code: number, text: string): void {
    // A parse error has the id null, which the SDK's type of a message leaves out.
    const reply = { jsonrpc: "2.0", id, error: { code, message: text } } as JSONRPCMessage;
    this.send(reply).catch((error) => this.onerror?.(error));
  }

  #settleIfDone(): void {
    if (this.#hasEnded && this.#waiting.size === 0 && this.#unsent.size === 0) this.#settle();
  }
}
