import { spawn } from "node:child_process";
import type { Client } from "@modelcontextprotocol/sdk/client";
import type { Account } from "../../scripts/sandbox/state.ts";
import { binary } from "./binary.ts";
import { connect, textsOf } from "./mcp.ts";
import type { Network } from "./network.ts";
import { checkStructured } from "./structured.ts";

/** What came of a program. */
export interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
  readonly bytes: Uint8Array;
}

/** What a tool answered. */
export interface ToolAnswer {
  readonly texts: string[];
  readonly isError: boolean;
}

/** One person's folders on this machine, with the binary to run in them. */
export interface Home extends AsyncDisposable {
  readonly account: Account;
  readonly dir: string;
  readonly env: Record<string, string>;
  /** Runs knotless in a pipe. */
  cli(args: readonly string[], stdin?: string): Promise<Ended>;
  /** Calls a tool of a server that goes on between calls; `flags` are the server's. */
  tool(name: string, args: object, flags?: readonly string[]): Promise<ToolAnswer>;
}

/** Makes folders for an account of the network, logged in with its password unless told otherwise. */
export async function openHome(
  network: Network,
  { name = "user", account, login = true, env = {} }: {
    name?: string;
    account?: Account;
    login?: boolean;
    env?: Readonly<Record<string, string>>;
  } = {},
): Promise<Home> {
  const program = await binary();
  const who = account ?? await network.createAccount(name);
  const dir = await Deno.makeTempDir({ prefix: "knotless-home-" });
  const all: Record<string, string> = {
    PATH: `${program.replace(/\/[^/]+$/, "")}:${Deno.env.get("PATH") ?? ""}`,
    HOME: dir,
    ...network.env,
    KNOTLESS_CONFIG_DIR: `${dir}/config`,
    KNOTLESS_CACHE_DIR: `${dir}/cache`,
    KNOTLESS_STATE_DIR: `${dir}/state`,
    ...env,
  };
  const servers = new Map<string, Promise<Client & AsyncDisposable>>();
  const home: Home = {
    account: who,
    dir,
    env: all,
    cli: (args, stdin) => run(program, args, { env: all, cwd: dir, stdin }),
    async tool(name, args, flags = []) {
      const key = flags.join(" ");
      const server = servers.get(key) ?? connect(program, ["mcp", ...flags], all);
      servers.set(key, server);
      const answer = await (await server).callTool({ name, arguments: { ...args } });
      if (flags.includes("--structured")) checkStructured(name, answer);
      return { texts: textsOf(answer), isError: answer.isError === true };
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers.values()) await (await server)[Symbol.asyncDispose]();
      await Deno.remove(dir, { recursive: true });
    },
  };
  if (login) {
    const { status, err } = await home.cli(
      ["login", who.handle, "--app-password-stdin"],
      `${who.password}\n`,
    );
    if (status !== 0) throw new Error(`the login of ${who.handle} ended with ${status}: ${err}`);
  }
  return home;
}

/** Runs a program to its end. */
export async function run(
  program: string,
  args: readonly string[],
  { env, cwd, stdin }: {
    env: Readonly<Record<string, string>>;
    cwd: string;
    stdin?: string | undefined;
  },
): Promise<Ended> {
  const child = spawn(program, [...args], { env, cwd });
  const out: Uint8Array[] = [];
  const err: Uint8Array[] = [];
  child.stdout.on("data", (chunk) => out.push(chunk));
  child.stderr.on("data", (chunk) => err.push(chunk));
  // A program that does not read its stdin may end first.
  child.stdin.on("error", () => {});
  child.stdin.end(stdin ?? "");
  const status = await new Promise<number>((done, fail) => {
    child.once("error", fail);
    child.once("close", (code, signal) => done(code ?? (signal ? 128 : 1)));
  });
  const bytes = Buffer.concat(out);
  return { status, bytes, out: bytes.toString(), err: Buffer.concat(err).toString() };
}
