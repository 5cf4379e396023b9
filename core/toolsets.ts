import { quote, UsageError } from "./errors.ts";
import type { Fact } from "./facts.ts";
import { nearest } from "./text.ts";
import { isTool, type ToolFact } from "./tools.ts";

/** Which tools are wanted; all, when neither sets nor tools are named. */
export interface Selection {
  readonly toolsets?: readonly string[];
  /** Tools beside those of the sets. */
  readonly tools?: readonly string[];
  /** Tools to leave out, whatever else names them. */
  readonly excludeTools?: readonly string[];
  /** Leaves out all that do not only read, whatever else names them. */
  readonly readOnly: boolean;
}

/** Sets of tools that belong together, each of groups and tools; a group is a set too. */
const SETS: Readonly<Record<string, readonly string[]>> = {
  core: [
    "status",
    "repo_list",
    "repo_refs",
    "repo_tree",
    "repo_read",
    "repo_search",
    "repo_blame",
    "repo_log",
    "repo_diff",
    "repo_commit",
    "branch_create",
    "pull_template",
    "pull_create",
    "pull_list",
    "pull_show",
    "pull_diff",
    "pull_update_branch",
    "pull_merge",
    "issue_template",
    "issue_create",
    "issue_list",
    "issue_show",
    "comment_add",
    "run_list",
    "run_log",
    "account_search",
    "notification_list",
  ],
  review: [
    "repo_refs",
    "repo_tree",
    "repo_read",
    "repo_search",
    "repo_blame",
    "repo_log",
    "repo_diff",
    "pull_list",
    "pull_show",
    "pull_diff",
    "comment",
    "run_list",
    "run_log",
  ],
  ci: ["run", "workflow", "runner", "agent", "secret", "queue"],
  maintain: ["repo", "branch", "tag", "label", "triager", "mod", "release", "queue"],
  operator: ["admin", "status"],
};

const ALL = new Set(["all", "default"]);

/**
 * Throws a UsageError for a name that is none of a set or a tool, with those there are; `variables` are those that stand
 * in the place of a flag.
 */
export function checkSelection(
  selection: Selection,
  facts: readonly Fact[],
  variables: ReadonlyMap<string, string> = new Map(),
): void {
  const { toolsets = [], tools = [], excludeTools = [] } = selection;
  const where = (flag: string) => variables.get(flag) ?? flag;
  checkNames(where("--toolsets"), "toolset", toolsets, nameToolsets(facts));
  const known = facts.filter(isTool).map(({ tool }) => tool);
  checkNames(where("--tools"), "tool", tools, known);
  checkNames(where("--exclude-tools"), "tool", excludeTools, known);
}

/** Why a tool is not wanted, as the flag that says so; undefined when it is. */
export function findHiding(
  { tool, group, kind }: ToolFact,
  { toolsets, tools, excludeTools = [], readOnly }: Selection,
): string | undefined {
  if (readOnly && kind !== "read") return "--read-only";
  if (excludeTools.includes(tool)) return "--exclude-tools";
  if (toolsets === undefined && tools === undefined) return undefined;
  if (tools?.includes(tool) || toolsets?.some((set) => isIn(set, tool, group))) return undefined;
  return [toolsets && `--toolsets ${toolsets.join(",")}`, tools && `--tools ${tools.join(",")}`]
    .filter((flag) => flag !== undefined).join(" ");
}

/** The tools that are wanted, in the table's order. */
export function selectTools(selection: Selection, facts: readonly Fact[]): readonly ToolFact[] {
  return facts.filter(isTool).filter((fact) => findHiding(fact, selection) === undefined);
}

/** The names of the sets that hold a tool, and of all groups that do. */
export function nameToolsets(facts: readonly Fact[]): readonly string[] {
  const tools = facts.filter(isTool);
  const sets = Object.keys(SETS)
    .filter((set) => tools.some(({ tool, group }) => isIn(set, tool, group)));
  return [...ALL, ...sets, ...new Set(tools.map(({ group }) => group))];
}

function isIn(set: string, tool: string, group: string): boolean {
  if (ALL.has(set) || group === set) return true;
  const members = Object.hasOwn(SETS, set) ? SETS[set] : undefined;
  return members?.some((member) => member === tool || member === group) ?? false;
}

function checkNames(
  where: string,
  noun: string,
  names: readonly string[],
  known: readonly string[],
): void {
  for (const name of names) {
    if (known.includes(name)) continue;
    const near = nearest(name, known);
    throw new UsageError(
      `${where}: no such ${noun}: ${quote(name)}${near ? ` (did you mean ${near}?)` : ""}`,
      { hint: `there are ${known.join(", ")}` },
    );
  }
}
