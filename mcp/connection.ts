import { Console } from "node:console";
import process from "node:process";
import type { ServerOptions } from "./server.ts";

/** How long requests in flight may take once the client has closed its end. */
const DRAIN_MS = 10_000;
const PARENT_EVERY_MS = 2_000;

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Writes to the real stdout; resolves when the text is out. */
export type Write = (text: string) => Promise<void>;

/** Takes stdout for the protocol alone: whatever else prints there is sent to stderr from here on. */
export function claimStdout(): Write {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  globalThis.console = new Console(stderr, stderr);
  return (text) =>
    new Promise((resolve, reject) => {
      write(text, (error) => error ? reject(error) : resolve());
    });
}

/**
 * Serves tools over stdin and stdout until the client closes its end, breaks the pipe or dies, or a signal comes; gives
 * the exit status. Requests that came before the end are answered first, within bounds.
 */
export async function serveTools(write: Write, options: ServerOptions): Promise<number> {
  const [{ Server, isJSONRPCRequest }, { createServer }, { StdioTransport }] = await Promise.all([
    import("./sdk.ts"),
    import("./server.ts"),
    import("./transport.ts"),
  ]);
  const transport = new StdioTransport({
    input: process.stdin,
    write,
    isRequest: isJSONRPCRequest,
  });
  const server = createServer(Server, options);
  server.onerror = (error) => options.report(error);
  const { promise: stopped, resolve: stop } = Promise.withResolvers<number>();
  const watch = watchParent(() => stop(0));
  for (const [signal, status] of Object.entries(SIGNALS)) process.once(signal, () => stop(status));
  // A broken pipe: nobody is left to tell.
  process.stdout.once("error", () => stop(0));
  transport.drained.then(() => stop(0));
  transport.ended.then(() => setTimeout(stop, DRAIN_MS, 0).unref());
  await server.connect(transport);
  const status = await stopped;
  clearInterval(watch);
  await server.close();
  return status;
}

/** Notices a parent that died without closing the pipe, which another of its children may hold open. */
function watchParent(gone: () => void): NodeJS.Timeout {
  const { ppid } = process;
  return setInterval(() => process.ppid !== ppid && gone(), PARENT_EVERY_MS).unref();
}
