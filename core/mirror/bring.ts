import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../atproto/identity.ts";
import { CorruptError } from "../errors.ts";
import type { ObjectReader } from "../git/object.ts";
import { openStore } from "../git/store.ts";
import { writeChains } from "./chains.ts";
import type { Manifest } from "./manifest.ts";
import { dropOtherPacks, makeBare, movePacks, packsOf, sweepPushes } from "./place.ts";
import type { State } from "./state.ts";
import { fetchPacks } from "./sync.ts";
import { doubtArrival, settleArrival, type Verified, verifyArrival } from "./verify.ts";
import type { World } from "./world.ts";

/** The mirror that packs are brought to, and whose packs. */
export interface Bringing {
  readonly account: Account;
  readonly path: string;
  readonly held: ObjectReader;
  readonly state: State | undefined;
  readonly manifest: Manifest;
  /** Brings folds too whose objects all are held. */
  readonly isWhole: boolean;
}

/** What a mirror's state is to tell of the packs that it holds by now. */
export interface Brought extends Pick<State, "packs" | "records"> {
  /** The folder in which they waited, of no use once the state tells of them. */
  readonly waiting: string;
}

/**
 * Fetches the packs of a manifest that a mirror lacks, and moves them to its others once all that the refs reach has been
 * found there, else CorruptError; run under the mirror's lock. One that is cut off is taken up by the next.
 */
export async function bringPacks(world: World, bringing: Bringing): Promise<Brought> {
  const { account, path, held, state, manifest, isWhole } = bringing;
  const { records, signal } = world;
  await makeBare(path, world.unique());
  await sweepPushes(path, world.now());
  const waiting = join(path, "incoming");
  await mkdir(packsOf(waiting), { recursive: true });
  const progress = (text: string, done?: number, total?: number) =>
    world.progress(text, done, total);
  const fetching = { account, path, held, waiting, state, manifest, isWhole, signal, progress };
  const fetched = await fetchPacks({ ...fetching, records });
  await dropOtherPacks(waiting, new Set(fetched.packs.values()));
  const arrived = openStore(waiting);
  let verified: Verified;
  try {
    const following = { links: fetched.links, signal };
    verified = await verifyArrival(path, held, arrived, state, manifest, following);
  } catch (error) {
    // A fold may hold other than what it says it folds.
    const isSkipped = !isWhole && [...fetched.packs.values()].includes("");
    if (!(error instanceof CorruptError) || !isSkipped) throw error;
    return await bringPacks(world, { ...bringing, isWhole: true });
  } finally {
    arrived.close();
  }
  // Without a state nothing that is held is taken on trust.
  if (state) await doubtArrival(path, verified, world.unique());
  await movePacks(waiting, path);
  await settleArrival(path, verified, world.unique());
  await writeChains(path, fetched.chains, world.unique());
  return { packs: fetched.packs, records: fetched.records, waiting };
}
