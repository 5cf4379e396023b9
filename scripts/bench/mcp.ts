import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Bench } from "./bench.ts";
import { compileEmpty } from "./empty.ts";

const TIMES = 25;

const REQUESTS = [
  {
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "0" },
    },
  },
  { method: "tools/list" },
  { method: "tools/list" },
];

/** How long a client waits: from the start of a server to its handshake, and for the list of tools. */
export const mcp: Bench = async (binary) => {
  const empty = await compileEmpty(join(dirname(binary), "bench"));
  const floor: number[] = [];
  const waits: number[][] = REQUESTS.map(() => []);
  for (let round = 0; round < TIMES; round++) {
    floor.push(await timeOf(empty));
    for (const [at, wait] of (await converse(binary)).entries()) waits[at]?.push(wait);
  }
  const [handshake = 0, first = 0, again = 0] = waits.map((times) => Math.min(...times));
  const least = Math.min(...floor);
  return [
    { name: "an empty program, start to end", value: least, unit: "ms" },
    { name: "start to initialize", value: handshake, unit: "ms" },
    {
      name: "start to initialize: to an empty program",
      value: handshake / least,
      unit: "×",
      limit: 2.5,
    },
    { name: "tools/list", value: first, unit: "ms", limit: 5 },
    { name: "tools/list again", value: again, unit: "ms", limit: 5 },
  ];
};

async function timeOf(program: string): Promise<number> {
  const begun = performance.now();
  const child = spawn(program, { stdio: "ignore" });
  await new Promise((resolve) => child.once("exit", resolve));
  return performance.now() - begun;
}

/** The milliseconds each request waits for its reply, the first one from the start on. */
async function converse(binary: string): Promise<number[]> {
  let begun = performance.now();
  const child = spawn(binary, ["mcp"], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const waits: number[] = [];
  for (const [id, request] of REQUESTS.entries()) {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...request })}\n`);
    await lines.next();
    waits.push(performance.now() - begun);
    begun = performance.now();
  }
  child.stdin.end();
  await ended;
  return waits;
}
