import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildLongRepo, git } from "../../test/support/git.ts";
import type { BenchOptions } from "./bench.ts";

const CACHE = fileURLToPath(new URL("../../.cache/bench", import.meta.url));
const COMMITS = 10_000;
const FILES = 5_200;

/** A repository to measure on, and what to ask of it. */
export interface Sample {
  /** A bare repository. */
  readonly path: string;
  readonly commits: number;
  readonly files: number;
  /** The branch that HEAD names. */
  readonly branch: string;
  readonly tip: string;
  /** Five commits before. */
  readonly older: string;
  /** A file that the newest commits changed, one that was left alone for long, and a directory. */
  readonly hot: string;
  readonly rare: string;
  readonly directory: string;
  /** A text that some files have. */
  readonly text: string;
}

/** Gives the repository that was asked for; without one makes one of 10,000 commits and 5,200 files, once. */
export async function openSample({ repo }: BenchOptions): Promise<Sample> {
  const path = repo === undefined
    ? await makeSample()
    : git(repo, "rev-parse", "--absolute-git-dir");
  const branch = git(path, "symbolic-ref", "--short", "HEAD");
  const tip = git(path, "rev-parse", branch);
  const files = git(path, "-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", tip)
    .split("\n");
  const changed = new Set(
    git(path, "log", "-300", "--no-merges", "--format=", "--name-only", tip).split("\n"),
  );
  const [hot = ""] = changed;
  const rare = files.find((file) => !changed.has(file) && file.includes("/")) ?? hot;
  return {
    path,
    commits: Number(git(path, "rev-list", "--count", tip)),
    files: files.length,
    branch,
    tip,
    older: git(path, "rev-parse", `${tip}~5`),
    hot,
    rare,
    directory: rare.slice(0, rare.lastIndexOf("/")),
    text: repo === undefined ? "line of 99" : "return -1",
  };
}

async function makeSample(): Promise<string> {
  const path = join(CACHE, `${COMMITS}-${FILES}.git`);
  if (existsSync(path)) return path;
  const fresh = `${path}.new`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(CACHE, { recursive: true });
  buildLongRepo(fresh, { commits: COMMITS, files: FILES });
  await rename(fresh, path);
  return path;
}
