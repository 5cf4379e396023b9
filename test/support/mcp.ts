import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { mkdir, readdir, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/stdio"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { bundleModule, compile, withBuildLock } from "../../scripts/build.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Compiles the server of test/fixtures/mcp as the product is compiled, unless that was done, and gives its path. */
export async function compileFixture(): Promise<string> {
  const folder = join(ROOT, ".cache", "mcp");
  const path = join(folder, "server");
  await mkdir(folder, { recursive: true });
  await withBuildLock(async () => {
    if (await timeOf(path) > await newest(["core", "mcp", "test/fixtures/mcp"])) return;
    await bundleModule(join(ROOT, "test/fixtures/mcp/main.ts"), join(folder, "bundle"));
    await compile(join(folder, "bundle", "main.js"), path);
  });
  return path;
}

async function timeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return -Infinity;
  }
}

async function newest(folders: readonly string[]): Promise<number> {
  const paths = await Promise.all(folders.map(async (folder) => {
    const entries = await readdir(join(ROOT, folder), { recursive: true });
    return entries.map((entry) => timeOf(join(ROOT, folder, entry)));
  }));
  return Math.max(...await Promise.all(paths.flat()));
}

/** A real client connected to a server it started; disposing it ends the server. */
export async function connect(
  command: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: "test", version: "0" });
  await client.connect(new StdioClientTransport({ command, args, env, stderr: "ignore" }));
  // It holds answers to the schemas of a list it has seen.
  if (args.includes("--structured")) await client.listTools();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

/** The text blocks of a tool's answer. */
export function textsOf(result: unknown): string[] {
  const { content } = result as { content: { type: string; text: string }[] };
  return content.map(({ text }) => text);
}

/** The opening of a session, as lines. */
export const OPENING: readonly unknown[] = [
  {
    jsonrpc: "2.0",
    id: "open",
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "0" },
    },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
];

/** A tools/call request. */
export function toolCall(id: number, name: string, args: unknown = {}, meta?: unknown): unknown {
  return {
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: args, ...(meta !== undefined && { _meta: meta }) },
  };
}

/** A request of 2026-07-28: its envelope is in it. */
export function modern(id: number | string, method: string, params: object = {}): unknown {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta } };
}

/** A request of a session. */
export function legacy(id: number | string, method: string, params: object = {}): unknown {
  return { jsonrpc: "2.0", id, method, params };
}

/** A message of the server. */
export interface Reply {
  readonly id?: number | string | null;
  readonly method?: string;
  // deno-lint-ignore no-explicit-any
  readonly result?: any;
  // deno-lint-ignore no-explicit-any
  readonly params?: any;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A server talked to line by line. */
export interface Talk {
  readonly child: ChildProcessWithoutNullStreams;
  readonly status: Promise<number | null>;
  say(...messages: unknown[]): void;
  /** The next message of the server; every line of stdout has to be one. */
  next(): Promise<Reply>;
  /** Says a request and gives its reply; no other may wait. */
  ask(request: unknown): Promise<Reply>;
  /** Closes stdin and gives what the server still says, with its exit status. */
  end(): Promise<{ replies: Reply[]; status: number | null; stderr: string }>;
}

/** Starts a server to talk to in lines of JSON; text is said as it is. */
export function talk(command: string, args: string[] = [], env?: Record<string, string>): Talk {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], ...(env && { env }) });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const status = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let stderr = "";
  child.stderr.on("data", (chunk) => stderr += chunk);
  const next = async (): Promise<Reply> => {
    const { done, value } = await lines.next();
    if (done) throw new Error("the server says no more");
    return JSON.parse(value);
  };
  const say = (...messages: unknown[]) => {
    for (const message of messages) {
      child.stdin.write(typeof message === "string" ? message : `${JSON.stringify(message)}\n`);
    }
  };
  return {
    child,
    status,
    say,
    next,
    ask(request) {
      say(request);
      return next();
    },
    async end() {
      child.stdin.end();
      const replies: Reply[] = [];
      for (let line = await lines.next(); !line.done; line = await lines.next()) {
        replies.push(JSON.parse(line.value));
      }
      return { replies, status: await status, stderr };
    },
  };
}

/** Starts a server over HTTP; disposing it ends the server. */
export async function serveOverHttp(
  command: string,
  args: readonly string[] = [],
  env?: Record<string, string>,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const child = spawn(command, [...args, "--http", "0"], {
    stdio: ["ignore", "ignore", "pipe"],
    ...(env && { env }),
  });
  const lines = createInterface(child.stderr);
  const { value = "" } = await lines[Symbol.asyncIterator]().next();
  child.stderr.resume();
  const [url] = /http:\S+/.exec(value) ?? [];
  if (url === undefined) throw new Error(`the server said: ${value}`);
  return {
    url,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    },
  };
}
