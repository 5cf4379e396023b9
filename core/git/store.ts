import { join } from "node:path";
import process from "node:process";
import { CorruptError } from "../errors.ts";
import { ByteCache } from "./cache.ts";
import { LooseObjects } from "./loose.ts";
import type { GitObject, ObjectKind, ObjectReader, Oid } from "./object.ts";
import { EMPTY_TREE, isOid, oidBytes } from "./oid.ts";
import type { Pack, PackShare } from "./pack.ts";
import { PackFolder } from "./pack_folder.ts";
import type { FreedMemory } from "./freed.ts";

/** The objects of a repository on this machine. The bytes it gives are shared: they must not be changed. */
export interface ObjectStore extends ObjectReader {
  /** The packs there are, without their ending. */
  readonly packs: readonly string[];
  /** Every object of the packs; one that several hold may come as often. */
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
  /** Where the objects are kept instead. */
  readonly memory?: FreedMemory;
  /** The bytes of packs' indexes kept in memory. */
  readonly pageBytes?: number;
}

// Bun collects external buffers late: what is dropped from a cache stays in memory for a while.
const CACHE_BYTES = process.versions["bun"] === undefined ? 64 << 20 : 16 << 20;
const OBJECT_BYTES = 2 ** 31 - 1;
const PAGE_BYTES = 8 << 20;
/** Bases in other packs may have bases in other packs; this many times at most. */
const MAX_HOPS = 256;

/** Opens the object store of a bare repository: its packs, and its loose objects. */
export function openStore(dir: string, limits: StoreLimits = {}): ObjectStore {
  return new Store(join(dir, "objects"), limits);
}

class Store implements ObjectStore, PackShare {
  readonly objects: PackShare["objects"];
  readonly pages: PackShare["pages"];
  readonly room: PackShare["room"];
  readonly objectBytes: number;
  readonly #loose: LooseObjects;
  readonly #folder: PackFolder;
  #hops = 0;

  constructor(dir: string, limits: StoreLimits) {
    const { memory, cacheBytes = CACHE_BYTES, pageBytes = PAGE_BYTES } = limits;
    this.objects = memory ?? new ByteCache(cacheBytes);
    this.pages = new ByteCache(pageBytes);
    this.room = (size) => memory?.room(size) ?? new Uint8Array(size);
    this.objectBytes = limits.objectBytes ?? OBJECT_BYTES;
    this.#loose = new LooseObjects(dir, this.objectBytes);
    this.#folder = new PackFolder(join(dir, "pack"), this);
  }

  get packs(): readonly string[] {
    return this.#folder.packs;
  }

  oids(): Iterable<Oid> {
    return this.#folder.oids();
  }

  refresh(): void {
    this.#loose.refresh();
    this.#folder.refresh();
  }

  close(): void {
    this.#folder.close();
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
    for (const oid of this.#folder.find(prefix, limit)) found.add(oid);
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
    return isOid(oid) ? this.#folder.locate(oidBytes(oid)) : undefined;
  }
}

function builtIn(oid: Oid): GitObject | undefined {
  return oid === EMPTY_TREE ? { kind: "tree", bytes: new Uint8Array() } : undefined;
}
