import { facts } from "../../core/facts.gen.ts";
import { describeTool, isTool } from "../../core/tools.ts";
import type { Bench } from "./bench.ts";

/** What tools/list costs: bytes on the wire, and bytes that a model reads (name, description and schema). */
export const tools: Bench = () => {
  const listed = facts.filter(isTool).map((fact) => describeTool(fact));
  const wire = JSON.stringify({ tools: listed }).length;
  const read = listed.map(({ name, description, inputSchema }) =>
    JSON.stringify({ name, description, inputSchema }).length
  );
  const most = Math.max(0, ...read);
  const longest = listed[read.indexOf(most)]?.name ?? "none";
  const total = read.reduce((sum, bytes) => sum + bytes, 0);
  const count = Math.max(1, listed.length);
  return Promise.resolve([
    { name: "tools", value: listed.length, unit: "" },
    { name: "tools/list on the wire", value: wire, unit: "bytes" },
    {
      name: "a tool as a model reads it, on average",
      value: total / count,
      unit: "bytes",
      limit: 500,
    },
    { name: `the longest tool, ${longest}`, value: most, unit: "bytes", limit: 1800 },
  ]);
};
