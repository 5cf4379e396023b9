import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import process from "node:process";
import { pipeline } from "node:stream/promises";
import { childEnv } from "../core/child.ts";
import { KnotlessError, quote } from "../core/errors.ts";
import { tell } from "./lines.ts";

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/** What a git command is run with. */
export interface GitOptions {
  readonly env: Env;
  /** What it reads, one character a byte. */
  readonly input?: string;
  /** The file that takes what it says; without one it is given back. */
  readonly file?: string;
  /** Lets its stderr through to the person; else it is part of an error. */
  readonly isHeard?: boolean;
}

/** Runs git and gives what it says, one character a byte; a status other than 0 is an error. */
export async function runGit(args: readonly string[], options: GitOptions): Promise<string> {
  const { env, input = "", file, isHeard } = options;
  const child = spawn("git", ["--no-replace-objects", ...args], {
    env: childEnv(env),
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const said: Uint8Array[] = [];
  const complaint: Uint8Array[] = [];
  child.stderr.on("data", (part) => isHeard ? tell(part) : complaint.push(part));
  if (!file) child.stdout.on("data", (part) => said.push(part));
  const written = file ? pipeline(child.stdout, createWriteStream(file)) : undefined;
  // A git that ends before it has read everything says why by its status.
  child.stdin.on("error", () => {});
  child.stdin.end(Buffer.from(input, "latin1"));
  const [status] = await Promise.all([ended, written]);
  if (status !== 0) {
    const why = Buffer.concat(complaint).toString().trim();
    throw new GitError(args[0] ?? "", status, why);
  }
  return Buffer.concat(said).toString("latin1");
}

/** A git command that failed. */
export class GitError extends KnotlessError {
  override name = "GitError";
  readonly exit = 1;
  constructor(command: string, readonly status: number | null, why: string) {
    super("git", `git ${command} ended with ${status}${why && `: ${quote(why)}`}`);
  }
}

/** The environment less what ties git to the repository at hand, so that it can serve another. */
export async function unboundEnv(env: Env): Promise<Env> {
  const bound = new Set((await runGit(["rev-parse", "--local-env-vars"], { env })).split("\n"));
  return Object.fromEntries(
    Object.entries(childEnv(env)).filter(([name]) => !bound.has(name)),
  );
}

/** The environment in which git also finds the objects of the repository at `path`. */
export function withObjectsOf(env: Env, path: string): Env {
  const also = JSON.stringify(`${path}/objects`);
  const before = env.GIT_ALTERNATE_OBJECT_DIRECTORIES;
  const separator = process.platform === "win32" ? ";" : ":";
  return {
    ...env,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: before ? `${before}${separator}${also}` : also,
  };
}
