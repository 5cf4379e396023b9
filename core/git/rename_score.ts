import type { ObjectReader } from "./object.ts";
import { isBinary } from "./text.ts";
import { type Found, readObject } from "./walk.ts";

/** The score of two files alike; scores are parts of it. */
export const fullScore = 60000;

/** What the pieces of a text are told apart by: a number below this prime. */
const pieceKinds = 107927;
/** A piece is a line, or this many bytes of one. */
const pieceLimit = 64;
/** How much a whole comparison of files may cost. */
const byteBudget = 1 << 27;
const stepBudget = 2e9;

/** The kinds of pieces a file has, rising, and how many bytes are in those of each kind. */
interface Pieces {
  readonly kinds: Uint32Array;
  readonly bytes: Uint32Array;
}

/** What comparing files has cost so far: bytes cut to pieces, and steps along pieces. */
export interface ScoreCost {
  bytes: number;
  steps: number;
}

/** Scores how much of one file is in another, by the lines and long pieces of lines they share. */
export class Scorer {
  readonly #objects: ObjectReader;
  readonly #sizes = new Map<Found, number>();
  readonly #pieces = new Map<Found, Pieces>();
  readonly #counts = new Uint32Array(pieceKinds);
  readonly #cost: ScoreCost;

  /** `cost` is shared by scorers that together are not to cost more than one. */
  constructor(objects: ObjectReader, cost: ScoreCost = { bytes: 0, steps: 0 }) {
    this.#objects = objects;
    this.#cost = cost;
  }

  /** Whether so much was compared that no more should be. */
  get isSpent(): boolean {
    return this.#cost.bytes > byteBudget || this.#cost.steps > stepBudget;
  }

  /** Scores two regular files; 0 when their sizes rule out that they reach `least`. */
  score(from: Found, to: Found, least: number): number {
    if ((from.mode & 0o170000) !== 0o100000 || (to.mode & 0o170000) !== 0o100000) return 0;
    const fromSize = this.#size(from);
    const toSize = this.#size(to);
    const larger = Math.max(fromSize, toSize);
    if (larger * (fullScore - least) < Math.abs(fromSize - toSize) * fullScore) return 0;
    if (toSize === 0 || this.isSpent) return 0;
    const shared = this.#shared(this.#cut(from), this.#cut(to));
    return Math.floor(shared * fullScore / larger);
  }

  #size(file: Found): number {
    let size = this.#sizes.get(file);
    if (size === undefined) {
      size = this.#objects.info(file.oid)?.size ?? 0;
      this.#sizes.set(file, size);
    }
    return size;
  }

  #shared(from: Pieces, to: Pieces): number {
    let shared = 0;
    let at = 0;
    for (let index = 0; index < from.kinds.length; index++) {
      const kind = from.kinds[index] ?? 0;
      while (at < to.kinds.length && (to.kinds[at] ?? 0) < kind) at++;
      if (to.kinds[at] === kind) shared += Math.min(from.bytes[index] ?? 0, to.bytes[at] ?? 0);
    }
    this.#cost.steps += from.kinds.length + to.kinds.length;
    return shared;
  }

  #cut(file: Found): Pieces {
    let pieces = this.#pieces.get(file);
    if (pieces === undefined) {
      pieces = this.#cutBytes(readObject(this.#objects, file.oid, "blob"));
      this.#pieces.set(file, pieces);
    }
    return pieces;
  }

  #cutBytes(bytes: Uint8Array): Pieces {
    this.#cost.bytes += bytes.length;
    const counts = this.#counts;
    const seen: number[] = [];
    const isText = !isBinary(bytes);
    let length = 0;
    let low = 0;
    let high = 0;
    // As git up to 2.43 does, an end without a newline that does not fill a piece does not count.
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      if (isText && byte === 13 && bytes[at + 1] === 10) continue;
      const carried = low;
      low = ((low << 7) ^ (high >>> 25)) + byte | 0;
      high = (high << 7) ^ (carried >>> 25);
      if (++length < pieceLimit && byte !== 10) continue;
      const kind = ((low + Math.imul(high, 0x61)) >>> 0) % pieceKinds;
      const count = counts[kind] ?? 0;
      if (count === 0) seen.push(kind);
      counts[kind] = count + length;
      length = low = high = 0;
    }
    const kinds = Uint32Array.from(seen).sort();
    const sums = kinds.map((kind) => counts[kind] ?? 0);
    for (const kind of kinds) counts[kind] = 0;
    return { kinds, bytes: sums };
  }
}
