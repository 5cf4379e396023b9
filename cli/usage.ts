import { type Fact, paramOf } from "../core/facts.ts";
import { flagsOf } from "./flags.ts";

/** A command's usage: `usage: knotless repo read [REPO] PATH [flags]`. */
export function usageOf(fact: Fact): string {
  return `usage: ${usageLine(fact)}`;
}

/** What to type for a command, with its positionals and the flags it cannot do without. */
export function usageLine(fact: Fact): string {
  const positionals = fact.positionals.map((name) => {
    const param = paramOf(fact, name);
    const word = name.toUpperCase() + (param?.type === "array" ? "..." : "");
    return param?.required && name !== "repo" ? word : `[${word}]`;
  });
  const needed = flagsOf(fact).filter(({ param }) =>
    param?.required && !fact.positionals.includes(param.name)
  ).map(({ long, value }) => value ? `--${long} ${value}` : `--${long}`);
  return ["knotless", fact.name, ...positionals, ...needed, "[flags]"].join(" ");
}
