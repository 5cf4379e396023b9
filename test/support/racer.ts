/** Machines of one account that write to one repository at once, each behind proxies of its own that can hold its requests. */
import { assert, assertEquals } from "@std/assert";
import type { WriteContext } from "../../core/context.ts";
import { KnotlessError } from "../../core/errors.ts";
import type { RefUpdate } from "../../core/forge/moved.ts";
import { publish } from "../../core/forge/publish.ts";
import { openWriting, type Writing } from "../../core/forge/writing.ts";
import { utf8 } from "../../core/git/bytes.ts";
import { buildCommit } from "../../core/git/commit_build.ts";
import type { Oid } from "../../core/git/object.ts";
import { writePack } from "../../core/git/write_pack.ts";
import type { Account } from "../../scripts/sandbox/state.ts";
import type { Network } from "./network.ts";
import { openProxiedMachine } from "./proxied.ts";
import type { NetworkProxies } from "./proxy.ts";

export const PUT = "com.atproto.repo.putRecord";
export const APPLY = "com.atproto.repo.applyWrites";

export interface Racer extends AsyncDisposable {
  readonly context: WriteContext;
  readonly proxies: NetworkProxies;
}

/** Opens one machine of the account. */
export async function openRacer(network: Network, account: Account): Promise<Racer> {
  const machine = await openProxiedMachine(network, { account });
  return {
    // Who lost a race tries again at once.
    context: { ...await machine.open("write"), random: () => 0 },
    proxies: machine.proxies,
    [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
  };
}

/** What a push brings: files on top of a branch, `ref` unless `from` says otherwise. */
export interface Pushing {
  readonly ref: string;
  readonly from?: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Pushes a commit as a thin pack, as git does, and gives it; it is made of the newest state and never made anew. */
export async function push(
  { context }: Pick<Racer, "context">,
  named: { owner: string; name: string },
  { ref, from = ref, files }: Pushing,
): Promise<Oid> {
  const writing = await openWriting(context, named);
  const { repository: { mirror }, manifest, repository } = writing;
  const { commit, pack } = commitOn(writing, manifest.refs.get(from)?.oid, files);
  const received = await mirror.receive(pack, [commit]);
  const update: RefUpdate = { ref, old: manifest.refs.get(ref)?.oid, new: commit };
  await publish(context, repository, manifest, { updates: [update], received });
  return commit;
}

function commitOn(
  { reading: { objects } }: Writing,
  tip: Oid | undefined,
  files: Readonly<Record<string, string>>,
): { commit: Oid; pack: Uint8Array } {
  const person = { name: utf8("Ann"), email: utf8("ann@test"), time: 1_700_000_000, zone: "+0000" };
  const { commit, objects: made } = buildCommit(objects, {
    tip,
    changes: Object.entries(files).map(([path, text]) => ({
      path: utf8(path),
      content: utf8(text),
    })),
    message: `change ${Object.keys(files).join()}`,
    author: person,
    committer: person,
  });
  const pack = writePack(made.map(({ oid, kind, bytes, base }) => {
    const held = base === undefined ? undefined : objects.read(base);
    return { oid, kind, bytes, ...(base && held && { base: { oid: base, bytes: held.bytes } }) };
  }));
  return { commit, pack };
}

/** Work that has come to the request at which it is held. */
export interface Held<T> {
  /** Lets it go on, and gives what came of it. */
  finish(): Promise<PromiseSettledResult<T>>;
}

/** Starts work and gives it once its first request of the method is there, which is not passed on yet. */
export async function holdAt<T>(
  { proxies: { pds } }: Pick<Racer, "proxies">,
  nsid: string,
  work: () => Promise<T>,
): Promise<Held<T>> {
  let release = () => {};
  const until = new Promise<void>((resolve) => release = resolve);
  using rule = pds.inject({ nsid, times: 1 }, { kind: "hold", until });
  let isOver = false;
  const done = Promise.allSettled([work()]).finally(() => isOver = true);
  while (rule.hits === 0 && !isOver) await new Promise((resolve) => setTimeout(resolve, 1));
  if (rule.hits === 0) throw new Error(`it ended without ${nsid}: ${JSON.stringify(await done)}`);
  return {
    async finish() {
      release();
      return (await done)[0];
    },
  };
}

/** Runs all so that each has come to its request of the method before any of these is passed on. */
export async function atOnce<T>(
  nsid: string,
  ...all: readonly (readonly [Pick<Racer, "proxies">, () => Promise<T>])[]
): Promise<PromiseSettledResult<T>[]> {
  const held = await Promise.all(all.map(([racer, work]) => holdAt(racer, nsid, work)));
  return await Promise.all(held.map((one) => one.finish()));
}

/** Runs `work`, whose first request of the method waits until `other` is done. */
export async function overtaken<T>(
  racer: Pick<Racer, "proxies">,
  nsid: string,
  work: () => Promise<T>,
  other: () => Promise<unknown>,
): Promise<PromiseSettledResult<T>> {
  const held = await holdAt(racer, nsid, work);
  try {
    await other();
  } catch (error) {
    await held.finish();
    throw error;
  }
  return await held.finish();
}

/** The value of what succeeded. */
export function valueOf<T>(result: PromiseSettledResult<T> | undefined): T {
  if (result?.status !== "fulfilled") throw result?.reason;
  return result.value;
}

/** The error of what failed as it may. */
export function errorOf(result: PromiseSettledResult<unknown> | undefined): KnotlessError {
  assertEquals(result?.status, "rejected", JSON.stringify(result));
  const reason = result?.status === "rejected" ? result.reason : undefined;
  assert(reason instanceof KnotlessError, `${reason?.stack}`);
  return reason;
}

/** The errors of those that failed as they may. */
export function errorsOf(results: readonly PromiseSettledResult<unknown>[]): KnotlessError[] {
  return results.filter(({ status }) => status === "rejected").map(errorOf);
}
