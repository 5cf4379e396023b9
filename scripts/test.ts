// deno-lint-ignore-file no-console
/**
 * Runs the tests, with the network and the binary they need, and closes with `N passed, N failed`.
 *
 *     deno task test [WORD…]       the test files whose path has one of the words; all without any
 *     deno task test --fast        only those that need neither a network nor the binary
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readdir, readFile, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "./build.ts";
import { readOptions } from "./options.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const MAX_JOBS = 4;
const NETWORK_START_MS = 120_000;
const STOP_MS = 5_000;

/** What a test needs is told by the variable that it, or a file of test/support it imports, reads. */
const NETWORK = "KNOTLESS_TEST_NETWORK";
const BINARY = "KNOTLESS_BIN";

interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

async function main(): Promise<number> {
  const { values, positionals } = readOptions({
    options: { fast: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const files = await chooseTests(positionals, values.fast);
  if (files.size === 0) {
    console.error(`no test file's path has ${positionals.join(" or ")}`);
    return 2;
  }
  const needs = new Set([...files.values()].flatMap((needs) => [...needs]));
  const env: Record<string, string> = { NO_COLOR: "1", DENO_JOBS: String(jobs()) };
  if (needs.has(BINARY)) env[BINARY] = process.env[BINARY] ?? await build();
  const network = needs.has(NETWORK) && !process.env[NETWORK] ? await startNetwork() : undefined;
  try {
    if (network) env[NETWORK] = network.said;
    const { passed, failed, skipped } = await runTests([...files.keys()], env);
    console.log(`\n${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`);
    return failed === 0 && passed > 0 ? 0 : 1;
  } finally {
    await network?.stop();
  }
}

function jobs(): number {
  return Math.max(2, Math.min(MAX_JOBS, availableParallelism()));
}

/** Gives the test files to run, each with the variables it reads. */
async function chooseTests(words: string[], fast: boolean): Promise<Map<string, Set<string>>> {
  const chosen = new Map<string, Set<string>>();
  for (const entry of (await readdir(join(ROOT, "test"), { recursive: true })).sort()) {
    const path = join("test", entry);
    if (!path.endsWith("_test.ts") || entry.startsWith("fixtures")) continue;
    if (words.length > 0 && !words.some((word) => path.includes(word))) continue;
    const needs = await findNeeds(join(ROOT, path), new Set());
    if (!fast || needs.size === 0) chosen.set(path, needs);
  }
  return chosen;
}

async function findNeeds(path: string, seen: Set<string>): Promise<Set<string>> {
  seen.add(path);
  const text = await readFile(path, "utf8");
  const needs = new Set([NETWORK, BINARY].filter((name) => text.includes(name)));
  if (text.includes("scripts/build.ts")) needs.add(BINARY);
  for (const [, specifier = ""] of text.matchAll(/from "(\.[^"]+\.ts)"/g)) {
    const imported = resolve(dirname(path), specifier);
    if (seen.has(imported) || relative(join(ROOT, "test"), imported).startsWith("..")) continue;
    for (const need of await findNeeds(imported, seen)) needs.add(need);
  }
  return needs;
}

/** Starts the whole network of scripts/dev.ts; `said` is the line of JSON that tells where it is. */
async function startNetwork(): Promise<{ said: string; stop(): Promise<void> }> {
  const child = startGroup(["run", "--quiet", "--allow-all", "scripts/dev.ts"]);
  const late = setTimeout(() => stopGroup(child), NETWORK_START_MS);
  try {
    if (child.stdout) {
      for await (const line of createInterface(child.stdout)) {
        if (!line.startsWith("{")) continue;
        child.stdout.resume();
        return { said: line, stop: () => stopGroup(child) };
      }
    }
  } finally {
    clearTimeout(late);
  }
  throw new Error("scripts/dev.ts ended before it said where its network is");
}

async function runTests(files: string[], env: Record<string, string>): Promise<Count> {
  const report = await Deno.makeTempFile({ suffix: ".xml" });
  const child = startGroup(
    [
      "test",
      "--allow-all",
      "--no-check",
      "--parallel",
      `--junit-path=${report}`,
      ...files,
    ],
    env,
  );
  let unloaded = 0;
  if (child.stdout) {
    for await (const line of createInterface(child.stdout)) {
      console.log(line);
      if (/^Uncaught error from .+ FAILED$/.test(line)) unloaded++;
    }
  }
  const status = await ended(child);
  const count = readReport(await readFile(report, "utf8"));
  await rm(report);
  count.failed += unloaded;
  // Whatever the report says, a run that failed did not pass.
  if (status !== 0 && count.failed === 0) count.failed = 1;
  return count;
}

/** Counts the `it`s of a JUnit report: a group is a case too, and counts only if it failed by itself. */
function readReport(xml: string): Count {
  const cases = [...xml.matchAll(/<testcase name="([^"]*)"[^>]*>([\s\S]*?)<\/testcase>/g)]
    .map(([, name = "", body = ""]) => ({ name, body }));
  const groups = new Set<string>();
  for (const { name } of cases) {
    const parts = name.split(" &gt; ");
    for (let length = 1; length < parts.length; length++) {
      groups.add(parts.slice(0, length).join(" &gt; "));
    }
  }
  const count: Count = { passed: 0, failed: 0, skipped: 0 };
  for (const { name, body } of cases) {
    const isGroup = groups.has(name);
    if (body.includes("<failure") && !(isGroup && /\d+ test steps? failed/.test(body))) {
      count.failed++;
    } else if (isGroup) continue;
    else if (body.includes("<skipped")) count.skipped++;
    else count.passed++;
  }
  return count;
}

const groups = new Set<ChildProcess>();

/** Starts deno as the leader of a process group of its own, so that all it starts can be stopped with it. */
function startGroup(
  args: string[],
  env: Record<string, string> = {},
): ChildProcess {
  const child = spawn(Deno.execPath(), args, {
    cwd: ROOT,
    env: { ...hermeticEnv(), ...env },
    // A pipe that nobody writes to: its end tells the network that we are gone, however we went.
    stdio: ["pipe", "pipe", "inherit"],
    detached: process.platform !== "win32",
  });
  groups.add(child);
  child.once("exit", () => groups.delete(child));
  return child;
}

/** The environment without the settings of whoever runs the tests. */
function hermeticEnv(): Record<string, string | undefined> {
  const ours = Object.entries(process.env).filter(([name]) =>
    !name.startsWith("KNOTLESS_") || name.startsWith("KNOTLESS_TEST_") || name === BINARY
  );
  return Object.fromEntries(ours);
}

async function stopGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = ended(child);
  signalGroup(child, "SIGTERM");
  const late = setTimeout(() => signalGroup(child, "SIGKILL"), STOP_MS);
  await gone;
  clearTimeout(late);
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // It is gone already.
  }
}

function ended(child: ChildProcess): Promise<number> {
  if (child.exitCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
}

for (const [signal, status] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  process.on(signal, async () => {
    await Promise.all([...groups].map(stopGroup));
    Deno.exit(status);
  });
}

Deno.exit(await main());
