import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { CorruptError } from "../errors.ts";
import { ByteCache } from "./cache.ts";
import { LooseObjects } from "./loose.ts";
import type { GitObject, ObjectKind, ObjectReader, Oid } from "./object.ts";
import { EMPTY_TREE, isOid, oidBytes } from "./oid.ts";
import { MAX_PACKS, Pack, type PackShare } from "./pack.ts";

/** The objects of a repository on this machine. The bytes it gives are shared: they must not be changed. */
export interface ObjectStore extends ObjectReader {
  /** The packs there are, without their ending. */
  readonly packs: readonly string[];
  /** Every object of the packs; one that several hold comes as often. */
  oids(): Iterable<Oid>;
  /** Looks which packs have come and gone. */
  refresh(): void;
  /** Closes the files; nothing can be read afterwards. */
  close(): void;
}

/** Bounds of a store. */
export interface StoreLimits {
  /** The bytes of objects kept in memory. */
  readonly cacheBytes?: number;
  /** The largest object that is read. */
  readonly objectBytes?: number;
}

// Bun collects external buffers late: what is dropped from a cache stays in memory for a while.
const CACHE_BYTES = process.versions["bun"] === undefined ? 64 << 20 : 16 << 20;
const OBJECT_BYTES = 2 ** 31 - 1;
const PAGE_BYTES = 8 << 20;
/** Bases in other packs may have bases in other packs; this many times at most. */
const MAX_HOPS = 256;
/** How often packs are listed anew because one had gone before it was opened. */
const MOST_LOOKS = 5;

/** Opens the object store of a bare repository: its packs, and its loose objects. */
export function openStore(dir: string, limits: StoreLimits = {}): ObjectStore {
  return new Store(join(dir, "objects"), limits);
}

class Store implements ObjectStore, PackShare {
  readonly objects: PackShare["objects"];
  readonly pages: PackShare["pages"];
  readonly objectBytes: number;
  readonly #dir: string;
  readonly #loose: LooseObjects;
  readonly #open = new Map<string, Pack>();
  /** The pack that had the last object first. */
  #order: Pack[] = [];
  #nextId = 0;
  #hops = 0;

  constructor(dir: string, limits: StoreLimits) {
    this.objects = new ByteCache(limits.cacheBytes ?? CACHE_BYTES);
    this.pages = new ByteCache(PAGE_BYTES);
    this.objectBytes = limits.objectBytes ?? OBJECT_BYTES;
    this.#dir = dir;
    this.#loose = new LooseObjects(dir, this.objectBytes);
    this.#lookForPacks();
  }

  get packs(): readonly string[] {
    return [...this.#open.keys()];
  }

  *oids(): Generator<Oid> {
    for (const { idx } of this.#order) {
      for (let position = 0; position < idx.count; position++) yield idx.oidAt(position);
    }
  }

  refresh(): void {
    this.#loose.refresh();
    this.#lookForPacks();
  }

  close(): void {
    for (const pack of this.#order) pack.close();
    this.#order = [];
    this.#open.clear();
    this.objects.clear();
    this.pages.clear();
  }

  has(oid: Oid): boolean {
    return this.#locate(oid) !== undefined || this.#loose.has(oid) || oid === EMPTY_TREE;
  }

  read(oid: Oid): GitObject | undefined {
    const found = this.#locate(oid);
    if (found !== undefined) return found.pack.read(found.offset);
    return this.#loose.read(oid) ?? builtIn(oid);
  }

  info(oid: Oid): { kind: ObjectKind; size: number } | undefined {
    const found = this.#locate(oid);
    if (found !== undefined) return found.pack.info(found.offset);
    return this.#loose.info(oid) ?? (oid === EMPTY_TREE ? { kind: "tree", size: 0 } : undefined);
  }

  find(prefix: string, limit: number): Oid[] {
    if (!/^[0-9a-f]{2,40}$/.test(prefix)) return [];
    const found = new Set<Oid>(this.#loose.find(prefix));
    const first = oidBytes(prefix.padEnd(40, "0"));
    for (const { idx } of this.#order) {
      let position = idx.lowerBound(first);
      for (let left = limit; left > 0 && position < idx.count; left--, position++) {
        const oid = idx.oidAt(position);
        if (!oid.startsWith(prefix)) break;
        found.add(oid);
      }
    }
    return [...found].sort().slice(0, limit);
  }

  readObject(oid: Oid): GitObject | undefined {
    return this.#hop(() => this.read(oid));
  }

  readInfo(oid: Oid): { kind: ObjectKind } | undefined {
    return this.#hop(() => this.info(oid));
  }

  #hop<T>(look: () => T): T {
    if (this.#hops >= MAX_HOPS) {
      throw new CorruptError("deltas lean on other packs in a circle or too often");
    }
    this.#hops++;
    try {
      return look();
    } finally {
      this.#hops--;
    }
  }

  #locate(oid: Oid): { pack: Pack; offset: number } | undefined {
    if (!isOid(oid)) return undefined;
    const bytes = oidBytes(oid);
    const order = this.#order;
    for (let i = 0; i < order.length; i++) {
      const pack = order[i];
      const offset = pack?.idx.find(bytes);
      if (pack === undefined || offset === undefined) continue;
      if (i > 0) {
        order.copyWithin(1, 0, i);
        order[0] = pack;
      }
      return { pack, offset };
    }
    return undefined;
  }

  /** Opens the packs that have come, and closes those that are gone. */
  #lookForPacks(): void {
    // Another process may put one in the place of several between listing and opening them.
    for (let left = MOST_LOOKS; left > 0; left--) if (this.#openListed()) return;
  }

  #openListed(): boolean {
    const there = listPacks(join(this.#dir, "pack"));
    for (const [path, pack] of this.#open) {
      if (there.has(path)) continue;
      this.#open.delete(path);
      this.#order.splice(this.#order.indexOf(pack), 1);
      pack.close();
    }
    if (this.#nextId + there.size > MAX_PACKS) {
      this.close();
      this.#nextId = 0;
    }
    let areAllThere = true;
    for (const path of [...there].sort()) {
      if (this.#open.has(path)) continue;
      const pack = openPack(path, this, this.#nextId++);
      if (pack === undefined) {
        areAllThere = false;
        continue;
      }
      this.#open.set(path, pack);
      this.#order.unshift(pack);
    }
    return areAllThere;
  }
}

/** The paths, without their ending, of the packs that have an index. */
function listPacks(dir: string): Set<string> {
  const there = new Set<string>();
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    if (/^pack-.*\.idx$/.test(name)) there.add(join(dir, name.slice(0, -4)));
  }
  return there;
}

function builtIn(oid: Oid): GitObject | undefined {
  return oid === EMPTY_TREE ? { kind: "tree", bytes: new Uint8Array() } : undefined;
}

/** Opens a pack; undefined when it has gone. */
function openPack(path: string, share: PackShare, id: number): Pack | undefined {
  try {
    return new Pack(path, share, id);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
