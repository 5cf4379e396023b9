// deno-lint-ignore-file no-console
/**
 * Measures the product, and fails where something is over its limit.
 *
 *     deno task bench [NAME…]      all of them without a name
 */
import process from "node:process";
import type { Bench } from "./bench/bench.ts";
import { imports } from "./bench/imports.ts";
import { longEdit } from "./bench/long_edit.ts";
import { mcp } from "./bench/mcp.ts";
import { startup } from "./bench/startup.ts";
import { tools } from "./bench/tools.ts";
import { buildIfStale } from "./build.ts";

const BENCHES: Readonly<Record<string, Bench>> = {
  imports,
  tools,
  startup,
  mcp,
  "long-edit": longEdit,
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(BENCHES);
const binary = process.env.KNOTLESS_BIN ?? await buildIfStale();
for (const name of names) {
  const bench = BENCHES[name];
  if (bench === undefined) throw new Error(`no such bench: ${name}`);
  console.log(name);
  for (const { name, value, unit, limit } of await bench(binary)) {
    const rounded = Number.isInteger(value) ? String(value) : value.toFixed(2);
    const isOver = limit !== undefined && value > limit;
    const said = limit === undefined ? "" : isOver ? `over ${limit}` : `within ${limit}`;
    console.log(`  ${name.padEnd(44)} ${rounded.padStart(9)} ${unit.padEnd(6)} ${said}`.trimEnd());
    if (isOver) process.exitCode = 1;
  }
}
