import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CorruptError, quote } from "../errors.ts";
import { isMissing, writeAtomic } from "../files.ts";
import { checkConnected } from "../git/connected.ts";
import { layered } from "../git/layered.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import { OID_BYTES, oidAt, oidBytes } from "../git/oid.ts";
import type { ObjectStore } from "../git/store.ts";
import type { Manifest } from "./manifest.ts";
import type { State } from "./state.ts";

/**
 * The file with the oids that packs brought and no ref has reached yet. What they lead to has not been seen, so being
 * here proves nothing for them; everything else that is held is held with all it leads to.
 */
const FILE = "unverified";

/**
 * Refuses a manifest unless all that its refs reach is held, and each branch is at a commit. Gives the oids that have
 * arrived unreached, with those of before that still are.
 */
export async function verifyArrival(
  path: string,
  held: ObjectReader,
  arrived: ObjectStore,
  state: State | undefined,
  { refs, uri }: Manifest,
): Promise<ReadonlySet<Oid>> {
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
  return leftOver(unverified, held, arrived, checkConnected(reader, tips, { have: isProven }));
}

/** Refuses a pack to be pushed unless all that `tips` reach is held with it; gives what is then unreached. */
export async function verifyPush(
  path: string,
  held: ObjectReader,
  arrived: ObjectStore,
  tips: readonly Oid[],
): Promise<ReadonlySet<Oid>> {
  const unverified = await readUnverified(path);
  const have = (oid: Oid) => held.has(oid) && !unverified.has(oid);
  const reached = checkConnected(layered(held, arrived), tips, { have });
  return leftOver(unverified, held, arrived, reached);
}

function leftOver(
  unverified: ReadonlySet<Oid>,
  held: ObjectReader,
  arrived: ObjectStore,
  reached: ReadonlySet<Oid>,
): ReadonlySet<Oid> {
  const left = new Set([...unverified].filter((oid) => !reached.has(oid)));
  for (const oid of arrived.oids()) {
    if (!reached.has(oid) && !held.has(oid)) left.add(oid);
  }
  return left;
}

async function readUnverified(path: string): Promise<ReadonlySet<Oid>> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(join(path, FILE));
  } catch (error) {
    if (isMissing(error)) return new Set();
    throw error;
  }
  const oids = new Set<Oid>();
  for (let at = 0; at + OID_BYTES <= bytes.length; at += OID_BYTES) oids.add(oidAt(bytes, at));
  return oids;
}

/** Keeps the oids that no ref has reached yet. */
export async function writeUnverified(
  path: string,
  oids: ReadonlySet<Oid>,
  unique: string,
): Promise<void> {
  const bytes = new Uint8Array(oids.size * OID_BYTES);
  let at = 0;
  for (const oid of oids) {
    bytes.set(oidBytes(oid), at);
    at += OID_BYTES;
  }
  await writeAtomic(join(path, FILE), bytes, { unique });
}
