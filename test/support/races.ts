/** Three machines of one account and a repository of its own for each race between them. */
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { compactRepository } from "../../core/forge/compact.ts";
import { createRepository } from "../../core/forge/create.ts";
import { MovedError } from "../../core/forge/moved.ts";
import { deleteRepository } from "../../core/forge/remove.ts";
import { findRepository, type Repository } from "../../core/forge/repository.ts";
import type { Manifest } from "../../core/mirror/manifest.ts";
import type { Account } from "../../scripts/sandbox/state.ts";
import { git, tryGit } from "./git.ts";
import { openMachine } from "./machine.ts";
import { type Network, openNetwork } from "./network.ts";
import { noise } from "./owner.ts";
import { openRacer, push, type Pushing, type Racer } from "./racer.ts";

/** How often a race is run, and one that takes long. */
export const RACES = Number(Deno.env.get("KNOTLESS_TEST_RACES") ?? 20);
export const FEW = Math.max(3, Math.ceil(RACES / 10));
export const MAIN = "refs/heads/main";
export const GET_BLOCKS = "com.atproto.sync.getBlocks";
export const GET_BLOB = "com.atproto.sync.getBlob";

const CHECKED_EVERY = 20;
const DAY_MS = 24 * 60 * 60 * 1000;

type Named = { readonly owner: string; readonly name: string };

/** The repository that is raced on; disposing of it deletes it. */
export interface Raced extends AsyncDisposable {
  readonly named: Named;
  /** Commits that were reported as landed and that a ref must lead to. */
  readonly landed: Set<string>;
  manifest(): Promise<Manifest>;
  /** Where a branch is, `main` if not given. */
  head(ref?: string): Promise<string | undefined>;
  /** Pushes what must land. */
  lands(racer: Racer, pushing: Pushing): Promise<string>;
  /** Reads all as a machine that has seen nothing: each ref is where it was left, what landed is there, and git finds no fault. */
  check(named?: Named): Promise<void>;
  /** Runs the rounds of a race that goes on, and checks the whole of it every so often. */
  race(rounds: number, round: (at: number) => Promise<void>): Promise<void>;
  packRecords(): Promise<string[]>;
  /** The records of packs that no manifest has listed: it keeps no note of all that were folded. */
  orphans(): Promise<string[]>;
  /** The repository as it is on a machine. */
  at(racer: Racer): Repository;
  compact(racer: Racer): ReturnType<typeof compactRepository>;
}

/** The machines, and the network they are on. */
interface Races extends AsyncDisposable {
  readonly network: Network;
  readonly account: Account;
  readonly left: Racer;
  readonly right: Racer;
  readonly third: Racer;
  /** Makes a repository with two files to race on. */
  start(): Promise<Raced>;
}

/** What a race is given. */
export interface Race extends Omit<Races, "start" | keyof AsyncDisposable> {
  readonly app: Raced;
}

/** Describes races: each test is given the machines and a repository of its own. */
export function describeRaces(
  what: string,
  define: (it: (name: string, run: (race: Race) => Promise<void>) => void) => void,
): void {
  describe(what, () => {
    let races: Races;
    beforeAll(async () => void (races = await openRaces()));
    afterAll(() => races[Symbol.asyncDispose]());
    define((name, run) =>
      it(name, async () => {
        await using app = await races.start();
        await run({ ...races, app });
      })
    );
  });
}

async function openRaces(): Promise<Races> {
  const network = await openNetwork();
  const account = await network.createAccount("racer");
  const open = () => openRacer(network, account);
  const [left, right, third] = [await open(), await open(), await open()];
  let number = 0;
  return {
    network,
    account,
    left,
    right,
    third,
    start: () => startRace(network, account, left, `app${number++}`),
    async [Symbol.asyncDispose]() {
      for (const racer of [left, right, third]) await racer[Symbol.asyncDispose]();
      await network[Symbol.asyncDispose]();
    },
  };
}

