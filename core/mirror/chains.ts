import { join } from "node:path";
import { readText, writeAtomic } from "../files.ts";
import type { Oid } from "../git/object.ts";
import { OID_BYTES, oidAt, oidBytes } from "../git/oid.ts";
import type { Chain } from "../git/pack_resolve.ts";

/** The most deltas that may lie one upon the other across packs that lean on others. */
export const MOST_CHAIN = 50;
/** The file with the chains. */
export const CHAINS = "chains";

/** Deltas that are known one by one: in a pack of more each counts as the deepest. */
const MOST_KNOWN = 100_000;
const ENTRY = OID_BYTES + 1;

/** Some packs that hold the same objects, as one that a tail was sealed into, and how deep each of their deltas is. */
interface Group {
  readonly packs: ReadonlySet<string>;
  /** Undefined when they are not known, or too many to know. */
  readonly depths: ReadonlyMap<Oid, number> | undefined;
}

/**
 * How many deltas lie under the objects of packs that lean on others, as they are at the owner's PDS: down to an object
 * that is whole there or in a pack that is whole in itself. A copy here does not tell, as it completes its packs.
 */
export class Chains {
  readonly #groups: readonly Group[];

  constructor(groups: readonly Group[] = []) {
    this.#groups = groups;
  }

  /** How deep an object is; 0 for one that is whole or in no pack that leans on others. */
  depthOf(oid: Oid): number {
    return Math.max(
      0,
      ...this.#groups.map(({ depths }) => depths ? depths.get(oid) ?? 0 : MOST_CHAIN),
    );
  }

  /** How deep the deepest object of a pack is that comes after those that are known. */
  deepest(chains: Iterable<Chain>): number {
    let deepest = 0;
    for (const { depth, outer } of chains) {
      deepest = Math.max(deepest, depth + (outer === undefined ? 0 : this.depthOf(outer)));
    }
    return deepest;
  }

  /** With a pack that came after those that are known; without `chains` each of its deltas may be the deepest. */
  with(sha256: string, chains: Iterable<Chain> | undefined): Chains {
    const depths = chains && this.#depthsOf(chains);
    return depths?.size === 0
      ? this
      : new Chains([...this.#groups, { packs: new Set([sha256]), depths }]);
  }

  #depthsOf(chains: Iterable<Chain>): Map<Oid, number> | undefined {
    const depths = new Map<Oid, number>();
    for (const { oid, depth, outer } of chains) {
      depths.set(oid, depth + (outer === undefined ? 0 : this.depthOf(outer)));
      if (depths.size > MOST_KNOWN) return undefined;
    }
    return depths;
  }

  /** With a pack that others were made into, as they are. */
  joined(sha256: string, folds: readonly string[]): Chains {
    return new Chains(this.#groups.map(({ packs, depths }) => ({
      packs: folds.some((fold) => packs.has(fold)) ? new Set([...packs, sha256]) : packs,
      depths,
    })));
  }

  /** Without packs that are not among these: they were folded into one that is whole in itself. */
  of(packs: ReadonlySet<string>): Chains {
    return new Chains(this.#groups.filter((group) => !group.packs.isDisjointFrom(packs)));
  }

  /** The groups as JSON, their objects in Base64. */
  toText(): string {
    return JSON.stringify(this.#groups.map(({ packs, depths }) => [
      [...packs],
      depths && encode(depths),
    ]));
  }
}

/** Reads what a mirror knows of chains; undefined when there is nothing, or it is damaged. */
export function readChains(path: string): Chains | undefined {
  const text = readText(join(path, CHAINS));
  if (text === undefined) return undefined;
  try {
    return new Chains(
      JSON.parse(text).map(([packs, depths]: [string[], string | null]) => ({
        packs: new Set(packs),
        depths: depths === null ? undefined : decode(depths),
      })),
    );
  } catch {
    return undefined;
  }
}

/** Writes them, all or nothing; run under the mirror's lock. */
export async function writeChains(path: string, chains: Chains, unique: string): Promise<void> {
  const text = chains.toText();
  if (readText(join(path, CHAINS)) === text) return;
  await writeAtomic(join(path, CHAINS), text, { unique });
}

function encode(depths: ReadonlyMap<Oid, number>): string {
  const bytes = new Uint8Array(depths.size * ENTRY);
  let at = 0;
  for (const [oid, depth] of depths) {
    bytes.set(oidBytes(oid), at);
    bytes[at + OID_BYTES] = Math.min(depth, 255);
    at += ENTRY;
  }
  return bytes.toBase64();
}

function decode(text: string): Map<Oid, number> {
  const bytes = Uint8Array.fromBase64(text);
  const depths = new Map<Oid, number>();
  for (let at = 0; at + ENTRY <= bytes.length; at += ENTRY) {
    depths.set(oidAt(bytes, at), bytes[at + OID_BYTES] ?? 0);
  }
  return depths;
}
