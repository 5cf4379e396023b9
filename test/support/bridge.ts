/** A server over stdio, reached over HTTP: for judges that only speak that. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Route, Send } from "../../mcp/connection.ts";
import { listen, type Listening } from "../../mcp/http.ts";
import { isObject, type Json, type Message } from "../../mcp/message.ts";

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

interface Waiting {
  readonly id: unknown;
  readonly progressToken: unknown;
  readonly send: Send;
  resolve(reply: Message | undefined): void;
}

/** The server's process; each request gets an id of its own, for clients choose the same. */
class Child {
  readonly #child;
  readonly #waiting = new Map<string, Waiting>();
  #count = 0;

  constructor(command: string, args: readonly string[]) {
    this.#child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    createInterface(this.#child.stdout).on("line", (line) => this.#hear(JSON.parse(line)));
  }

  take(message: Json, { send = () => {}, signal }: Route = {}): Promise<Message | undefined> {
    if (message["method"] === undefined || message["id"] === undefined) {
      this.#say(message);
      return Promise.resolve(undefined);
    }
    const id = `bridge-${this.#count++}`;
    const params = isObject(message["params"]) ? message["params"] : {};
    const meta = isObject(params["_meta"]) ? params["_meta"] : {};
    const { progressToken } = meta;
    return new Promise((resolve) => {
      this.#waiting.set(id, { id: message["id"], progressToken, send, resolve });
      signal?.addEventListener("abort", () => {
        if (!this.#waiting.delete(id)) return;
        const params = { requestId: id };
        this.#say({ jsonrpc: "2.0", method: "notifications/cancelled", params });
        resolve(undefined);
      });
      this.#say({
        ...message,
        id,
        ...(progressToken !== undefined && {
          params: { ...params, _meta: { ...meta, progressToken: id } },
        }),
      });
    });
  }

  /** Closes its stdin and waits for it to go. */
  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.stdin.end();
    await ended;
  }

  #say(message: Json): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #hear(message: Message): void {
    if (message.method === undefined) {
      const waiting = this.#waiting.get(String(message.id));
      this.#waiting.delete(String(message.id));
      if (waiting) waiting.resolve(restore({ ...message, id: waiting.id as string }, waiting));
      return;
    }
    const { progressToken, _meta } = message.params ?? {};
    const subscription = isObject(_meta) ? _meta[SUBSCRIPTION] : undefined;
    // What names no request belongs to the last one: the judges wait for each before the next.
    const waiting = this.#waiting.get(String(progressToken ?? subscription)) ??
      [...this.#waiting.values()].at(-1);
    waiting?.send(restore(message, waiting));
  }
}

/** A message with the client's own id and token in it. */
function restore(message: Message, { id, progressToken }: Waiting): Message {
  const fix = (holder: Json): Json => ({
    ...holder,
    ...("progressToken" in holder && { progressToken }),
    ...(isObject(holder["_meta"]) && SUBSCRIPTION in holder["_meta"] && {
      _meta: { ...holder["_meta"], [SUBSCRIPTION]: id },
    }),
  });
  return {
    ...message,
    ...(message.params && { params: fix(message.params) }),
    ...(message.result && { result: fix(message.result) }),
  };
}

/** Listens on HTTP for one server over stdio, which all sessions share. */
export async function bridge(
  command: string,
  args: readonly string[],
): Promise<Listening & AsyncDisposable> {
  const child = new Child(command, args);
  const listening = await listen((send) => ({
    take: (message, route) => child.take(message as Json, { send, ...route }),
    close: () => {},
  }), 0);
  return {
    ...listening,
    async [Symbol.asyncDispose]() {
      listening.close();
      await child.end();
    },
  };
}
