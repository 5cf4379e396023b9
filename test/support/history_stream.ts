/** What makers of random histories share: choices, the state of a commit, and how a commit is written for git to import. */
import { seededRandom } from "./random.ts";

/** A file's mode and bytes, a character each; of a submodule its commit. */
export interface File {
  mode: string;
  content: string;
}

/** What a commit holds, by path; a path is bytes as well, a character each. */
export type State = Map<string, File>;

/** A source of random choices over one seed. */
export class Chooser {
  readonly random: () => number;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  of<T>(choices: readonly T[]): T {
    const chosen = choices[this.below(choices.length)];
    if (chosen === undefined) throw new Error("there is nothing to choose from");
    return chosen;
  }

  chance(odds: number): boolean {
    return this.random() < odds;
  }
}

/** Sets a file, taking away what could not be beside it. */
export function put(state: State, path: string, file: File): void {
  for (const other of state.keys()) {
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) state.delete(other);
  }
  state.set(path, file);
}

/** Takes over what another commit has, each path by these odds. */
export function mixIn(state: State, other: State, odds: number, choose: Chooser): void {
  for (const path of new Set([...state.keys(), ...other.keys()])) {
    if (!choose.chance(odds)) continue;
    const file = other.get(path);
    if (file === undefined) state.delete(path);
    else put(state, path, file);
  }
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Writes a commit for `git fast-import`, with the branch `c` and its number; parents are numbers of commits before it. */
export function formatCommit({ index, date, message, first, others, state }: {
  index: number;
  date: number;
  message: string;
  first: number | undefined;
  others: readonly number[];
  state: State;
}): string {
  const out = [`commit refs/heads/c${index}\nmark :${index + 1}\n`];
  out.push(`committer N <n@e> ${date} +0000\n`, data(message));
  if (first !== undefined) out.push(`from :${first + 1}\n`);
  for (const other of others) out.push(`merge :${other + 1}\n`);
  out.push("deleteall\n");
  for (const [path, { mode, content }] of state) {
    if (mode === "160000") out.push(`M ${mode} ${content} ${quoted(path)}\n`);
    else out.push(`M ${mode} inline ${quoted(path)}\n`, data(content));
  }
  return out.join("");
}

function data(text: string): string {
  return `data ${text.length}\n${text}\n`;
}

function quoted(path: string): string {
  const escaped = path.replace(/[\\"]/g, "\\$&").replace(/\t/g, "\\t");
  return `"${escaped}"`;
}
