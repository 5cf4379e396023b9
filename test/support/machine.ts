/** One person's machine inside the test's process: folders, and contexts opened on them as each process would. */
import { join } from "node:path";
import type { Contexts, Kind } from "../../core/context.ts";
import { type Globals, openContexts } from "../../core/open.ts";
import type { Account } from "../../scripts/sandbox/state.ts";
import type { Network } from "./network.ts";

export interface Machine extends AsyncDisposable {
  readonly account: Account;
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
  /** What commands have said beside their answers, oldest first. */
  readonly notes: string[];
  /** Opens a context as a new process would, which looks at the PDS each time unless told otherwise. */
  open<K extends Kind>(kind: K, globals?: Globals): Promise<Contexts[K]>;
}

/** Makes folders for an account of the network, logged in unless told otherwise. */
export async function openMachine(
  network: Pick<Network, "createAccount" | "env">,
  { name = "user", account, login = true, env = {} }: {
    name?: string;
    account?: Account;
    login?: boolean;
    env?: Readonly<Record<string, string>>;
  } = {},
): Promise<Machine> {
  const who = account ?? await network.createAccount(name);
  const dir = await Deno.makeTempDir({ prefix: "knotless-machine-" });
  const all = {
    HOME: dir,
    ...network.env,
    KNOTLESS_CONFIG_DIR: join(dir, "config"),
    KNOTLESS_CACHE_DIR: join(dir, "cache"),
    KNOTLESS_STATE_DIR: join(dir, "state"),
    ...env,
  };
  const notes: string[] = [];
  const surface = {
    signal: new AbortController().signal,
    note: (text: string) => void notes.push(text),
    progress: () => {},
  };
  const machine: Machine = {
    account: who,
    dir,
    env: all,
    notes,
    open: (kind, globals = { refresh: true }) => openContexts(globals, all, surface)(kind),
    async [Symbol.asyncDispose]() {
      await Deno.remove(dir, { recursive: true });
    },
  };
  if (login) {
    const { identity, sessions } = await machine.open("machine");
    await sessions.loginWithPassword(await identity.resolve(who.did), who.password);
  }
  return machine;
}
