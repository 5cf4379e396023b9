import type { Measure } from "./bench.ts";

/** What each bench gave, by its name. */
export type Results = ReadonlyMap<string, readonly Measure[]>;

/** A measured number as it is shown. */
export function showValue(value: number): string {
  if (Number.isNaN(value)) return "–";
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return value.toFixed(size < 0.1 ? 4 : size < 10 ? 2 : size < 100 ? 1 : 0);
}

/** Says whether a measure keeps its limit; nothing for one without. */
export function showLimit({ value, limit }: Measure): string {
  if (limit === undefined) return "";
  return isOver({ value, limit }) ? `over ${limit}` : `within ${limit}`;
}

/** True for a measure over its limit. */
export function isOver({ value, limit }: Pick<Measure, "value" | "limit">): boolean {
  return limit !== undefined && value > limit;
}

/** The page of the results; `machine` says what they were measured on. */
export function formatPage(results: Results, machine: string): string {
  const parts = [
    "# Benchmarks\n",
    `Made by \`deno task bench … --write\`, on ${machine}. Wall times are medians and CPU times the least ` +
    "of several runs; compare by ratio.\n",
  ];
  for (const [name, measures] of results) {
    parts.push(`## ${name}\n`, "| what | value | limit |", "| --- | ---: | --- |");
    for (const measure of measures) {
      const { name, value, unit } = measure;
      parts.push(`| ${name} | ${showValue(value)} ${unit} | ${showLimit(measure)} |`);
    }
    parts.push("");
  }
  return parts.join("\n");
}
