import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call } from "../../core/command.ts";
import { type Globals, openContexts } from "../../core/open.ts";
import { loadCommand } from "../../core/table.ts";
import { keptIn } from "../support/folders.ts";
import type { Network } from "../support/network.ts";

/** What came of a command, and what it said on its way. */
export interface Ran<R> {
  readonly result: R;
  readonly said: string[];
  readonly notes: string[];
}

/** A person at this machine. */
export interface Person {
  /** Lines on stdin; it ends after them, or stays open when it is a promise that does not settle. */
  readonly lines?: readonly (string | Promise<string | undefined>)[];
  /** Hears each line that is said. */
  hear?(text: string): void;
  readonly interactive?: boolean;
  readonly noInput?: boolean;
}

/** A machine of its own: folders, and commands run as a surface would. */
export interface TestMachine extends AsyncDisposable {
  readonly folder: string;
  readonly env: Record<string, string>;
  run<R>(name: string, args?: object, person?: Person, globals?: Globals): Promise<Ran<R>>;
}

/** Makes a machine on a network. */
export async function openTestMachine(env: Network["env"]): Promise<TestMachine> {
  const folder = await mkdtemp(join(tmpdir(), "knotless-login-"));
  const all: Record<string, string> = {
    ...env,
    ...keptIn(folder),
    BROWSER: "false",
  };
  return {
    folder,
    env: all,
    async run<R>(name: string, args: object = {}, person: Person = {}, globals: Globals = {}) {
      const command = await loadCommand(name);
      const lines = [...person.lines ?? []];
      const said: string[] = [];
      const notes: string[] = [];
      const open = openContexts(globals, all, {
        signal: new AbortController().signal,
        note: (text) => notes.push(text),
        progress: () => {},
        interactive: person.interactive ?? false,
        noInput: person.noInput ?? false,
        readLine: async () => await lines.shift(),
        readSecret: async () => await lines.shift(),
        say: (text) => {
          said.push(text);
          person.hear?.(text);
        },
      });
      const result: R = await call(command, args, open);
      return { result, said, notes };
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
