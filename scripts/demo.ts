// deno-lint-ignore-file no-console
/**
 * `deno task demo`: the main job on a real network that this machine starts and stops. Pushes a git repository into a
 * PDS, clones it back, reads and edits it by the command line and as an MCP client, and shows each command with what it
 * printed. Fails when a step does.
 */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { buildIfStale } from "./build.ts";
import { readOptions } from "./options.ts";
import { openNetwork } from "../test/support/network.ts";

type Env = Record<string, string>;

/** Runs a command, shows it with its output, and gives its stdout; throws when it fails. */
async function show(
  words: readonly string[],
  { cwd, env, input, shown = words.join(" ") }: {
    cwd: string;
    env: Env;
    input?: string;
    shown?: string;
  },
): Promise<string> {
  console.log(`\n$ ${shown}`);
  const [program = "", ...args] = words;
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env } });
  let out = "";
  child.stdout.on("data", (chunk) => out += chunk);
  child.stdout.pipe(process.stdout, { end: false });
  child.stderr.pipe(process.stdout, { end: false });
  child.stdin.end(input ?? "");
  const status = await new Promise((done) => child.once("close", done));
  if (status !== 0) throw new Error(`${shown} ended with ${status}`);
  return out;
}

async function makeRepository(cwd: string, env: Env): Promise<void> {
  const quiet = async (words: string[]) => {
    const child = spawn("git", words, { cwd, env: { ...process.env, ...env }, stdio: "ignore" });
    const status = await new Promise((done) => child.once("close", done));
    if (status !== 0) throw new Error(`git ${words.join(" ")} ended with ${status}`);
  };
  await quiet(["init", "-q", "-b", "main"]);
  await writeFile(join(cwd, "README.md"), "# Notes\n\nKept in a PDS, without a forge server.\n");
  await mkdir(join(cwd, "src"));
  await writeFile(join(cwd, "src", "hello.ts"), 'export const greeting = "helo";\n');
  await quiet(["add", "."]);
  await quiet(["commit", "-q", "-m", "Begin"]);
  await quiet(["tag", "-a", "v0.1", "-m", "The first"]);
}

async function askTools(binary: string, cwd: string, env: Env, repo: string): Promise<void> {
  const requests = [
    {
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "demo", version: "1" },
      },
    },
    { method: "tools/call", params: { name: "repo_log", arguments: { repo, limit: 2 } } },
    {
      method: "tools/call",
      params: { name: "repo_read", arguments: { repo, path: "src/hello.ts" } },
    },
  ];
  const lines = requests.map((request, id) => JSON.stringify({ jsonrpc: "2.0", id, ...request }));
  const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
  lines.splice(1, 0, initialized);
  const out = await show([binary, "mcp", "--read-only"], {
    cwd,
    env,
    input: `${lines.join("\n")}\n`,
    shown: "knotless-mcp --read-only    # an assistant asks repo_log, then repo_read",
  });
  const answers = out.trim().split("\n").map((line) => JSON.parse(line));
  if (!answers.some(({ result }) => result?.content?.[0]?.text?.includes("hello"))) {
    throw new Error("the tools did not answer");
  }
}

async function run(): Promise<void> {
  console.log("Building knotless, and starting a PDS and a PLC directory on this machine …");
  const binary = await buildIfStale();
  const home = await mkdtemp(join(tmpdir(), "knotless-demo-"));
  const network = await openNetwork({ own: true, accounts: ["alice", "bob"] });
  try {
    const [alice] = network.accounts;
    if (!alice) throw new Error("the network has no accounts");
    const env: Env = {
      ...network.env,
      HOME: home,
      PATH: `${dirname(binary)}${delimiter}${process.env.PATH}`,
      GIT_AUTHOR_NAME: "Alice",
      GIT_AUTHOR_EMAIL: "alice@example.com",
      GIT_COMMITTER_NAME: "Alice",
      GIT_COMMITTER_EMAIL: "alice@example.com",
      GIT_CONFIG_NOSYSTEM: "1",
      NO_COLOR: "1",
    };
    const notes = join(home, "notes");
    await mkdir(notes);
    await makeRepository(notes, env);
    const repo = `${alice.handle}/notes`;
    const at = { cwd: notes, env };
    await show(["knotless", "login", alice.handle, "--app-password-stdin"], {
      ...at,
      input: `${alice.password}\n`,
    });
    await show(["knotless", "repo", "create", "notes", "--description", "What I noted"], at);
    await show(["git", "push", "--mirror", `knotless://${repo}`], at);
    await show(["git", "clone", "-q", `knotless://${repo}`, "back"], { cwd: home, env });
    await show(["git", "-C", "back", "fsck", "--strict"], { cwd: home, env });
    await show(["knotless", "repo", "refs", repo], at);
    await show(["knotless", "repo", "read", repo, "README.md"], at);
    await show(
      [
        "knotless",
        "repo",
        "commit",
        repo,
        "--message",
        "Fix a typo",
        "--changes",
        '[{"path":"src/hello.ts","edits":[{"old":"helo","new":"hello"}]}]',
      ],
      { ...at, shown: `knotless repo commit ${repo} --message 'Fix a typo' --changes '[…]'` },
    );
    await show(["knotless", "repo", "diff", repo, "v0.1"], at);
    await show(["git", "pull", "-q", "--no-rebase"], { cwd: join(home, "back"), env });
    await show(["git", "log", "--oneline"], { cwd: join(home, "back"), env });
    await askTools(binary, notes, env, repo);
    await show(["knotless", "repo", "storage", repo], at);
    console.log("\nThe network stops; nothing stays behind.");
  } finally {
    await network.stop();
    await rm(home, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  readOptions({ options: {} });
  await run();
}
