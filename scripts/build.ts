// deno-lint-ignore-file no-console
/**
 * Builds the one binary and its other names.
 *
 *     deno task build                    dist/knotless, for this machine
 *     deno task build --target=NAME      dist/knotless-NAME, for another (bun-darwin-arm64, bun-windows-x64, …)
 *     deno task build --deno [--target=TRIPLE]   the same with `deno compile`
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { withLock } from "../core/lock.ts";
import { readOptions } from "./options.ts";

const BUN_VERSION = "1.4.5";
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TOOLS = join(ROOT, ".tools");
const DIST = join(ROOT, "dist");

/** The names under which the binary acts as another program. */
const OTHER_NAMES = ["knotless-mcp", "git-remote-knotless"];

export type Compiler = "bun" | "deno";

export interface BuildOptions {
  readonly compiler?: Compiler;
  /** As the compiler spells it; this machine when absent. */
  readonly target?: string | undefined;
}

/** Builds the product and gives the binary's path; one build at a time on this machine. */
export function build({ compiler = "bun", target }: BuildOptions = {}): Promise<string> {
  return withBuildLock(async () => {
    const begun = new Date();
    const bundle = join(DIST, "bundle");
    await bundleModule(join(ROOT, "main.ts"), bundle);
    const out = join(DIST, target === undefined ? "knotless" : `knotless-${target}`);
    await compile(join(bundle, "main.js"), out, { compiler, target });
    if (target !== undefined) return target.includes("windows") ? `${out}.exe` : out;
    // A source saved while the build ran is newer than the binary.
    await utimes(out, begun, begun);
    await linkNames(out);
    return out;
  });
}

/** Builds the product unless the binary at hand is newer than every source, and gives its path. */
export async function buildIfStale(): Promise<string> {
  const out = join(DIST, "knotless");
  if (existsSync(out) && (await stat(out)).mtimeMs > await newestSource()) return out;
  return await build();
}

/** Runs `work` while no other build of this tree runs. */
export function withBuildLock<T>(work: () => Promise<T>): Promise<T> {
  return withLock(join(TOOLS, "build.lock"), AbortSignal.timeout(300_000), work);
}

/** Bundles a module and all it imports into a folder of plain modules, dynamic imports in files of their own. */
export async function bundleModule(module: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  run(Deno.execPath(), [
    "bundle",
    "--quiet",
    // Without a lock of its own a scratch build would write to the project's.
    "--frozen",
    "--platform=deno",
    "--code-splitting",
    `--outdir=${folder}`,
    module,
  ]);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
}

/** Compiles a bundle's entry into the binary `out`, which a program that runs the old one keeps. */
export async function compile(
  entry: string,
  out: string,
  { compiler = "bun", target }: BuildOptions = {},
): Promise<void> {
  const suffix = target?.includes("windows") ? ".exe" : "";
  const fresh = `${out}.new${suffix}`;
  if (compiler === "deno") compileWithDeno(entry, fresh, target);
  else compileWithBun(await installBun(), entry, fresh, target);
  await rename(fresh, `${out}${suffix}`);
}

function compileWithBun(bun: string, entry: string, out: string, target: string | undefined): void {
  run(bun, [
    "build",
    "--compile",
    "--bytecode",
    "--format=esm",
    "--splitting",
    "--minify",
    "--keep-names",
    // Most runs are over before code that was compiled for them has paid for that; what runs long has it a little later.
    "--compile-jit-policy=10",
    // What makes an index can then say when there is much to collect.
    "--compile-exec-argv=--expose-gc",
    // Else the binary would obey files of the folder it runs in, which may be anyone's repository.
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    ...(target === undefined ? [] : [`--target=${target}`]),
    entry,
    `--outfile=${out}`,
  ]);
}

function compileWithDeno(entry: string, out: string, target: string | undefined): void {
  run(Deno.execPath(), [
    "compile",
    "--quiet",
    "--allow-all",
    "--no-config",
    "--no-check",
    "--app-name=knotless",
    ...(target === undefined ? [] : [`--target=${target}`]),
    `--output=${out}`,
    entry,
  ]);
}

/** Gives the path of the pinned Bun, installed into .tools on first use. */
async function installBun(): Promise<string> {
  const os = process.platform === "win32" ? "windows" : process.platform;
  const name = `@oven/bun-${os}-${process.arch === "arm64" ? "aarch64" : "x64"}`;
  const folder = join(TOOLS, `bun-${BUN_VERSION}`);
  const bun = join(folder, "node_modules", name, "bin", os === "windows" ? "bun.exe" : "bun");
  if (existsSync(bun)) return bun;
  await mkdir(folder, { recursive: true });
  // The package holds the program itself, so none of its scripts need to run.
  run(process.platform === "win32" ? "npm.cmd" : "npm", [
    "install",
    "--no-save",
    "--no-package-lock",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    `--prefix=${folder}`,
    `${name}@${BUN_VERSION}`,
  ]);
  return bun;
}

function run(program: string, args: string[]): void {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (status === 0) return;
  const said = error?.message ?? `${stdout}${stderr}`.trim();
  throw new Error(`${program} ${args[0]} failed: ${said}`, { cause: error });
}

async function linkNames(binary: string): Promise<void> {
  for (const name of OTHER_NAMES) {
    await rm(join(DIST, name), { force: true });
    await symlink(process.platform === "win32" ? binary : "knotless", join(DIST, name));
  }
}

async function newestSource(): Promise<number> {
  const paths = ["main.ts", "deno.json", "deno.lock", "scripts/build.ts"];
  for (const folder of ["cli", "core", "lexicons", "mcp", "remote", "std"]) {
    for (const entry of await readdir(join(ROOT, folder), { recursive: true })) {
      paths.push(join(folder, entry));
    }
  }
  const times = await Promise.all(
    paths.map(async (path) => (await stat(join(ROOT, path))).mtimeMs),
  );
  return Math.max(...times);
}

if (import.meta.main) {
  const { values } = readOptions({
    options: { deno: { type: "boolean" }, target: { type: "string" } },
  });
  try {
    console.log(await build({ compiler: values.deno ? "deno" : "bun", target: values.target }));
  } catch (error) {
    console.error(`error: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
