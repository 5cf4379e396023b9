import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { git } from "../../test/support/git.ts";
import { openHome } from "../../test/support/home.ts";
import { openNetwork } from "../../test/support/network.ts";
import type { Bench, Measure } from "./bench.ts";
import { compileEmpty } from "./empty.ts";
import { openSample, type Sample } from "./sample.ts";
import { openServer } from "./server.ts";
import { cpuOf, median, memoryOf, often, type Taken, timed } from "./timed.ts";

/** What runs often is compiled by the runtime only after some dozens of calls. */
const WARM_CALLS = 100;
const RUNS = 9;
const COLD_RUNS = 15;
/** What a command may take beside the start of the runtime. */
const COLD_CPU_MS = 15;
const SERVER_MB = 400;
/** Who takes no more CPU than this in a second is idle. */
const IDLE_MS = 30;

/** A question, as a tool is asked, as the command line is, and as git is. */
interface Question {
  readonly name: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly git: readonly string[];
}

function questionsOf({ tip, older, hot, rare, directory, text }: Sample): readonly Question[] {
  return [
    { name: "refs", tool: "repo_refs", args: {}, git: ["for-each-ref"] },
    {
      name: "tree",
      tool: "repo_tree",
      args: { path: directory },
      git: ["ls-tree", "-l", `${tip}:${directory}`],
    },
    {
      name: "read",
      tool: "repo_read",
      args: { path: hot },
      git: ["cat-file", "blob", `${tip}:${hot}`],
    },
    { name: "log -20", tool: "repo_log", args: { limit: 20 }, git: ["log", "-20", tip] },
    {
      name: "log -20 of a file often changed",
      tool: "repo_log",
      args: { limit: 20, path: hot },
      git: ["log", "-20", tip, "--", hot],
    },
    {
      name: "log -20 of a file left alone",
      tool: "repo_log",
      args: { limit: 20, path: rare },
      git: ["log", "-20", tip, "--", rare],
    },
    {
      name: "diff of 5 commits",
      tool: "repo_diff",
      args: { base: older, head: tip },
      git: ["diff", older, tip],
    },
    {
      name: "blame",
      tool: "repo_blame",
      args: { path: hot },
      git: ["blame", "-p", tip, "--", hot],
    },
    {
      name: "search",
      tool: "repo_search",
      args: { text, limit: 100 },
      git: ["grep", "-n", "-i", "-F", "-I", text, tip],
    },
  ];
}

/** Runs a command and an empty program in turns, so that a busy machine is busy for both; `start` is the latter's CPU. */
async function inTurns(
  command: () => Promise<Taken>,
  empty: () => Promise<Taken>,
): Promise<{ cold: Taken; start: number }> {
  const starts: number[] = [];
  const cold = await often(COLD_RUNS, async () => {
    starts.push((await empty()).cpu);
    return await command();
  });
  return { cold, start: Math.min(...starts) };
}

/** Waits until a server has nothing to do: indexes are made beside its answers. */
async function settle(pid: number): Promise<void> {
  for (let taken = Infinity; taken > IDLE_MS;) {
    const before = await cpuOf(pid);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    taken = await cpuOf(pid) - before;
  }
}

/** Each read tool in a server that is warm and as a process of its own, against the git command that answers the same. */
export const reads: Bench = async (binary, options) => {
  const sample = await openSample(options);
  await using network = await openNetwork({ own: true });
  await using home = await openHome(network);
  const scratch = await mkdtemp(join(tmpdir(), "knotless-bench-"));
  try {
    const input = join(scratch, "input.json");
    const indexed = join(scratch, "indexed.git");
    git(scratch, "clone", "-q", "--bare", sample.path, indexed);
    git(indexed, "commit-graph", "write", "--reachable", "--changed-paths");
    await home.cli(["repo", "create", "app"]);
    const repo = `${home.account.handle}/app`;
    const refs = `${sample.branch}:refs/heads/main`;
    await timed(["git", "-C", sample.path, "push", "-q", `knotless://${repo}`, refs], home);
    const { env } = home;
    const empty = await compileEmpty(join(dirname(binary), "bench"));
    const measures: Measure[] = [
      { name: "commits", value: sample.commits, unit: "" },
      { name: "files", value: sample.files, unit: "" },
    ];
    await using server = await openServer(binary, env);
    const questions = questionsOf(sample);
    const firsts: number[] = [];
    for (const { tool, args } of questions) firsts.push(await server.call(tool, { repo, ...args }));
    await settle(server.pid);
    for (const [at, question] of questions.entries()) {
      const { name, tool, args } = question;
      const asked = { repo, ...args };
      const before = await cpuOf(server.pid);
      const walls: number[] = [];
      for (let at = 0; at < WARM_CALLS; at++) walls.push(await server.call(tool, asked));
      const cpu = (await cpuOf(server.pid) - before) / WARM_CALLS;
      await writeFile(input, JSON.stringify(asked));
      const command = [binary, ...tool.split("_"), "--input", input, "--max-age", "1h"];
      const { cold, start } = await inTurns(() => timed(command, { env }), () => timed([empty]));
      const plain = await often(RUNS, () => timed(["git", "-C", sample.path, ...question.git]));
      const graphed = await often(RUNS, () => timed(["git", "-C", indexed, ...question.git]));
      const isShort = name === "read" || name === "log -20";
      const warm = median(walls);
      const ms = (what: string, value: number): Measure => ({
        name: `${name}: ${what}`,
        value,
        unit: "ms",
      });
      measures.push(
        ms("warm server", warm),
        ms("warm server, CPU", cpu),
        ms("first call, while indexes are made", firsts[at] ?? NaN),
        ms("git", plain.wall),
        ms("git with commit-graph and Bloom filters", graphed.wall),
        { name: `${name}: warm server to git`, value: warm / plain.wall, unit: "×" },
        ms("as a process", cold.wall),
        {
          ...ms("as a process, CPU beside an empty program's", cold.cpu - start),
          ...(isShort && { limit: COLD_CPU_MS }),
        },
        ms("git, CPU", plain.cpu),
      );
    }
    const peak = await memoryOf(server.pid);
    measures.push({
      name: "server that answered all of it, peak memory",
      value: peak,
      unit: "MB",
      limit: SERVER_MB,
    });
    return measures;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};
