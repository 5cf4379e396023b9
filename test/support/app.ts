/** A repository as the records at its owner's PDS tell of it, and a machine that never saw it. */
import { type AskedChange, commitChanges } from "../../core/forge/commit.ts";
import { findRepository, type Repository } from "../../core/forge/repository.ts";
import { fsck } from "./git.ts";
import { type Machine, openMachine } from "./machine.ts";
import type { Network } from "./network.ts";
import { type Json, noise, type Owner } from "./owner.ts";

type Named = { readonly owner: string; readonly name: string };

/** The repository, and what it was called when it was made. */
export interface App {
  readonly repository: Repository;
  readonly named: Named;
  /** Commits as a new process on the machine would, to the default branch unless told otherwise. */
  commit(
    machine: Machine,
    changes: AskedChange[],
    branch?: string,
  ): ReturnType<typeof commitChanges>;
  /** Commits so much to a file that it is a pack of its own. */
  fill(machine: Machine, path: string, branch?: string): ReturnType<typeof commitChanges>;
  manifest(): Promise<Json>;
  /** Where each ref is, by its full name. */
  refs(): Promise<Record<string, string>>;
  /** Where `main` is. */
  tip(): Promise<string | undefined>;
  /** The URIs of its pack records. */
  packs(): Promise<string[]>;
  /** Those that its manifest does not list. */
  orphans(): Promise<string[]>;
  /** Reads it, by another name if it has one, as a machine that never saw it, has git check all of it, and looks at the copy. */
  readAnew<T>(look: (path: string) => T, named?: Named): Promise<T>;
}

/** Looks at a repository of the account. */
export function appOf(
  { network, owner }: { network: Network; owner: Owner },
  repository: Repository,
): App {
  const { account } = owner;
  const named = { owner: account.did, name: repository.name };
  const app: App = {
    repository,
    named,
    commit: async (machine, changes, branch) =>
      await commitChanges(await machine.open("write"), named, {
        message: "a change",
        changes,
        branch,
      }),
    fill: (machine, path, branch) =>
      app.commit(machine, [{ path, base64: noise(20_000).toBase64() }], branch),
    manifest: async () => (await owner.get("dev.knotless.refs", repository.rkey)).value,
    refs: async () =>
      Object.fromEntries((await app.manifest()).refs.map(({ name, oid }: Json) => [name, oid])),
    tip: async () => (await app.refs())["refs/heads/main"],
    async packs() {
      const all = await owner.list("dev.knotless.pack");
      return all.filter(({ value }) => value.repo === repository.uri).map(({ uri }) => uri);
    },
    async orphans() {
      const listed = new Set((await app.manifest()).packs.map(({ rkey }: Json) => rkey));
      return (await app.packs()).filter((uri) => !listed.has(uri.split("/").at(-1)));
    },
    async readAnew(look, of = named) {
      await using fresh = await openMachine(network, { account, login: false });
      const { mirror } = await findRepository(await fresh.open("read"), of);
      await mirror.latest();
      fsck(mirror.path);
      return look(mirror.path);
    },
  };
  return app;
}

/** The text of a file, whose lines can be changed one by one. */
export const nineLines = Array.from({ length: 9 }, (_, i) => `line ${i}\n`).join("");

/** A change of one text in a file. */
export function edit(path: string, old: string, to: string): AskedChange {
  return { path, edits: [{ old, new: to }] };
}
