import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { OPENING } from "../../test/support/mcp.ts";

const NEWLINE = 0x0a;

/** A server of the binary that answers one call after the other. */
export interface Server extends AsyncDisposable {
  readonly pid: number;
  /** Calls a tool and gives the milliseconds until its answer has come whole; one that is an error is an error here. */
  call(name: string, args: object): Promise<number>;
}

interface Reply {
  readonly id?: unknown;
  readonly error?: unknown;
  readonly result?: { readonly isError?: boolean };
}

/** Starts a server over stdio. */
export async function openServer(
  binary: string,
  env: Readonly<Record<string, string>>,
): Promise<Server> {
  const child = spawn(binary, ["mcp"], { env, stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const lines = linesOf(child.stdout);
  const say = (message: unknown) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const nextLine = async (): Promise<{ line: string; at: number }> => {
    const { done, value } = await lines.next();
    if (done) throw new Error("the server says no more");
    return value;
  };
  const answerTo = async (id: unknown): Promise<{ reply: Reply; at: number }> => {
    for (;;) {
      const { line, at } = await nextLine();
      const reply: Reply = JSON.parse(line);
      if (reply.id === id) return { reply, at };
    }
  };
  OPENING.forEach(say);
  await answerTo("open");
  let id = 0;
  return {
    pid: child.pid ?? 0,
    async call(name, args) {
      const begun = performance.now();
      say({ jsonrpc: "2.0", id: ++id, method: "tools/call", params: { name, arguments: args } });
      const { reply, at } = await answerTo(id);
      const isError = reply.error !== undefined || reply.result?.isError === true;
      if (isError) throw new Error(`${name}: ${JSON.stringify(reply)}`);
      return at - begun;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
}

/** Lines as they come whole, and when: to take them apart is no work of the server's. */
async function* linesOf(
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ line: string; at: number }> {
  let parts: Uint8Array[] = [];
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const at = performance.now();
      parts.push(chunk.subarray(start, end));
      yield { line: Buffer.concat(parts).toString(), at };
      parts = [];
      start = end + 1;
    }
    parts.push(chunk.subarray(start));
  }
}
