import { spawn } from "node:child_process";
import type { Client } from "@modelcontextprotocol/sdk/client";
import { binary } from "./binary.ts";
import { type Folders, openFolders, type Person } from "./folders.ts";
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
export interface Home extends Folders {
  /** Runs knotless in a pipe. */
  cli(args: readonly string[], stdin?: string): Promise<Ended>;
  /** Calls a tool of a server that goes on between calls; `flags` are the server's. */
  tool(name: string, args: object, flags?: readonly string[]): Promise<ToolAnswer>;
}

/** Makes folders for an account of the network, logged in with its password unless told otherwise. */
export async function openHome(
  network: Network,
  person: Person = {},
): Promise<Home> {
  const program = await binary();
  const folders = await openFolders(network, person);
  const { account, dir } = folders;
  const env = {
    PATH: `${program.replace(/\/[^/]+$/, "")}:${Deno.env.get("PATH") ?? ""}`,
    ...folders.env,
  };
  const servers = new Map<string, Promise<Client & AsyncDisposable>>();
  const home: Home = {
    account,
    dir,
    env,
    cli: (args, stdin) => run(program, args, { env, cwd: dir, stdin }),
    async tool(name, args, flags = []) {
      const key = flags.join(" ");
      const server = servers.get(key) ?? connect(program, ["mcp", ...flags], env);
      servers.set(key, server);
      const answer = await (await server).callTool({ name, arguments: { ...args } });
      if (flags.includes("--structured")) checkStructured(name, answer);
      return { texts: textsOf(answer), isError: answer.isError === true };
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers.values()) await (await server)[Symbol.asyncDispose]();
      await folders[Symbol.asyncDispose]();
    },
  };
  if (person.login !== false) {
    const { status, err } = await home.cli(
      ["login", account.handle, "--app-password-stdin"],
      `${account.password}\n`,
    );
    if (status !== 0) {
      throw new Error(`the login of ${account.handle} ended with ${status}: ${err}`);
    }
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
