import type { Client } from "@modelcontextprotocol/sdk/client";
import { binary } from "./binary.ts";
import { type Folders, openFolders, type Person } from "./folders.ts";
import { connect, textsOf } from "./mcp.ts";
import type { Network } from "./network.ts";
import { type Ended, run } from "./run.ts";
import { checkStructured } from "./structured.ts";

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
