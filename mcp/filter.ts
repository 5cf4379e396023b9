import type { Fact } from "../core/facts.ts";
import { UsageError } from "../core/errors.ts";
import { parseRepoName, type RepoName } from "../core/forge/names.ts";
import { checkSelection, findHiding, type Selection } from "../core/toolsets.ts";
import type { ToolFact } from "../core/tools.ts";

/** What a server offers, and of what it may speak. */
export interface Filter extends Selection {
  /** The repositories that alone may be named; any, when absent. */
  readonly repos?: readonly RepoName[];
  /** Withholds text by people with no part in the repository. */
  readonly lockdown?: boolean;
  /** Answers results as structured content too. */
  readonly structured?: boolean;
}

/** A filter as flags and variables have it. */
export interface FilterWish extends Omit<Filter, "repos"> {
  readonly repos?: readonly string[];
  /** The variables that lists are from, by the flags in whose place they stand. */
  readonly variables?: ReadonlyMap<string, string>;
}

/** Makes a filter of what was asked for; throws a UsageError for a name there is not, with those there are. */
export async function readFilter(
  { repos, variables, ...wish }: FilterWish,
  facts: () => Promise<readonly Fact[]>,
): Promise<Filter> {
  if (wish.toolsets ?? wish.tools ?? wish.excludeTools) {
    checkSelection(wish, await facts(), variables);
  }
  return { ...wish, ...(repos && { repos: repos.map((text) => readRepo(text, variables)) }) };
}

function readRepo(text: string, variables: FilterWish["variables"]): RepoName {
  try {
    return parseRepoName(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${variables?.get("--repo") ?? "--repo"}: ${error.message}`);
  }
}

/** Says why a tool that exists is not offered; undefined when it is. */
export function whyNot(fact: ToolFact, filter: Filter): string | undefined {
  const { tool } = fact;
  const hiding = findHiding(fact, filter);
  if (hiding !== undefined) return `${tool} is not offered: this server runs with ${hiding}`;
  if (filter.repos === undefined || isOfOne(fact)) return undefined;
  return `${tool} is not offered: this server runs with --repo, and ${tool} is not about one repository`;
}

/** A command that cannot be run without saying of which repository. */
function isOfOne({ params }: Fact): boolean {
  return params.some(({ names, required }) => names === "repo" && required);
}
