import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { OPENING } from "../../test/support/mcp.ts";

/** A server of the binary that answers one call after the other. */
export interface Server extends AsyncDisposable {
  readonly pid: number;
  /** Calls a tool and gives the milliseconds until its answer; one that is an error is an error here. */
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
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const say = (message: unknown) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const answerTo = async (id: unknown): Promise<Reply> => {
    for (;;) {
      const { done, value } = await lines.next();
      if (done) throw new Error("the server says no more");
      const reply: Reply = JSON.parse(value);
      if (reply.id === id) return reply;
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
      const reply = await answerTo(id);
      const took = performance.now() - begun;
      const isError = reply.error !== undefined || reply.result?.isError === true;
      if (isError) throw new Error(`${name}: ${JSON.stringify(reply)}`);
      return took;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
}
