/** What a sandbox keeps to come back as it was: keys, ports and the accounts it made. */
import { makeSecrets, type Secrets } from "./pds.ts";

export interface Account {
  readonly handle: string;
  readonly did: string;
  readonly password: string;
}

export interface Ports {
  readonly pds: number;
  readonly plc: number;
  readonly dns: number;
  readonly handles: number;
}

export interface State {
  readonly secrets: Secrets;
  readonly ports: Ports;
  readonly accounts: readonly Account[];
}

/** Gives the state kept in `directory`, or a fresh one with no ports yet. */
export async function readState(directory: string): Promise<State> {
  try {
    return JSON.parse(await Deno.readTextFile(`${directory}/sandbox.json`));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { secrets: makeSecrets(), ports: { pds: 0, plc: 0, dns: 0, handles: 0 }, accounts: [] };
  }
}

/** Replaces the state kept in `directory`: it is whole or the old one. */
export async function writeState(directory: string, state: State): Promise<void> {
  const path = `${directory}/sandbox.json`;
  await Deno.writeTextFile(`${path}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  await Deno.rename(`${path}.new`, path);
}
