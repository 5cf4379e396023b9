import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CorruptError, quote } from "../errors.ts";
import { isMissing, isThere, writeAtomic } from "../files.ts";
import { checkConnected, type Oids } from "../git/connected.ts";
import { layered } from "../git/layered.ts";
import type { Links } from "../git/links.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import { OID_BYTES, oidAt, oidBytes } from "../git/oid.ts";
import { peel } from "../git/rev.ts";
import type { ObjectStore } from "../git/store.ts";
import type { Manifest } from "./manifest.ts";
import { UNVERIFIED } from "./place.ts";
import type { State } from "./state.ts";

/** What a check of new objects came to. */
export interface Verified {
  /** The oids that are held with all they lead to, of those that nothing was known of. */
  readonly reached: Oids;
  /** The oids that have arrived and that no ref reaches. */
  readonly unreached: ReadonlySet<Oid>;
}

/** How connections are followed. */
interface Following {
  /** What the arrived objects lead to, gathered as they were indexed. */
  readonly links: Links;
  readonly signal: AbortSignal;
}

/**
 * Refuses a manifest unless all that its refs reach is held, each branch is at a commit, and each tag peels to what the
 * manifest says.
 */
export async function verifyArrival(
  path: string,
  held: ObjectReader,
  arrived: ObjectStore,
  state: State | undefined,
  { refs, uri }: Manifest,
  { links, signal }: Following,
): Promise<Verified> {
  const reader = layered(held, arrived);
  const unverified = await readUnverified(path);
  // A mirror that lost its state proves nothing by what it holds.
  const isProven = (oid: Oid) => state !== undefined && held.has(oid) && !unverified.has(oid);
  for (const [name, { oid }] of refs) {
    if (state?.refs.get(name)?.oid === oid) continue;
    const kind = reader.info(oid)?.kind;
    if (kind === undefined) {
      throw new CorruptError(`${quote(name)} of ${uri} is at ${oid}, which no pack holds`);
    }
    if (name.startsWith("refs/heads/") && kind !== "commit") {
      throw new CorruptError(`${quote(name)} of ${uri} is at ${oid}, a ${kind}`);
    }
  }
  const tips = [...refs.values()].map(({ oid }) => oid);
  const reached = await checkConnected(reader, tips, { have: isProven, links, signal });
  for (const [name, { oid, peeled }] of refs) {
    const known = state?.refs.get(name);
    if (known?.oid === oid && known.peeled === peeled) continue;
    const actual = peeledOf(reader, oid);
    if (peeled !== actual) {
      throw new CorruptError(
        `${quote(name)} of ${uri} peels to ${actual ?? "nothing"}, not to ${peeled ?? "nothing"}`,
      );
    }
  }
  return { reached, unreached: unreachedOf(held, arrived, reached) };
}

/** What an annotated tag at `oid` peels to; undefined for anything else. */
export function peeledOf(objects: ObjectReader, oid: Oid): Oid | undefined {
  if (objects.info(oid)?.kind !== "tag") return undefined;
  return peel(objects, oid, "commit") ?? peel(objects, oid, "tree") ?? peel(objects, oid, "blob");
}

/** Refuses a pack to be pushed unless all that `tips` reach is held with it. */
export async function verifyPush(
  path: string,
  held: ObjectReader,
  arrived: ObjectStore,
  tips: readonly Oid[],
  { links, signal }: Following,
): Promise<Verified> {
  const unverified = await readUnverified(path);
  const have = (oid: Oid) => held.has(oid) && !unverified.has(oid);
  const reached = await checkConnected(layered(held, arrived), tips, { have, links, signal });
  return { reached, unreached: unreachedOf(held, arrived, reached) };
}

function unreachedOf(
  held: ObjectReader,
  arrived: ObjectStore,
  reached: Oids,
): ReadonlySet<Oid> {
  const left = new Set<Oid>();
  for (const oid of arrived.oids()) {
    if (!reached.has(oid) && !held.has(oid)) left.add(oid);
  }
  return left;
}

async function readUnverified(path: string): Promise<ReadonlySet<Oid>> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(join(path, UNVERIFIED));
  } catch (error) {
    if (isMissing(error)) return new Set();
    throw error;
  }
  const oids = new Set<Oid>();
  for (let at = 0; at + OID_BYTES <= bytes.length; at += OID_BYTES) oids.add(oidAt(bytes, at));
  return oids;
}

/** Notes of oids that are about to be held that nothing is known of what they lead to; run under the mirror's lock. */
export async function doubtArrival(
  path: string,
  { reached, unreached }: Verified,
  unique: string,
): Promise<void> {
  await writeUnverified(path, [await readUnverified(path), reached, unreached], unique);
}

/** Keeps the oids that no ref has reached yet, once all that arrived is in its place; run under the mirror's lock. */
export async function settleArrival(
  path: string,
  { reached, unreached }: Verified,
  unique: string,
): Promise<void> {
  const before = await readUnverified(path);
  const left = [...before].filter((oid) => !reached.has(oid));
  const isSame = unreached.size === 0 && left.length === before.size;
  if (isSame && await isThere(join(path, UNVERIFIED))) return;
  await writeUnverified(path, [left, unreached], unique);
}

async function writeUnverified(
  path: string,
  parts: readonly Iterable<Oid>[],
  unique: string,
): Promise<void> {
  const oids = new Set(parts.flatMap((part) => [...part]));
  const bytes = new Uint8Array(oids.size * OID_BYTES);
  let at = 0;
  for (const oid of oids) {
    bytes.set(oidBytes(oid), at);
    at += OID_BYTES;
  }
  await writeAtomic(join(path, UNVERIFIED), bytes, { unique });
}
