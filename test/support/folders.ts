/** The folders of one person's machine. */
import { join } from "node:path";
import type { Account } from "../../scripts/sandbox/state.ts";
import type { Network } from "./network.ts";

/** Whose machine it is. */
export interface Person {
  /** What the account that is made for it is called, unless there is one. */
  readonly name?: string;
  readonly account?: Account;
  /** Whether the account is to be logged in; it is if not given. */
  readonly login?: boolean;
  /** More for the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A new folder, the account whose machine it stands for, and an environment in which all is kept in it. */
export interface Folders extends AsyncDisposable {
  readonly account: Account;
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Makes folders for an account of the network. */
export async function openFolders(
  network: Pick<Network, "createAccount" | "env">,
  { name = "user", account, env = {} }: Person,
): Promise<Folders> {
  const who = account ?? await network.createAccount(name);
  const dir = await Deno.makeTempDir({ prefix: "knotless-test-" });
  return {
    account: who,
    dir,
    env: { ...network.env, ...keptIn(dir), ...env },
    [Symbol.asyncDispose]: () => Deno.remove(dir, { recursive: true }),
  };
}

/** The part of an environment that has all kept in a folder. */
export function keptIn(dir: string): Record<string, string> {
  return {
    HOME: dir,
    KNOTLESS_CONFIG_DIR: join(dir, "config"),
    KNOTLESS_CACHE_DIR: join(dir, "cache"),
    KNOTLESS_STATE_DIR: join(dir, "state"),
  };
}