async function startRace(
  network: Network,
  account: Account,
  maker: Racer,
  name: string,
): Promise<Raced> {
  const named = { owner: account.did, name };
  const repository = await createRepository(maker.context, { name });
  const listed = new Set<string>();
  const raced: Raced = {
    named,
    landed: new Set(),
    async manifest() {
      const manifest = await repository.mirror.manifest();
      const { packs, retired } = manifest.record;
      for (const { rkey } of [...packs, ...retired]) listed.add(rkey);
      return manifest;
    },
    head: async (ref = MAIN) => (await raced.manifest()).refs.get(ref)?.oid,
    async lands(racer, pushing) {
      const commit = await push(racer, named, pushing);
      raced.landed.add(commit);
      return commit;
    },
    async check(of = named) {
      await using fresh = await openMachine(network, { account, login: false });
      const { mirror } = await findRepository(await fresh.open("read"), of);
      const { manifest: { refs } } = await mirror.latest();
      const fsck = ["fsck", "--strict", "--no-dangling"];
      const { status, out, err } = tryGit(mirror.path, undefined, ...fsck);
      assertEquals([status, new TextDecoder().decode(out), err], [0, "", ""]);
      const there = git(mirror.path, "for-each-ref", "--format=%(refname) %(objectname)");
      assertEquals(there, [...refs].map(([ref, { oid }]) => `${ref} ${oid}`).join("\n"));
      const reached = new Set(git(mirror.path, "rev-list", "--all").split("\n"));
      assertEquals([...raced.landed].filter((commit) => !reached.has(commit)), []);
    },
    async race(rounds, round) {
      for (let at = 0; at < rounds; at++) {
        await round(at);
        await raced.manifest();
        if ((at + 1) % CHECKED_EVERY === 0 || at + 1 === rounds) await raced.check();
      }
    },
    async packRecords() {
      const rkeys: string[] = [];
      const { records } = maker.context;
      for await (const { uri, value } of records.list(maker.context.account, "dev.knotless.pack")) {
        const isOurs = (value as { repo?: unknown }).repo === repository.uri;
        if (isOurs) rkeys.push(uri.slice(uri.lastIndexOf("/") + 1));
      }
      return rkeys;
    },
    async orphans() {
      await raced.manifest();
      return (await raced.packRecords()).filter((rkey) => !listed.has(rkey));
    },
    at: ({ context }) => ({
      ...repository,
      owner: context.account,
      mirror: context.mirrors.at(context.account, repository.rkey),
    }),
    compact: ({ context }) => compactRepository(context, named),
    async [Symbol.asyncDispose]() {
      // A sweep looks at every pack of the account.
      await deleteRepository(maker.context, named, name);
    },
  };
  await raced.lands(maker, { ref: MAIN, files: { f: lines(0), g: lines(1) } });
  return raced;
}

/** Text that takes so many bytes in a pack. */
export const dense = (bytes: number): string => noise(bytes).toHex();

/** The text of a file, other lines for another number. */
export function lines(seed: number): string {
  return Array.from({ length: 90 }, (_, i) => `${seed} ${i}\n`).join("");
}

/** Some kB now and then, so that tails are sealed and packs of their own come between. */
export function weight(at: number): string {
  return at % 4 === 0 ? dense(20_000) : at % 4 === 2 ? dense(6_000) : "";
}

/** A change of one line, which makes a delta on what the branch has. */
export function change(who: string, at: number): Record<string, string> {
  return {
    f: lines(0).replace("0 7\n", `${who} ${at}\n`),
    ...(weight(at) && { [`${who} large`]: weight(at) }),
  };
}

/** Holds an error to be the one of a branch that moved meanwhile. */
export function assertMoved(error: Error, was: string | undefined, now: string | undefined): void {
  assert(error instanceof MovedError, `${error.stack}`);
  const { message, code, facts } = error;
  const said = `main moved: it was ${was?.slice(0, 7)}, it is now ${now?.slice(0, 7)}`;
  assertEquals([message, code], [said, "conflict.branch_moved"]);
  assertEquals(facts, { ref: MAIN, old: was, now });
}

/** The context of a racer, two days on. */
export const inTwoDays = ({ context }: Racer): Racer["context"] => ({
  ...context,
  now: () => new Date(Date.now() + 2 * DAY_MS),
});
