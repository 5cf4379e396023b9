import { dirname, join } from "node:path";
import type { Bench } from "./bench.ts";
import { leastCpu } from "./cpu.ts";
import { compileEmpty } from "./empty.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "bench", version: "0" },
  },
};

/** How many times an empty program's start these may take. */
const LIMITS: Readonly<Record<string, number>> = { "--version": 1.25, "mcp, to initialize": 2.5 };

/** What the binary takes to start, against an empty program compiled the same way. */
export const startup: Bench = async (binary) => {
  const empty = await compileEmpty(join(dirname(binary), "bench"));
  const least = leastCpu([
    { name: "an empty program", command: [empty] },
    { name: "--version", command: [binary, "--version"] },
    { name: "--help", command: [binary, "--help"] },
    { name: "status --help", command: [binary, "status", "--help"] },
    {
      name: "mcp, to initialize",
      command: [binary, "mcp"],
      stdin: JSON.stringify(INITIALIZE),
    },
  ]);
  const floor = least.get("an empty program") ?? 0;
  return [...least].flatMap(([name, value]) => [
    { name: `${name}: CPU`, value, unit: "ms" },
    {
      name: `${name}: to an empty program`,
      value: value / floor,
      unit: "×",
      ...(LIMITS[name] !== undefined && { limit: LIMITS[name] }),
    },
  ]).filter(({ name }) => name !== "an empty program: to an empty program");
};
