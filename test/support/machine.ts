/** One person's machine inside the test's process: folders, and contexts opened on them as each process would. */
import type { Contexts, Kind } from "../../core/context.ts";
import { type Globals, openContexts } from "../../core/open.ts";
import { type Folders, openFolders, type Person } from "./folders.ts";
import type { Network } from "./network.ts";

export interface Machine extends Folders {
  /** What commands have said beside their answers, oldest first. */
  readonly notes: string[];
  /** Opens a context as a new process would, which looks at the PDS each time unless told otherwise. */
  open<K extends Kind>(kind: K, globals?: Globals): Promise<Contexts[K]>;
}

/** Makes folders for an account of the network, logged in unless told otherwise. */
export async function openMachine(
  network: Pick<Network, "createAccount" | "env">,
  person: Person = {},
): Promise<Machine> {
  const folders = await openFolders(network, person);
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
  };
  if (person.login !== false) {
    const { identity, sessions } = await machine.open("machine");
    await sessions.loginWithPassword(await identity.resolve(account.did), account.password);
  }
  return machine;
}
