import { execFile } from "node:child_process";
import { chmod, lstat, mkdir, readFile, readlink, realpath, rename, rm } from "node:fs/promises";
import { symlink, writeFile } from "node:fs/promises";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { childEnv } from "../child.ts";
import { command } from "../command.ts";
import type { Machine, MachineContext } from "../context.ts";
import { quote, RefusedError, UsageError } from "../errors.ts";
import { columns } from "../text.ts";

/** The names of the one program, and the words that stand for each where it is not linked. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "knotless": [],
  "knotless-mcp": ["mcp"],
  "git-remote-knotless": ["remote-helper"],
};
const MARK = "# Made by knotless git setup.";
const KEY = "protocol.knotless.allow";

/** One thing that is set up, and whether it was made now, was there, or would be made. */
type Step = {
  readonly what: string;
  readonly value: string;
  readonly state: "made" | "there" | "wanted";
};

const setup = command({
  name: "git setup",
  summary: "Make git take knotless:// URLs",
  details:
    "Links git-remote-knotless, knotless-mcp and knotless itself to this program, in its own folder if that is on PATH, else in ~/.local/bin. What is there already and is not of knotless is left alone.",
  kind: "machine",
  params: ({ z }) => ({
    print: z.boolean().default(false).describe("only say what would be done"),
    dir: z.string().min(1).max(4096).optional().describe("the folder for the links"),
    submodules: z.boolean().default(false)
      .describe("let git fetch submodules from knotless:// URLs"),
  }),
  examples: [
    { line: "git setup", says: "make the links" },
    { line: "git setup --print", says: "see what it would do" },
  ],
  async run(context, { print, dir, submodules }) {
    const { machine } = context;
    const folder = dir === undefined ? await chooseFolder(machine) : resolve(dir);
    const wanted = Object.entries(NAMES)
      .map(([name, words]) => linkAt(machine, join(folder, name), words))
      .filter(({ path }) => path !== machine.program[0]);
    // All are looked at before one is made.
    const states = await Promise.all(wanted.map(stateOf));
    const links: Step[] = [];
    for (const [index, link] of wanted.entries()) {
      const state = states[index] === "there" ? "there" : print ? "wanted" : "made";
      if (state === "made") await make(link);
      links.push({ what: link.path, value: machine.program.join(" "), state });
    }
    const config = await allowSubmodules(context, submodules, print);
    if (!await isOnPath(machine, folder)) {
      context.note(`${folder} is not on PATH: add it, or git does not find the links`);
    }
    return { dir: folder, links, config };
  },
  render: ({ links, config }, style) =>
    columns([...links, ...config], ["what", "value", "state"], style),
});

async function chooseFolder(machine: Machine): Promise<string> {
  const [program = "", ...rest] = machine.program;
  // A runtime's folder is not ours to put things in.
  if (rest.length === 0 && await isOnPath(machine, dirname(program))) return dirname(program);
  const { HOME } = machine.env;
  if (!HOME) throw new UsageError("HOME is not set, so there is no ~/.local/bin: give --dir");
  return join(HOME, ".local", "bin");
}

async function isOnPath({ env }: Machine, folder: string): Promise<boolean> {
  const wanted = await settle(folder);
  for (const entry of (env.PATH ?? "").split(delimiter)) {
    if (entry !== "" && await settle(entry) === wanted) return true;
  }
  return false;
}

/** The path without links on its way, where it is there at all. */
async function settle(path: string): Promise<string> {
  return await realpath(path).catch(() => resolve(path));
}

/** A name to be: a link to the program, or a script where that is a runtime and its arguments. */
interface Link {
  readonly path: string;
  readonly target: string;
  readonly script: string | undefined;
}

function linkAt({ program }: Machine, path: string, words: readonly string[]): Link {
  const [target = "", ...rest] = program;
  const script = rest.length === 0 ? undefined : spellScript([...program, ...words]);
  return { path, target, script };
}

async function stateOf({ path, target, script }: Link): Promise<"there" | "wanted"> {
  const there = await find(path);
  if (there !== undefined && !there.isOurs) {
    throw new RefusedError(`${path} is there and not of knotless: it is left alone`, {
      code: "refused.foreign_file",
      hint: "move it away, or give another folder with --dir",
    });
  }
  return there?.holds === (script ?? target) ? "there" : "wanted";
}

async function make(link: Link): Promise<void> {
  try {
    await place(link);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new RefusedError(`cannot make ${quote(link.path)}: ${quote(error.message)}`, {
      code: "system",
      hint: "give a folder that you may write with --dir",
      cause: error,
    });
  }
}

async function place({ path, target, script }: Link): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const fresh = `${path}.new`;
  await rm(fresh, { force: true });
  if (script === undefined) await symlink(target, fresh);
  else {
    await writeFile(fresh, script);
    await chmod(fresh, 0o755);
  }
  await rename(fresh, path);
}

/** What is at the path: where a link leads, or what a script says, and whether it came from here. */
async function find(path: string): Promise<{ holds: string; isOurs: boolean } | undefined> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat === undefined) return undefined;
  if (stat.isSymbolicLink()) {
    const holds = resolve(dirname(path), await readlink(path));
    return { holds, isOurs: /^knotless\b/.test(basename(holds)) };
  }
  if (!stat.isFile() || stat.size > 10_000) return { holds: "", isOurs: false };
  const holds = await readFile(path, "utf8");
  return { holds, isOurs: holds.includes(MARK) };
}

function spellScript(words: readonly string[]): string {
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  return `#!/bin/sh\n${MARK}\nexec ${quoted} "$@"\n`;
}

async function allowSubmodules(
  context: MachineContext,
  isWanted: boolean,
  isPrint: boolean,
): Promise<Step[]> {
  const { machine } = context;
  const isThere = await git(machine, ["config", "--global", "--get", KEY]) === "always\n";
  if (!isWanted) {
    if (!isThere) {
      context.note(
        `git fetches submodules from knotless:// URLs only with ${KEY}=always: git setup --submodules sets it`,
      );
    }
    return [];
  }
  const step = { what: KEY, value: "always" };
  if (isThere) return [{ ...step, state: "there" }];
  if (isPrint) return [{ ...step, state: "wanted" }];
  if (await git(machine, ["config", "--global", KEY, "always"]) === undefined) {
    throw new RefusedError(`git config --global ${KEY} always did not succeed`);
  }
  return [{ ...step, state: "made" }];
}

/** What git says; undefined when it ends with an error. */
async function git({ env }: Machine, args: readonly string[]): Promise<string | undefined> {
  try {
    return (await promisify(execFile)("git", [...args], { env: childEnv(env) })).stdout;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      throw new RefusedError("git is not on PATH", { hint: "install git first" });
    }
    return undefined;
  }
}

export default [setup];
