import type { AnyCommand } from "./command.ts";
import { facts } from "./facts.gen.ts";

type Module = () => Promise<{ default: readonly AnyCommand[] }>;

/** The modules that have the commands, in help's order; each is loaded when one of its commands runs. */
const modules: Readonly<Record<string, Module>> = {
  login: () => import("./commands/login.ts"),
  status: () => import("./commands/status.ts"),
  repo_read: () => import("./commands/repo_read.ts"),
  repo_find: () => import("./commands/repo_find.ts"),
  repo_write: () => import("./commands/repo_write.ts"),
  mirror: () => import("./commands/mirror.ts"),
  star: () => import("./commands/star.ts"),
  branch: () => import("./commands/branch.ts"),
  tag: () => import("./commands/tag.ts"),
  account: () => import("./commands/account.ts"),
  git: () => import("./commands/git.ts"),
  mcp: () => import("./commands/mcp.ts"),
  upgrade: () => import("./commands/upgrade.ts"),
};

/** Loads one command's code. */
export async function loadCommand(name: string): Promise<AnyCommand> {
  const fact = facts.find((fact) => fact.name === name);
  const module = modules[fact?.module ?? ""];
  const command = (await module?.())?.default.find((command) => command.name === name);
  if (fact === undefined || command === undefined) {
    throw new Error(`the table has no command named ${name}`);
  }
  return { ...command, fact };
}

/** A command and the key of its module. */
export interface Entry {
  readonly module: string;
  readonly command: AnyCommand;
}

/** Loads every command with its module, in help's order. */
export async function loadEntries(): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (const [module, load] of Object.entries(modules)) {
    for (const command of (await load()).default) entries.push({ module, command });
  }
  return entries;
}

/** Loads every command, in help's order. */
export async function loadTable(): Promise<readonly AnyCommand[]> {
  return (await loadEntries()).map(({ command }) => command);
}
