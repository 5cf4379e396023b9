import { setImmediate } from "node:timers/promises";
import { CorruptError } from "../errors.ts";
import { findModulesFaults } from "./check_modules.ts";
import type { Fault } from "./fault.ts";
import { type Links, visitLinks } from "./links.ts";
import type { ObjectKind, ObjectReader, Oid } from "./object.ts";
import { oidAt, oidBytes } from "./oid.ts";
import { OidSet } from "./oid_set.ts";

/** A set of oids to look in and to go through. */
export interface Oids extends Iterable<Oid> {
  readonly size: number;
  has(oid: Oid): boolean;
}

/** How a check of connections goes. */
export interface ConnectedOptions {
  /** Tells that an object and all it leads to is there. */
  have(oid: Oid): boolean;
  /** What all objects lead to that are not had already, gathered as they came. */
  readonly links?: Links | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Refuses, with a CorruptError that names it, an object that the tips lead to and that is missing or of another kind than
 * what leads to it says. Objects that are had already are looked at, not into. Gives the oids of the others; with links that
 * are all met, of all objects that have come, and reads none of them.
 */
export async function checkConnected(
  objects: ObjectReader,
  tips: Iterable<Oid>,
  { have, links, signal }: ConnectedOptions,
): Promise<Oids> {
  const starts = [...tips];
  if (links !== undefined && areMet(links, objects, starts, have)) return links;
  const walk = new Walk(objects, have);
  for (const tip of starts) walk.add(oidBytes(tip), 0, undefined, undefined);
  let bytes = 0;
  for (const looked of walk.run()) {
    bytes += looked;
    if (bytes < SLICE_BYTES) continue;
    bytes = 0;
    await setImmediate();
    signal?.throwIfAborted();
  }
  return walk;
}

/** Other work gets its turn after so many bytes of commits and trees. */
const SLICE_BYTES = 1 << 20;
/** What an object takes to find, in bytes of looking through it. */
const OBJECT_COST = 512;
const MOST_MODULES = 1 << 20;
const KINDS: readonly ObjectKind[] = ["commit", "tree", "blob", "tag"];
const KIND = 3;
const REACHED = 4;

class Walk implements Oids {
  /** How many objects have been reached, those that are had left out. */
  size = 0;
  readonly #objects: ObjectReader;
  readonly #have: (oid: Oid) => boolean;
  readonly #seen = new OidSet();
  /** For each oid seen its kind, with a bit for what is reached. */
  #notes = new Uint8Array(1024);
  readonly #pending: number[] = [];
  /** The `.gitmodules` that have been checked. */
  readonly #modules = new Set<Oid>();

  constructor(objects: ObjectReader, have: (oid: Oid) => boolean) {
    this.#objects = objects;
    this.#have = have;
  }

  has(oid: Oid): boolean {
    return ((this.#notes[this.#seen.find(oidBytes(oid), 0)] ?? 0) & REACHED) !== 0;
  }

  *[Symbol.iterator](): Generator<Oid> {
    for (let number = 0; number < this.#seen.size; number++) {
      if (((this.#notes[number] ?? 0) & REACHED) !== 0) yield this.#seen.oid(number);
    }
  }

  /**
   * Looks at the object whose oid starts at `at` and notes it, if it is met first, to be looked into; `from` leads to it
   * as one of this kind.
   */
  add(
    bytes: Uint8Array,
    at: number,
    kind: ObjectKind | undefined,
    from: Oid | undefined,
  ): void {
    const before = this.#seen.size;
    const number = this.#seen.add(bytes, at);
    if (number === before) this.#meet(number, from);
    const actual = KINDS[(this.#notes[number] ?? 0) & KIND];
    if (kind === undefined || actual === kind) return;
    const oid = this.#seen.oid(number);
    throw new CorruptError(`${from} leads to ${oid} as a ${kind}, and it is a ${actual}`, {
      code: "corrupt.object",
      facts: { oid, from },
    });
  }

  /** Goes through what has been noted; gives after each object what it has cost. */
  *run(): Generator<number> {
    for (let number = this.#pending.pop(); number !== undefined; number = this.#pending.pop()) {
      const oid = this.#seen.oid(number);
      const object = this.#objects.read(oid);
      if (object === undefined) throw missing(oid, undefined);
      visitLinks(object, (bytes, at, kind, isModules) => {
        this.add(bytes, at, kind, oid);
        if (isModules) this.#checkModules(oidAt(bytes, at));
      });
      yield object.bytes.length + OBJECT_COST;
    }
  }

  #meet(number: number, from: Oid | undefined): void {
    const oid = this.#seen.oid(number);
    const kind = this.#objects.info(oid)?.kind;
    if (kind === undefined) throw missing(oid, from);
    if (number === this.#notes.length) {
      const longer = new Uint8Array(number * 2);
      longer.set(this.#notes);
      this.#notes = longer;
    }
    this.#notes[number] = KINDS.indexOf(kind);
    if (this.#have(oid)) return;
    this.#notes[number] |= REACHED;
    this.size++;
    if (kind !== "blob") this.#pending.push(number);
  }

  /** What a file is called decides whether its content is dangerous, so it cannot be told when the blob comes in. */
  #checkModules(oid: Oid): void {
    if (this.#modules.has(oid)) return;
    this.#modules.add(oid);
    const fault = modulesFault(this.#objects, oid);
    if (fault === undefined) return;
    throw new CorruptError(`the .gitmodules ${oid} ${fault.text}`, {
      code: "corrupt.object",
      facts: { oid, fault: fault.id },
    });
  }
}

/** Tells whether everything that the links lead to has come with them or is had already; a walk then finds nothing more. */
function areMet(
  links: Links,
  objects: ObjectReader,
  tips: readonly Oid[],
  have: (oid: Oid) => boolean,
): boolean {
  if (links.isOpen) return false;
  if (!tips.every((tip) => links.has(tip) || have(tip))) return false;
  for (const { oid, kind } of links.outside()) {
    if (!have(oid) || objects.info(oid)?.kind !== kind) return false;
  }
  for (const oid of links.modules) if (modulesFault(objects, oid) !== undefined) return false;
  return true;
}

function modulesFault(objects: ObjectReader, oid: Oid): Pick<Fault, "id" | "text"> | undefined {
  const info = objects.info(oid);
  const object = info && info.size <= MOST_MODULES ? objects.read(oid) : undefined;
  if (object?.kind !== "blob") {
    return { id: "gitmodulesBlob", text: `is not a file of at most ${MOST_MODULES} bytes` };
  }
  return findModulesFaults(object.bytes)[0];
}

function missing(oid: Oid, from: Oid | undefined): CorruptError {
  const by = from === undefined ? "" : `, which ${from} leads to,`;
  return new CorruptError(`the object ${oid}${by} is missing`, {
    code: "corrupt.missing",
    facts: { oid, ...(from !== undefined && { from }) },
  });
}
