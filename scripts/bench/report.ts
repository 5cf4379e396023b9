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

/**
 * The page of the results; what an earlier page has of other benches stays. `machine` says what they were measured on.
 */
export function formatPage(results: Results, machine: string, earlier: string): string {
  const sections = new Map(
    earlier.split(/^(?=## )/m).slice(1).map((text) => [text.slice(3, text.indexOf("\n")), text]),
  );
  for (const [name, measures] of results) sections.set(name, formatSection(name, measures));
  const start = "# Benchmarks\n\n" +
    `Made by \`deno task bench … --write\`, on ${machine}. Wall times are medians and CPU times the least ` +
    "of several runs; compare by ratio.\n\n";
  return start + [...sections.values()].join("");
}

function formatSection(name: string, measures: readonly Measure[]): string {
  const rows = measures.map((measure) =>
    `| ${measure.name} | ${showValue(measure.value)} ${measure.unit} | ${showLimit(measure)} |`
  );
  return [`## ${name}\n`, "| what | value | limit |", "| --- | ---: | --- |", ...rows, "\n"]
    .join("\n");
}
