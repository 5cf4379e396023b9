/** One person's machine inside the test's process: folders, and contexts opened on them as each process would. */
import type { Contexts, Kind } from "../../core/context.ts";
import type { Account } from "../../scripts/sandbox/state.ts";
import { type Globals, openContexts } from "../../core/open.ts";
import { type Folders, openFolders, type Person } from "./folders.ts";
import type { Network } from "./network.ts";

export interface Machine extends Folders {
  /** What commands have said beside their answers, oldest first. */
  readonly notes: string[];
  /** Opens a context as a new process would, which looks at the PDS each time unless told otherwise. */
  open<K extends Kind>(kind: K, globals?: Globals): Promise<Contexts[K]>;
  /** Logs an account in with its password. */
  login(account: Account): Promise<void>;
}

/** Makes folders for an account of the network, logged in unless told otherwise. */
export async function openMachine(
  network: Pick<Network, "createAccount" | "env">,
  person: Person = {},
): Promise<Machine> {
  return await openMachineIn(await openFolders(network, person), person);
}

/** Makes a machine of folders and their environment, logged in unless told otherwise. */
export async function openMachineIn(folders: Folders, { login }: Person): Promise<Machine> {
  const { account, env } = folders;
  const notes: string[] = [];
  const surface = {
    signal: new AbortController().signal,
    note: (text: string) => void notes.push(text),
    progress: () => {},
  };
  const machine: Machine = {
    ...folders,
    notes,
    open: (kind, globals = { refresh: true }) => openContexts(globals, env, surface)(kind),
    async login({ did, password }) {
      const { identity, sessions } = await machine.open("machine");
      await sessions.loginWithPassword(await identity.resolve(did), password);
    },
  };
  if (login !== false) await machine.login(account);
  return machine;
}
