import process from "node:process";
import { Connection, type Methods } from "./connection.ts";
import { LineReader } from "./lines.ts";
import { CODE, errorReply, invalidRequest, type Message, ProtocolError } from "./message.ts";
import { type Output, readInput } from "./pipes.ts";

const MAX_LINE_BYTES = 16 << 20;
/** A client that reads no more than it is sent this slowly is not read from either. */
const MAX_BACKLOG_BYTES = 8 << 20;
/** How long requests in flight may take once the client has closed its end. */
const DRAIN_MS = 10_000;
const PARENT_EVERY_MS = 2_000;

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Answers one client over stdin and stdout, a message a line, until it closes its end, breaks the pipe or dies, or a
 * signal comes; gives the exit status. Requests that came before the end are answered first, within bounds.
 */
export async function serveStdio(output: Output, methods: Methods): Promise<number> {
  const send = (message: Message) => output.write(`${JSON.stringify(message)}\n`);
  const connection = new Connection(methods, (message) => void send(message));
  const { promise: stopped, resolve: stop } = Promise.withResolvers<number>();
  const watch = watchParent(() => stop(0));
  for (const [signal, status] of Object.entries(SIGNALS)) process.once(signal, () => stop(status));
  // A broken pipe: nobody is left to tell.
  output.broken.then(() => stop(0));
  answerAll(connection, output, send).then(() => stop(0));
  const status = await stopped;
  clearInterval(watch);
  connection.close();
  return status;
}

const notJson = errorReply(undefined, new ProtocolError(CODE.parseError, "not JSON"));

async function answerAll(
  connection: Connection,
  output: Output,
  send: (message: Message) => Promise<void>,
): Promise<void> {
  const waiting = new Set<Promise<void>>();
  const take = async (line: string): Promise<void> => {
    const message = parse(line);
    const reply = message === undefined ? notJson : await connection.take(message);
    if (reply !== undefined) await send(reply);
  };
  const lines = new LineReader(MAX_LINE_BYTES, (line) => {
    const taken = take(line).finally(() => waiting.delete(taken));
    waiting.add(taken);
  }, () => send(invalidRequest(undefined, `a message is over ${MAX_LINE_BYTES} bytes`)));
  for await (const chunk of readInput()) {
    lines.push(chunk);
    if (output.backlog > MAX_BACKLOG_BYTES) await output.flushed();
  }
  lines.end();
  const late = new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref());
  await Promise.race([Promise.all(waiting).then(() => output.flushed()), late]);
}

/** The line's value; undefined, which no JSON is, when it is not JSON. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Notices a parent that died without closing the pipe, which another of its children may hold open. */
function watchParent(gone: () => void): NodeJS.Timeout {
  const { ppid } = process;
  return setInterval(() => process.ppid !== ppid && gone(), PARENT_EVERY_MS).unref();
}
