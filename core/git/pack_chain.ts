import { createHash } from "node:crypto";
import { CorruptError } from "../errors.ts";
import { concat, sameBytes } from "./bytes.ts";
import type { Oid } from "./object.ts";
import { PACK_HEADER, PACK_TRAILER, packHeader } from "./pack_head.ts";
import { sealPack } from "./write_pack.ts";

/** Where one of several packs starts in the pack that has them all: the number of its first entry, and its offset. */
export interface Seam {
  readonly entry: number;
  readonly offset: number;
}

/** Several packs as one. */
export interface PackChain {
  readonly bytes: Uint8Array;
  readonly objects: number;
  /** Where each pack starts, in their order. */
  readonly seams: readonly Seam[];
}

/**
 * Puts the entries of packs one after the other, as they are, into one pack: a delta by distance still finds its base.
 * Whether a pack has as many entries as it says, and they end where it ends, shows when the chain is gone through by its
 * seams.
 */
export function chainPacks(packs: readonly Uint8Array[]): PackChain {
  const bodies: Uint8Array[] = [];
  const seams: Seam[] = [];
  let entry = 0;
  let offset = PACK_HEADER;
  for (const pack of packs) {
    const { objects } = packHeader(pack);
    const end = pack.length - PACK_TRAILER;
    if (end < PACK_HEADER) throw new CorruptError("a pack is cut short");
    const sum = createHash("sha1").update(pack.subarray(0, end)).digest();
    if (!sameBytes(sum, pack.subarray(end))) throw new CorruptError("a pack fails its checksum");
    seams.push({ entry, offset });
    bodies.push(pack.subarray(PACK_HEADER, end));
    entry += objects;
    offset += end - PACK_HEADER;
  }
  return { bytes: sealPack(entry, [concat(bodies)]), objects: entry, seams };
}

/** Steps along the seams of a chain as its entries come. */
export class SeamWalk {
  /** The offset at which the pack at hand starts: no delta by distance reaches before it. */
  floor = PACK_HEADER;
  readonly #seams: readonly Seam[];
  #next = 0;

  constructor(seams: readonly Seam[]) {
    this.#seams = seams;
  }

  /** Steps to an entry; one that starts a pack must be where that starts. */
  step(entry: number, offset: number): void {
    for (let seam = this.#seams[this.#next]; seam?.entry === entry;) {
      if (seam.offset !== offset) throw new CorruptError("a pack has bytes after its last object");
      this.floor = offset;
      seam = this.#seams[++this.#next];
    }
  }
}

/**
 * Refuses a chain in which a pack leans on a later one, as a pack by itself could not; `named` are the entries that are
 * deltas on an object named, by its oid, `first` tells the first entry that has an object, and `isHeld` what is there
 * beside the chain.
 */
export function refuseDisorder(
  named: ReadonlyMap<Oid, readonly number[]>,
  seams: readonly Seam[],
  first: (oid: Oid) => number | undefined,
  isHeld: (oid: Oid) => boolean,
): void {
  for (const [oid, children] of named) {
    const base = first(oid);
    if (base === undefined || isHeld(oid)) continue;
    const start = seams.findLast(({ entry }) => entry <= base)?.entry ?? 0;
    if (children.some((child) => child < start)) {
      throw new CorruptError(`a pack leans on ${oid}, which only a later one has`);
    }
  }
}
