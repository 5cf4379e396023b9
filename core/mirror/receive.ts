import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { layered } from "../git/layered.ts";
import { Links } from "../git/links.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import { openStore } from "../git/store.ts";
import { indexFile } from "./arrive.ts";
import { movePacks, packsOf } from "./place.ts";
import { publishedOf } from "./published.ts";
import { doubtArrival, settleArrival, verifyPush } from "./verify.ts";
import type { Received } from "./view.ts";
import type { World } from "./world.ts";

/**
 * Indexes a pack, its bytes or the path of its file, into a folder of its own in the mirror at `path`, which holds `held`;
 * a CorruptError unless every object is sound and all that `tips` reach is held.
 */
export async function receivePack(
  world: World,
  path: string,
  held: ObjectReader,
  { pack, tips }: { pack: Uint8Array | string; tips: readonly Oid[] },
): Promise<Received> {
  const folder = join(path, `push-${world.unique()}`);
  await mkdir(packsOf(folder), { recursive: true });
  try {
    const file = typeof pack === "string" ? pack : join(folder, "pushed");
    if (typeof pack !== "string") await writeFile(file, pack);
    const { signal } = world;
    const links = new Links();
    const indexed = await indexFile(file, folder, {
      store: held,
      links,
      signal,
      progress: (text, done, total) => world.progress(text, done, total),
    });
    const arrived = openStore(folder);
    const reader = layered(held, arrived);
    const verified = await verifyPush(path, held, arrived, tips, { links, signal });
    const published = await publishedOf(path, indexed, file);
    const close = () => arrived.close();
    return { ...published, reader, folder, name: indexed.name, verified, close };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Moves a received pack to the others of the mirror at `path`; run under the mirror's lock. */
export async function keepReceived(
  world: World,
  path: string,
  { verified, folder, close }: Received,
): Promise<void> {
  close();
  // One pack comes all at once: what was found whole is so, wherever this is cut off.
  if (verified.unreached.size > 0) await doubtArrival(path, verified, world.unique());
  await movePacks(folder, path);
  await settleArrival(path, verified, world.unique());
  await rm(folder, { recursive: true, force: true });
}
