import { CorruptError } from "../errors.ts";
import { latin1 } from "./bytes.ts";
import type { ByteCache } from "./cache.ts";
import { PositionedFile } from "./file.ts";
import type { Oid } from "./object.ts";
import { type OidPage, OidTable, uint32At } from "./oid_table.ts";

/** The name of the file in a repository's pack folder. */
export const MIDX = "multi-pack-index";

/** The head has a mark, the version, the kind of oids, the number of parts, that of files below, and that of packs. */
export const MIDX_HEAD = 12;
export const MIDX_MARK = 0x4d494458;
/** Each part is told by its name and where it starts; one more tells where the last ends. */
export const PART_ENTRY = 12;
/** An offset from here on is the number of a large one, where there are large ones. */
export const LARGE_OFFSET = 0x80000000;
/** More parts than any version has, and packs than a folder. */
const MOST_PARTS = 64;
const MOST_PACKS = 1 << 16;
const NAME_BYTES = 1 << 10;

/** Where an object is. */
export interface PackedAt {
  /** The number of the pack among those the index is of. */
  readonly pack: number;
  readonly offset: number;
}

/** git's index over several packs (version 1), read by position: only what a lookup needs. */
export class MultiPackIndex {
  /** The packs it is of, without their ending. */
  readonly packs: readonly string[];
  /** How many objects they have, each counted once. */
  readonly count: number;
  readonly #file: PositionedFile;
  readonly #parts: ReadonlyMap<string, { at: number; length: number }>;
  readonly #table: OidTable;

  /** Opens the index; its pages are kept in `pages`, under keys from `id * 2^32`. A CorruptError for one of another kind. */
  constructor(path: string, pages: ByteCache<OidPage>, id: number) {
    this.#file = new PositionedFile(path);
    try {
      const { parts, packs } = readHead(this.#file);
      this.#parts = readParts(this.#file, parts);
      this.packs = this.#readNames(packs);
      this.#table = this.#open(pages, id);
      this.count = this.#table.count;
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  /** Where the object with this oid is; undefined when none of the packs has it. */
  find(oid: Uint8Array): PackedAt | undefined {
    const found = this.#table.locate(oid);
    if (found === undefined) return undefined;
    const pack = uint32At(found.values, found.at * 8);
    if (pack >= this.packs.length) {
      throw new CorruptError("an index over packs names one there is not");
    }
    return { pack, offset: this.#offset(uint32At(found.values, found.at * 8 + 4)) };
  }

  /** Gives the place in the order of oids of the first that is not below this one. */
  lowerBound(oid: Uint8Array): number {
    return this.#table.lowerBound(oid);
  }

  /** Gives the oid at a place in their order. */
  oidAt(position: number): Oid {
    return this.#table.oidAt(position);
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }

  #open(pages: ByteCache<OidPage>, id: number): OidTable {
    const names = this.#part("OIDL");
    const values = this.#part("OOFF");
    const places = {
      fanout: this.#part("OIDF").at,
      names: names.at,
      values: () => values.at,
      valueBytes: 8,
    };
    const table = new OidTable(this.#file, places, pages, id * 2 ** 32);
    if (names.length !== table.count * 20 || values.length !== table.count * 8) throw cutShort();
    return table;
  }

  #part(name: string): { at: number; length: number } {
    const part = this.#parts.get(name);
    if (part === undefined) throw new CorruptError(`an index over packs has no part ${name}`);
    return part;
  }

  #readNames(count: number): string[] {
    const { at, length } = this.#part("PNAM");
    if (length > count * NAME_BYTES) throw cutShort();
    const names = latin1(this.#file.read(at, length)).split("\0").slice(0, count);
    if (names.length < count || !names.every((name) => /^pack-[^/]+\.idx$/.test(name))) {
      throw new CorruptError("an index over packs has names that are none");
    }
    return names.map((name) => name.slice(0, -".idx".length));
  }

  #offset(offset: number): number {
    const large = this.#parts.get("LOFF");
    if (offset < LARGE_OFFSET || large === undefined) return offset;
    const from = (offset - LARGE_OFFSET) * 8;
    if (from + 8 > large.length) throw cutShort();
    const wide = this.#file.view(large.at + from, 8);
    return uint32At(wide, 0) * 2 ** 32 + uint32At(wide, 4);
  }
}

function readHead(file: PositionedFile): { parts: number; packs: number } {
  const head = file.view(0, MIDX_HEAD);
  const [version, oids, parts = 0, below] = head.subarray(4);
  const isOurs = head.length === MIDX_HEAD && uint32At(head, 0) === MIDX_MARK && version === 1 &&
    oids === 1 && below === 0;
  if (!isOurs) throw new CorruptError("an index over packs is not one of version 1");
  const packs = uint32At(head, 8);
  if (parts > MOST_PARTS || packs > MOST_PACKS) throw cutShort();
  return { parts, packs };
}

function readParts(
  file: PositionedFile,
  count: number,
): ReadonlyMap<string, { at: number; length: number }> {
  const bytes = file.read(MIDX_HEAD, (count + 1) * PART_ENTRY);
  const startOf = (part: number) =>
    uint32At(bytes, part * PART_ENTRY + 4) * 2 ** 32 + uint32At(bytes, part * PART_ENTRY + 8);
  const parts = new Map<string, { at: number; length: number }>();
  for (let part = 0; part < count; part++) {
    const at = startOf(part);
    const length = startOf(part + 1) - at;
    if (length < 0 || at + length > file.size) throw cutShort();
    parts.set(latin1(bytes, part * PART_ENTRY, part * PART_ENTRY + 4), { at, length });
  }
  return parts;
}

function cutShort(): CorruptError {
  return new CorruptError("an index over packs is cut short");
}
