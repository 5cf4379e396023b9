// deno-lint-ignore-file no-console
/**
 * Measures the product, and fails where something is over its limit.
 *
 *     deno task bench [NAME…]      the quick ones without a name; the others take minutes
 *       --repo PATH                reads, sync and parity on this repository in place of one that is made
 *       --pushes N                 how many commits are pushed one by one
 *       --samples N                how many answers of each kind are compared with git's
 *       --as NAME                  what the page calls the repository of --repo
 *       --write                    puts the results in docs/bench.md, beside those of other benches
 */
import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Bench, Measure } from "./bench/bench.ts";
import { imports } from "./bench/imports.ts";
import { longEdit } from "./bench/long_edit.ts";
import { mcp } from "./bench/mcp.ts";
import { parity } from "./bench/parity.ts";
import { pushes } from "./bench/pushes.ts";
import { reads } from "./bench/reads.ts";
import { formatPage, isOver, showLimit, showValue } from "./bench/report.ts";
import { startup } from "./bench/startup.ts";
import { sync } from "./bench/sync.ts";
import { tools } from "./bench/tools.ts";
import { buildIfStale } from "./build.ts";
import { readCount, readOptions, refuse } from "./options.ts";

const QUICK: Readonly<Record<string, Bench>> = {
  imports,
  tools,
  startup,
  mcp,
  "long-edit": longEdit,
};
const BENCHES: Readonly<Record<string, Bench>> = { ...QUICK, reads, sync, pushes, parity };
const PAGE = fileURLToPath(new URL("../docs/bench.md", import.meta.url));

const { values, positionals } = readOptions({
  options: {
    repo: { type: "string" },
    pushes: { type: "string", default: "300" },
    samples: { type: "string", default: "400" },
    as: { type: "string" },
    write: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const names = positionals.length > 0 ? positionals : Object.keys(QUICK);
const unknown = names.find((name) => !Object.hasOwn(BENCHES, name));
if (unknown !== undefined) {
  refuse(`no such bench: ${unknown} (there are ${Object.keys(BENCHES).join(", ")})`);
}
const options = {
  repo: values.repo,
  pushes: readCount("pushes", values.pushes),
  samples: readCount("samples", values.samples),
};
const binary = process.env.KNOTLESS_BIN ?? await buildIfStale();
const results = new Map<string, readonly Measure[]>();
for (const name of names) {
  const bench = BENCHES[name];
  if (bench === undefined) continue;
  console.log(name);
  const measures = await bench(binary, options);
  results.set(values.as === undefined ? name : `${name}, ${values.as}`, measures);
  for (const measure of measures) {
    const said = `${showValue(measure.value).padStart(9)} ${measure.unit.padEnd(6)}`;
    console.log(`  ${measure.name.padEnd(56)} ${said} ${showLimit(measure)}`.trimEnd());
    if (isOver(measure)) process.exitCode = 1;
  }
}
if (values.write) {
  const [cpu] = cpus();
  const machine = `${cpus().length} × ${cpu?.model ?? "unknown"}`;
  await writeFile(PAGE, formatPage(results, machine, await readFile(PAGE, "utf8")));
  await new Deno.Command(Deno.execPath(), { args: ["fmt", "--quiet", PAGE] }).output();
}
