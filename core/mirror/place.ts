import { access, copyFile, mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isMissing, namesIn, readText, writeAtomic } from "../files.ts";
import { formatPackedRefs, type RefTarget } from "./manifest.ts";

/**
 * The file with the oids that packs brought and no ref has reached yet. What they lead to has not been seen, so being
 * here proves nothing for them; everything else that is held is held with all it leads to.
 */
export const UNVERIFIED = "unverified";

const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[gc]
\tauto = 0
`;

/** Makes `path` a bare git repository with nothing in it, unless it is one. */
export async function makeBare(path: string, unique: string): Promise<void> {
  await mkdir(join(path, "objects", "pack"), { recursive: true });
  await mkdir(join(path, "refs"), { recursive: true });
  for (const [name, text] of [["config", CONFIG], ["HEAD", "ref: refs/heads/main\n"]] as const) {
    const file = join(path, name);
    if (readText(file) === undefined) await writeAtomic(file, text, { unique });
  }
  const tag = join(path, "..", "..", "CACHEDIR.TAG");
  await writeAtomic(tag, "Signature: 8a477f597d28d172789f06886806bc55\n", { unique });
}

/** Writes git's own files for the refs; git sees the old ones or the new ones. */
export async function placeRefs(
  path: string,
  head: string,
  refs: ReadonlyMap<string, RefTarget>,
  unique: string,
): Promise<void> {
  for (
    const [name, text] of [
      ["packed-refs", formatPackedRefs(refs)],
      ["HEAD", `ref: ${head}\n`],
    ] as const
  ) {
    const file = join(path, name);
    if (readText(file) !== text) await writeAtomic(file, text, { unique });
  }
}

/** The folder with the indexes of packs that are joined to one git pack, by SHA-256: which objects each of them brought. */
export const LISTS = "lists";

/** The folder of `path` in which packs wait until all of a sync or push has been checked. */
export function packsOf(path: string): string {
  return join(path, "objects", "pack");
}

/**
 * Moves the packs that wait in `from` into the repository at `path`, what lists their objects first; an idx last, since
 * git looks for those.
 */
export async function movePacks(from: string, path: string): Promise<void> {
  const lists = namesIn(join(from, LISTS));
  if (lists.length > 0) await mkdir(join(path, LISTS), { recursive: true });
  for (const name of lists) await rename(join(from, LISTS, name), join(path, LISTS, name));
  const indexes = namesIn(packsOf(from)).filter((name) => /^pack-[0-9a-f]{40}\.idx$/.test(name))
    .sort();
  for (const index of indexes) {
    const pack = index.replace(/idx$/, "pack");
    await rename(join(packsOf(from), pack), join(packsOf(path), pack));
    await rename(join(packsOf(from), index), join(packsOf(path), index));
  }
}

/** Removes the packs that wait in `from` under other names than these: no check of new refs may count on them. */
export async function dropOtherPacks(from: string, names: ReadonlySet<string>): Promise<void> {
  for (const name of namesIn(packsOf(from))) {
    if (names.has(name.replace(/\.(pack|idx)$/, ""))) continue;
    await rm(join(packsOf(from), name), { recursive: true, force: true });
  }
}

/**
 * True when the repository at `path` has git's own files, the git packs that these were made into, by SHA-256, and the
 * lists of those that are in one together: a cache may be cleared at any time, by halves.
 */
export function isIntact(
  path: string,
  packs: ReadonlyMap<string, string>,
  others: readonly string[],
): boolean {
  // Lists cost less than a look at each.
  const there = new Set(namesIn(packsOf(path)));
  for (const name of packs.values()) {
    if (name !== "" && !(there.has(`${name}.pack`) && there.has(`${name}.idx`))) return false;
  }
  const own = new Set(namesIn(path));
  return ["HEAD", "config", "packed-refs", "refs", ...others].every((name) => own.has(name)) &&
    unlisted(packs, namesIn(join(path, LISTS))).length === 0;
}

/** Copies the index of a git pack that several packs, each whole, have come to be, so that there is a list for each. */
export async function keepLists(path: string, packs: ReadonlyMap<string, string>): Promise<void> {
  const lacking = unlisted(packs, namesIn(join(path, LISTS)));
  if (lacking.length > 0) await mkdir(join(path, LISTS), { recursive: true });
  for (const sha256 of lacking) {
    const idx = join(packsOf(path), `${packs.get(sha256)}.idx`);
    await copyFile(idx, join(path, LISTS, `${sha256}.idx`));
  }
}

/** The packs that are in a git pack with others and for which none of these is a list. */
function unlisted(packs: ReadonlyMap<string, string>, lists: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of packs.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const listed = new Set(lists);
  return [...packs].flatMap(([sha256, name]) => {
    const isShared = name !== "" && (counts.get(name) ?? 0) > 1;
    return isShared && !listed.has(`${sha256}.idx`) ? [sha256] : [];
  });
}

/** True when the repository at `path` has the pack with its index. */
export async function holdsPack(path: string, name: string): Promise<boolean> {
  try {
    for (const ending of ["pack", "idx"]) await access(join(packsOf(path), `${name}.${ending}`));
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** The bytes of the files in the pack folder of the repository at `path`. */
export async function sizeOfPacks(path: string): Promise<number> {
  let bytes = 0;
  for (const name of namesIn(packsOf(path))) {
    bytes += (await stat(join(packsOf(path), name))).size;
  }
  return bytes;
}

const LEFT_OVER_MS = 24 * 60 * 60_000;

/** Removes what pushes and writes that were cut off over a day ago have left in the repository at `path`. */
export async function sweepPushes(path: string, now: Date): Promise<void> {
  for (const name of namesIn(path)) {
    if (!name.startsWith("push-") && !name.endsWith(".tmp")) continue;
    const left = join(path, name);
    const there = await stat(left).catch(() => undefined);
    if (there === undefined || now.getTime() - there.mtimeMs < LEFT_OVER_MS) continue;
    await rm(left, { recursive: true, force: true });
  }
}
