import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { CorruptError } from "../errors.ts";
import { MIDX, MultiPackIndex } from "./midx.ts";
import type { Oid } from "./object.ts";
import { oidBytes } from "./oid.ts";
import { MAX_PACKS, Pack, type PackShare } from "./pack.ts";

/** Where an object is. */
interface Located {
  readonly pack: Pack;
  readonly offset: number;
}

/** What objects are looked for in: a pack, or several by an index over them. */
interface Place {
  readonly table: Pick<MultiPackIndex, "count" | "lowerBound" | "oidAt">;
  /** Where the object is; undefined when it is not in here, "gone" when the pack it is in has gone. */
  find(oid: Uint8Array): Located | "gone" | undefined;
}

/** An index over packs, and what tells it from another under the same name. */
interface OpenMidx {
  readonly index: MultiPackIndex;
  readonly stamp: string;
  readonly place: Place;
}

/** How often packs are listed anew because one had gone before it was opened. */
const MOST_LOOKS = 5;

/**
 * The packs of a repository. What an index over packs names is opened when an object in it is asked for; any other pack
 * at once, and objects are looked for in each.
 */
export class PackFolder {
  readonly #dir: string;
  readonly #share: PackShare;
  #paths = new Set<string>();
  readonly #open = new Map<string, Pack>();
  readonly #alone = new Map<string, Place>();
  #midx: OpenMidx | undefined;
  /** Where the last object was comes first. */
  #order: Place[] = [];
  #nextId = 0;

  constructor(dir: string, share: PackShare) {
    this.#dir = dir;
    this.#share = share;
    this.refresh();
  }

  /** The packs there are, without their ending. */
  get packs(): readonly string[] {
    return [...this.#paths];
  }

  /** Every object; one that several packs hold may come as often. */
  *oids(): Generator<Oid> {
    for (const { table } of this.#order) {
      for (let position = 0; position < table.count; position++) yield table.oidAt(position);
    }
  }

  /** The oids that begin so, up to the limit of each place. */
  *find(prefix: string, limit: number): Generator<Oid> {
    const first = oidBytes(prefix.padEnd(40, "0"));
    for (const { table } of this.#order) {
      let position = table.lowerBound(first);
      for (let left = limit; left > 0 && position < table.count; left--, position++) {
        const oid = table.oidAt(position);
        if (!oid.startsWith(prefix)) break;
        yield oid;
      }
    }
  }

  /** Where the object is. */
  locate(oid: Uint8Array): Located | undefined {
    for (let left = MOST_LOOKS; left > 0; left--) {
      const found = this.#locate(oid);
      if (found !== "gone") return found;
      this.refresh();
    }
    return undefined;
  }

  #locate(oid: Uint8Array): Located | "gone" | undefined {
    const order = this.#order;
    for (let at = 0; at < order.length; at++) {
      const place = order[at];
      const found = place?.find(oid);
      if (place === undefined || found === undefined) continue;
      if (at > 0) {
        order.copyWithin(1, 0, at);
        order[0] = place;
      }
      return found;
    }
    return undefined;
  }

  /** Opens the packs that have come, and closes those that are gone. */
  refresh(): void {
    // Another process may put one in the place of several between listing and opening them.
    for (let left = MOST_LOOKS; left > 0; left--) if (this.#openListed()) return;
  }

  /** Closes the files. */
  close(): void {
    for (const pack of this.#open.values()) pack.close();
    this.#midx?.index.close();
    this.#midx = undefined;
    this.#open.clear();
    this.#alone.clear();
    this.#paths.clear();
    this.#order = [];
  }

  #openListed(): boolean {
    const there = listPacks(this.#dir);
    if (this.#nextId + there.size >= MAX_PACKS) {
      this.close();
      this.#nextId = 0;
    }
    this.#paths = there;
    for (const [path, pack] of this.#open) {
      if (there.has(path)) continue;
      this.#open.delete(path);
      pack.close();
    }
    this.#midx = this.#openMidx();
    const covered = new Set(this.#midx?.index.packs.map((name) => join(this.#dir, name)));
    for (const path of this.#alone.keys()) {
      if (!there.has(path) || covered.has(path)) this.#alone.delete(path);
    }
    const fresh: Place[] = [];
    let areAllThere = true;
    for (const path of [...there].sort()) {
      if (covered.has(path) || this.#alone.has(path)) continue;
      const pack = this.#pack(path);
      if (pack === undefined) {
        areAllThere = false;
        continue;
      }
      const place = placeOf(pack);
      this.#alone.set(path, place);
      fresh.unshift(place);
    }
    const places = new Set([...this.#alone.values(), ...(this.#midx ? [this.#midx.place] : [])]);
    const known = this.#order.filter((place) => places.has(place));
    this.#order = [...new Set([...fresh, ...known, ...places])];
    return areAllThere;
  }

  /** The index over packs, if all that it names are there; the one that is open when it is still that. */
  #openMidx(): OpenMidx | undefined {
    const path = join(this.#dir, MIDX);
    const now = statSync(path, { throwIfNoEntry: false });
    const stamp = now && `${now.ino} ${now.size} ${now.mtimeMs}`;
    const before = this.#midx;
    const isWhole = ({ index }: OpenMidx) =>
      index.packs.every((name) => this.#paths.has(join(this.#dir, name)));
    if (before !== undefined && before.stamp === stamp && isWhole(before)) return before;
    before?.index.close();
    if (stamp === undefined) return undefined;
    const opened = this.#readMidx(path, stamp);
    if (opened === undefined || isWhole(opened)) return opened;
    opened.index.close();
    return undefined;
  }

  /** One that cannot be read is as good as none: each pack has an index of its own. */
  #readMidx(path: string, stamp: string): OpenMidx | undefined {
    try {
      const index = new MultiPackIndex(path, this.#share.pages, this.#nextId++);
      const opened: (Pack | undefined)[] = [];
      const find = (oid: Uint8Array) => {
        const at = index.find(oid);
        if (at === undefined) return undefined;
        const pack = opened[at.pack] ??= this.#pack(join(this.#dir, index.packs[at.pack] ?? ""));
        return pack === undefined ? "gone" : { pack, offset: at.offset };
      };
      return { index, stamp, place: { table: index, find } };
    } catch (error) {
      if (error instanceof CorruptError || isSystemError(error)) return undefined;
      throw error;
    }
  }

  /** The pack, opened; undefined when it has gone. */
  #pack(path: string): Pack | undefined {
    const open = this.#open.get(path);
    if (open !== undefined) return open;
    try {
      const pack = new Pack(path, this.#share, this.#nextId++);
      this.#open.set(path, pack);
      return pack;
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }
}

function placeOf(pack: Pack): Place {
  return {
    table: pack.idx,
    find(oid) {
      const offset = pack.idx.find(oid);
      return offset === undefined ? undefined : { pack, offset };
    },
  };
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "code" in error;
}

function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** The paths, without their ending, of the packs that have an index. */
function listPacks(dir: string): Set<string> {
  const there = new Set<string>();
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    if (/^pack-.*\.idx$/.test(name)) there.add(join(dir, name.slice(0, -4)));
  }
  return there;
}
