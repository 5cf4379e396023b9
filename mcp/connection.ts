import { checkEnvelope, type Era, eraOf, metaOf, type ServerInfo, stamp } from "./era.ts";
import {
  CODE,
  errorReply,
  type Id,
  idOf,
  invalidRequest,
  isObject,
  type Json,
  type Message,
  ProtocolError,
} from "./message.ts";

/** Sends a message beside a reply. */
export type Send = (message: Message) => void;

/** What a method knows of the request it answers. */
export interface Exchange {
  readonly id: Id;
  readonly era: Era;
  /** Aborts when nobody waits for the reply any more. */
  readonly signal: AbortSignal;
  /** The request's `_meta`. */
  readonly meta: Json;
  readonly send: Send;
}

/** Answers one method; throws a ProtocolError to refuse. */
export type Method = (params: Json, exchange: Exchange) => Promise<Json> | Json;

/** What a server answers: the methods of each era. */
export interface Methods {
  readonly info: ServerInfo;
  readonly legacy: Readonly<Record<string, Method>>;
  readonly modern: Readonly<Record<string, Method>>;
  /** Takes a client's reply to what a method sent it. */
  readonly onReply?: (reply: Json) => void;
  /** Takes an error that is a bug. */
  report(error: unknown): void;
}

/** Where one message came from, when that is not all the same for a connection. */
export interface Route {
  readonly send?: Send;
  readonly signal?: AbortSignal;
  /** What a transport knows of the message's era. */
  readonly era?: Era;
}

/** One client: what takes its messages and gives the replies. */
export interface Peer {
  /** Gives the reply, or undefined for what gets none: a notification, a reply, a cancelled request. */
  take(message: unknown, route?: Route): Promise<Message | undefined>;
  /** Stops what is under way. */
  close(): void;
}

/** More than this is no client that waits for answers. */
const MOST_WAITING = 4096;

/** Answers the messages of one client, each in its own era. */
export class Connection implements Peer {
  readonly #methods: Methods;
  readonly #send: Send;
  readonly #waiting = new Map<Id, AbortController>();

  constructor(methods: Methods, send: Send) {
    this.#methods = methods;
    this.#send = send;
  }

  async take(message: unknown, route: Route = {}): Promise<Message | undefined> {
    if (!isObject(message)) return invalidRequest(undefined, "not one JSON-RPC message");
    const { jsonrpc, method, params = {} } = message;
    const id = idOf(message["id"]);
    if (jsonrpc === "2.0" && method === undefined && ("result" in message || "error" in message)) {
      this.#methods.onReply?.(message);
      return undefined;
    }
    if (jsonrpc !== "2.0" || typeof method !== "string" || !isObject(params)) {
      return invalidRequest(id, "not a JSON-RPC request");
    }
    if (!("id" in message)) {
      if (method === "notifications/cancelled") this.#cancel(params["requestId"]);
      return undefined;
    }
    if (id === undefined) return invalidRequest(id, "an id is a text or a number");
    if (this.#waiting.has(id)) return invalidRequest(id, "the id is that of a request that waits");
    if (this.#waiting.size >= MOST_WAITING) {
      return errorReply(id, new ProtocolError(CODE.internalError, "too many requests wait"));
    }
    return await this.#answer(id, method, params, route);
  }

  close(): void {
    for (const controller of this.#waiting.values()) controller.abort();
  }

  #cancel(value: unknown): void {
    const id = idOf(value);
    if (id !== undefined) this.#waiting.get(id)?.abort();
  }

  async #answer(
    id: Id,
    method: string,
    params: Json,
    { send = this.#send, signal, era = eraOf(method, params) }: Route,
  ): Promise<Message | undefined> {
    const controller = new AbortController();
    const abort = () => controller.abort();
    signal?.addEventListener("abort", abort);
    this.#waiting.set(id, controller);
    const exchange: Exchange = {
      id,
      era,
      signal: controller.signal,
      meta: metaOf(params),
      // What a cancelled call still says is for nobody.
      send: (message) => controller.signal.aborted || send(message),
    };
    const cancelled = new Promise<undefined>((resolve) => {
      controller.signal.addEventListener("abort", () => resolve(undefined));
    });
    try {
      // A cancelled request is over at once, whether or not its work heeds the signal.
      return await Promise.race([this.#run(method, params, exchange), cancelled]);
    } finally {
      this.#waiting.delete(id);
      signal?.removeEventListener("abort", abort);
    }
  }

  async #run(method: string, params: Json, exchange: Exchange): Promise<Message> {
    const { id, era } = exchange;
    const { [era]: table, info, report } = this.#methods;
    try {
      if (era === "modern") checkEnvelope(params);
      const answer = Object.hasOwn(table, method) ? table[method] : undefined;
      if (answer === undefined) throw new ProtocolError(CODE.methodNotFound, "no such method");
      const result = await answer(params, exchange);
      return {
        jsonrpc: "2.0",
        id,
        result: era === "modern" ? stamp(method, result, info) : result,
      };
    } catch (error) {
      if (error instanceof ProtocolError) return errorReply(id, error);
      if (!exchange.signal.aborted) report(error);
      return errorReply(id, new ProtocolError(CODE.internalError, "internal error"));
    }
  }
}
