import { copyFile, mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { KnotlessError } from "../errors.ts";
import { isThere } from "../files.ts";
import { indexPack } from "../git/index_pack.ts";
import { joinPacks } from "../git/repack.ts";
import type { ObjectStore } from "../git/store.ts";
import { PACK_LIMITS } from "./arrive.ts";
import { uncoverPacks } from "./cover.ts";
import { LISTS, movePacks, packsOf } from "./place.ts";
import { type State, writeState } from "./state.ts";

/** With more git packs than this the small ones are joined. */
const MOST_PACKS = 50;
/** So many are left at most: what is looked for is looked for in each of them. */
const LEFT = 10;
/** Joining goes on to a larger pack while that has less than this many times what is joined already. */
const TIER = 2;

/**
 * Joins the small git packs of the mirror at `path` into one when there are many, and gives the state that was written
 * then. No object goes: a pack goes once the new one is in its place, so that whoever reads finds an object in either.
 * Run under the mirror's lock; one that fails is left for the next time.
 */
export async function consolidate(
  path: string,
  state: State,
  { store, unique, signal, progress }: {
    store: ObjectStore;
    unique: () => string;
    signal: AbortSignal;
    progress(text: string, done?: number, total?: number): void;
  },
): Promise<State> {
  const chosen = chooseSmall(await measurePacks(path));
  if (chosen.length === 0) return state;
  const work = join(path, `push-${unique()}`);
  try {
    await mkdir(packsOf(work), { recursive: true });
    const file = join(work, "joined");
    const paths = chosen.map((name) => join(packsOf(path), name));
    await joinPacks(store, paths, file, { signal, progress });
    const outDir = packsOf(work);
    const { name } = await indexPack(file, {
      outDir,
      limits: PACK_LIMITS,
      complete: false,
      signal,
      progress,
    });
    if (chosen.includes(name)) return state;
    await movePacks(work, path);
    const next = await rename(path, state, new Set(chosen), name);
    await writeState(path, next, unique());
    await uncoverPacks(path);
    await dropPacks(path, chosen);
    await dropLists(path, next);
    store.refresh();
    return next;
  } catch (error) {
    if (!(error instanceof KnotlessError)) throw error;
    return state;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The path, without its ending, of the index that tells which objects a pack of the manifest has, whatever git pack it is in. */
export async function listPath(path: string, sha256: string, name: string): Promise<string> {
  const list = join(path, LISTS, sha256);
  return await isThere(`${list}.idx`) ? list : join(packsOf(path), name);
}

interface Measured {
  readonly name: string;
  readonly bytes: number;
}

async function measurePacks(path: string): Promise<Measured[]> {
  const names = (await readdir(packsOf(path))).filter((name) =>
    /^pack-[0-9a-f]{40}\.idx$/.test(name)
  )
    .map((name) => name.slice(0, -4));
  if (names.length <= MOST_PACKS) return [];
  return await Promise.all(names.map(async (name) => ({
    name,
    bytes: (await stat(join(packsOf(path), `${name}.pack`))).size,
  })));
}

/** The smallest, as many as leave few, and on as long as the next is not much larger than those together. */
function chooseSmall(packs: readonly Measured[]): string[] {
  const sorted = [...packs].sort((a, b) => a.bytes - b.bytes);
  const chosen: string[] = [];
  let bytes = 0;
  for (const pack of sorted) {
    if (sorted.length - chosen.length < LEFT && pack.bytes >= TIER * bytes) break;
    chosen.push(pack.name);
    bytes += pack.bytes;
  }
  return chosen;
}

/** Names the new pack in place of those that are in it, whose lists are kept. */
async function rename(
  path: string,
  state: State,
  joined: ReadonlySet<string>,
  into: string,
): Promise<State> {
  await mkdir(join(path, LISTS), { recursive: true });
  const packs = new Map(state.packs);
  for (const [sha256, name] of packs) {
    if (!joined.has(name)) continue;
    const list = join(path, LISTS, `${sha256}.idx`);
    if (!await isThere(list)) await copyFile(join(packsOf(path), `${name}.idx`), list);
    packs.set(sha256, into);
  }
  return { ...state, packs };
}

/** Removes packs, their indexes first: without one a pack is not looked in. */
async function dropPacks(path: string, names: readonly string[]): Promise<void> {
  for (const ending of ["idx", "pack"]) {
    for (const name of names) await rm(join(packsOf(path), `${name}.${ending}`), { force: true });
  }
}

async function dropLists(path: string, { packs }: State): Promise<void> {
  for (const name of await readdir(join(path, LISTS))) {
    if (!packs.has(name.slice(0, -4))) await rm(join(path, LISTS, name), { force: true });
  }
}
