/** One person's machine with git on it, which runs the remote helper: the binary's, or the source's when there is none. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRepository, type Creation } from "../../core/forge/create.ts";
import type { Repository } from "../../core/forge/repository.ts";
import { openFolders, type Person } from "./folders.ts";
import { type Machine, openMachineIn } from "./machine.ts";
import type { Network } from "./network.ts";
import { type Ended, run } from "./run.ts";

export interface GitHome extends Machine {
  /** Runs git in a folder below `dir`. */
  git(where: string, ...args: string[]): Promise<Ended>;
  /** Runs git with more in its environment. */
  gitWith(env: Record<string, string>, where: string, ...args: string[]): Promise<Ended>;
  /** Runs git, which must succeed, and gives what it says without the last newline. */
  ok(where: string, ...args: string[]): Promise<string>;
  /** Makes a repository of the account and gives its URL. */
  create(creation: Creation): Promise<{ url: string; repository: Repository }>;
}

const main = fileURLToPath(new URL("../../main.ts", import.meta.url));

/** Makes folders for an account of the network, logged in unless told otherwise. */
export async function openGitHome(
  network: Network,
  person: Person = {},
): Promise<GitHome> {
  const folders = await openFolders(network, person);
  const { account, dir } = folders;
  await placeHelper(join(dir, "bin"));
  const env = {
    PATH: `${join(dir, "bin")}:${Deno.env.get("PATH") ?? ""}`,
    DENO_DIR: Deno.env.get("DENO_DIR") ?? join(Deno.env.get("HOME") ?? "", ".cache/deno"),
    LC_ALL: "C",
    TZ: "UTC",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_CEILING_DIRECTORIES: dir,
    GIT_AUTHOR_NAME: "Ann Author",
    GIT_AUTHOR_EMAIL: "ann@author.test",
    GIT_COMMITTER_NAME: "Carl Committer",
    GIT_COMMITTER_EMAIL: "carl@committer.test",
    ...folders.env,
  };
  await Deno.writeTextFile(join(dir, ".gitconfig"), "[init]\n\tdefaultBranch = main\n");
  const machine = await openMachineIn({ ...folders, env }, person);
  const gitWith = (more: Record<string, string>, where: string, ...args: string[]) =>
    run("git", args, { cwd: join(dir, where), env: { ...env, ...more } });
  return {
    ...machine,
    gitWith,
    git: (where, ...args) => gitWith({}, where, ...args),
    async ok(where, ...args) {
      const { status, out, err } = await gitWith({}, where, ...args);
      if (status !== 0) throw new Error(`git ${args.join(" ")} ended with ${status}: ${err}`);
      return out.replace(/\n$/, "");
    },
    async create(creation) {
      const context = await machine.open("write", { as: account.did, refresh: true });
      const repository = await createRepository(context, creation);
      return { url: `knotless://${repository.spelled}`, repository };
    },
  };
}

async function placeHelper(bin: string): Promise<void> {
  await Deno.mkdir(bin);
  const path = join(bin, "git-remote-knotless");
  const binary = Deno.env.get("KNOTLESS_BIN");
  if (binary !== undefined) return await Deno.symlink(binary, path);
  const words = [Deno.execPath(), "run", "-q", "-A", "--no-check", main, "remote-helper"];
  await Deno.writeTextFile(path, `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`, { mode: 0o755 });
}
