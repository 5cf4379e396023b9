import { rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { deflateSync } from "node:zlib";
import { CorruptError } from "../errors.ts";
import { type EntryHeader, formatEntryHeader } from "./entry.ts";
import type { Oid } from "./object.ts";
import { OID_BYTES, oidAt, oidBytes } from "./oid.ts";
import { NOT_IN_SET, OidSet } from "./oid_set.ts";
import { PackOut } from "./pack_out.ts";
import { NOT_THERE, PackSet, readTable } from "./pack_set.ts";
import { reach } from "./reach.ts";
import type { ObjectStore } from "./store.ts";

/** What else a repack keeps, and how it is followed and ended. */
export interface RepackOptions {
  /** Objects to keep beside what the tips reach; what they reach in turn is not kept. */
  readonly also?: Iterable<Oid>;
  /** Objects that are left out: whoever reads the pack has them. What they lead to is looked at nevertheless. */
  readonly except?: OidSet;
  readonly signal: AbortSignal;
  progress(text: string, done?: number, total?: number): void;
}

/** How a copy is followed and ended. */
export type Following = Pick<RepackOptions, "signal" | "progress">;

/** A pack that was written. */
export interface Repacked {
  readonly file: string;
  readonly objects: number;
  readonly bytes: number;
  readonly sha256: string;
}

const LEFT_OUT = 0;
const WANTED = -1;
/** Waits for its base to be written. */
const WAITING = -2;
/** Is in a pack whose objects are left out. */
const ELSEWHERE = -3;
/** Deltas of several packs may join to longer chains than any had; readers are spared those. */
const MOST_DEPTH = 50;
const SLICE = 1024;
/** How often packs are looked for that were there a moment ago. */
const MOST_LOOKS = 3;

/**
 * Writes one pack of just what the tips reach, whole in itself, to `file`. Entries are copied as they lie compressed,
 * and deltas kept; only a delta whose base is left out is made whole. What is copied is not verified: whoever takes the
 * pack in hashes every object.
 */
export async function repack(
  store: ObjectStore,
  tips: Iterable<Oid>,
  file: string,
  { also = [], except = new OidSet(), signal, progress }: RepackOptions,
): Promise<Repacked> {
  using packs = openPacks(store);
  const selection = new Selection(store, packs, except);
  let read = 0;
  for (const _ of reach(store, tips, selection.note)) {
    if (++read % SLICE === 0) await breathe(signal, () => progress("counting objects", read));
  }
  for (const oid of also) selection.note(oidBytes(oid), 0);
  return await write(selection, file, { signal, progress });
}

/** Writes one pack of every object of the packs at these paths, which lack their ending, to `file`. */
export async function joinPacks(
  store: ObjectStore,
  paths: readonly string[],
  file: string,
  following: Following,
): Promise<Repacked> {
  using packs = new PackSet(paths);
  const selection = new Selection(store, packs, new OidSet());
  for (const number of packs.numbers()) selection.note(packs.oidBytes(number), 0);
  return await write(selection, file, following);
}

/** Opens the packs of a store; another process may put one in the place of several meanwhile. */
function openPacks(store: ObjectStore): PackSet {
  for (let again = MOST_LOOKS;; again--) {
    try {
      return new PackSet(store.packs);
    } catch (error) {
      const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
      if (!isGone || again === 0) throw error;
      store.refresh();
    }
  }
}

/** The oids of the objects in packs, told by their indexes; the paths lack their ending. */
export function oidsIn(paths: readonly string[]): OidSet {
  const oids = new OidSet();
  for (const path of paths) {
    const { names } = readTable(path);
    for (let at = 0; at < names.length; at += OID_BYTES) oids.add(names, at);
  }
  return oids;
}

/** The oids of all that the tips reach. */
export async function oidsReached(
  store: ObjectStore,
  tips: Iterable<Oid>,
  { signal, progress }: Following,
): Promise<OidSet> {
  const oids = new OidSet();
  const note = (bytes: Uint8Array, at: number) => {
    const before = oids.size;
    return oids.add(bytes, at) === before;
  };
  let read = 0;
  for (const _ of reach(store, tips, note)) {
    if (++read % SLICE === 0) await breathe(signal, () => progress("counting objects", read));
  }
  return oids;
}

async function write(
  selection: Selection,
  file: string,
  { signal, progress }: Following,
): Promise<Repacked> {
  const { count } = selection;
  try {
    using out = new PackOut(file, count);
    let written = 0;
    for (const _ of selection.write(out)) {
      if (++written % SLICE !== 0) continue;
      await breathe(signal, () => progress("writing objects", written, count));
    }
    return { file, objects: count, ...out.finish() };
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

async function breathe(signal: AbortSignal, report: () => void): Promise<void> {
  report();
  await setImmediate();
  signal.throwIfAborted();
}

/** The objects that a pack is to have, and where they are in it as they are written. */
class Selection {
  /** How many there are. */
  count = 0;
  readonly #store: ObjectStore;
  readonly #packs: PackSet;
  readonly #except: OidSet;
  /** For each object of the packs: not wanted, wanted, waiting, elsewhere, or where it was written. */
  readonly #places: Float64Array;
  readonly #depths: Uint8Array;
  /** Where those are that are in no pack. */
  readonly #others = new Map<Oid, number>();

  constructor(store: ObjectStore, packs: PackSet, except: OidSet) {
    this.#store = store;
    this.#packs = packs;
    this.#except = except;
    this.#places = new Float64Array(packs.count);
    this.#depths = new Uint8Array(packs.count);
  }

  /** Wants the object whose oid starts at `at`; false when it was wanted before. */
  readonly note = (bytes: Uint8Array, at: number): boolean => {
    const number = this.#packs.find(bytes, at);
    if (number !== NOT_THERE) {
      if (this.#places[number] !== LEFT_OUT) return false;
      const isElsewhere = this.#except.find(bytes, at) !== NOT_IN_SET;
      this.#places[number] = isElsewhere ? ELSEWHERE : WANTED;
      if (isElsewhere) return true;
    } else {
      const oid = oidAt(bytes, at);
      if (this.#others.has(oid)) return false;
      if (!this.#store.has(oid)) {
        throw new CorruptError(`the object ${oid} is missing`, {
          code: "corrupt.missing",
          facts: { oid },
        });
      }
      this.#others.set(oid, WANTED);
    }
    this.count++;
    return true;
  };

  /** Writes the objects, bases before what is made on them; gives control back after each. */
  *write(out: PackOut): Generator<void> {
    for (const oid of this.#others.keys()) {
      this.#others.set(oid, out.at);
      this.#writeWhole(out, oid);
      yield;
    }
    for (const number of this.#packs.numbers()) {
      if (this.#places[number] === WANTED) yield* this.#writeWithBases(out, number);
    }
  }

  *#writeWithBases(out: PackOut, first: number): Generator<void> {
    const waiting = [first];
    for (let number = waiting.at(-1); number !== undefined; number = waiting.at(-1)) {
      const header = this.#packs.header(number);
      const base = header.kind === undefined ? this.#packs.base(number, header) : NOT_THERE;
      if (this.#places[base] === WANTED) {
        this.#places[number] = WAITING;
        waiting.push(base);
        continue;
      }
      waiting.pop();
      this.#places[number] = out.at;
      this.#writeEntry(out, number, header, base);
      yield;
    }
  }

  #writeEntry(out: PackOut, number: number, header: EntryHeader, base: number): void {
    const put = (piece: Uint8Array) => out.put(piece);
    if (header.kind !== undefined) return this.#packs.copy(number, 0, put);
    const place = this.#places[base] ?? this.#others.get(header.base ?? "") ?? LEFT_OUT;
    const depth = (this.#depths[base] ?? 0) + 1;
    // A base that waits would be made on this very object, by another pack's delta.
    if (place <= LEFT_OUT || depth > MOST_DEPTH) {
      return this.#writeWhole(out, this.#packs.oid(number));
    }
    this.#depths[number] = depth;
    out.put(formatEntryHeader(out.at - place, header.size));
    this.#packs.copy(number, header.length, put);
  }

  #writeWhole(out: PackOut, oid: Oid): void {
    const object = this.#store.read(oid);
    if (object === undefined) throw new CorruptError(`the object ${oid} is missing`);
    out.put(formatEntryHeader(object.kind, object.bytes.length));
    out.put(deflateSync(object.bytes));
  }
}
