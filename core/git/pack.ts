import { CorruptError, quote } from "../errors.ts";
import type { ByteCache } from "./cache.ts";
import { countMade } from "./collect.ts";
import { applyDelta, DELTA_SIZES_BYTES, deltaSizes, type Room, tooLarge } from "./delta.ts";
import { ENTRY_HEADER_BYTES, type EntryHeader, MAX_DEPTH, parseEntryHeader } from "./entry.ts";
import { readData } from "./entry_data.ts";
import { PositionedFile } from "./file.ts";
import { PackIdx } from "./idx.ts";
import { inflateStart } from "./inflate.ts";
import type { GitObject, ObjectKind, Oid } from "./object.ts";
import { oidBytes } from "./oid.ts";
import type { OidPage } from "./oid_table.ts";
import { PACK_HEADER, PACK_TRAILER, packHeader } from "./pack_head.ts";
import type { FreedMemory } from "./freed.ts";

/** What the packs of a store share. */
export interface PackShare {
  readonly objects: ByteCache<GitObject> | FreedMemory;
  readonly pages: ByteCache<OidPage>;
  /** Memory for an object's bytes, whatever is in it. */
  readonly room: Room;
  /** No object above this is read. */
  readonly objectBytes: number;
  /** Finds the base of a delta that its pack does not hold. */
  readObject(oid: Oid): GitObject | undefined;
  readInfo(oid: Oid): { kind: ObjectKind } | undefined;
}

/** Ids of packs are below this: with offsets of 42 bits they make keys that numbers hold exactly. */
export const MAX_PACKS = 2048;

/** What the first bytes of a zlib stream take to inflate: the tables of a dynamic block alone can be 560 bytes. */
const INFLATE_HEAD = 1024;

/** The kinds of so many deltas are remembered, and the sizes of what so many make. */
const MOST_KINDS = 50_000;

/** One pack with its index, read by position. */
export class Pack {
  readonly idx: PackIdx;
  readonly #file: PositionedFile;
  readonly #end: number;
  readonly #key: number;
  readonly #share: PackShare;
  readonly #kinds = new Map<number, ObjectKind>();
  readonly #sizes = new Map<number, number>();

  /** Opens `<path>.pack` and `<path>.idx`; `id` is a number of its own among the packs of the share. */
  constructor(path: string, share: PackShare, id: number) {
    this.#share = share;
    this.#key = id * 2 ** 42;
    this.#file = new PositionedFile(`${path}.pack`);
    this.#end = this.#file.size - PACK_TRAILER;
    try {
      this.idx = new PackIdx(`${path}.idx`, share.pages, id);
      this.#checkHeader(path);
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  #checkHeader(path: string): void {
    const { version, objects } = packHeader(this.#file.view(0, PACK_HEADER));
    if (version > 3 || objects !== this.idx.count || this.#end < PACK_HEADER) {
      this.idx.close();
      throw new CorruptError(`${quote(path)}.pack does not fit its index`);
    }
  }

  /** Reads the object at an offset the index gave. */
  read(offset: number): GitObject {
    const deltas: { at: number; data: number; size: number }[] = [];
    let object: GitObject | undefined;
    for (let at = offset; object === undefined;) {
      object = this.#share.objects.get(this.#key + at);
      if (object !== undefined) break;
      const header = this.#header(at);
      const data = at + header.length;
      if (header.kind !== undefined) {
        object = { kind: header.kind, bytes: this.#inflate(data, header.size) };
        this.#keep(at, object);
        break;
      }
      deltas.push({ at, data, size: header.size });
      if (deltas.length > MAX_DEPTH) throw tooDeep();
      const next = this.#baseOffset(at, header);
      if (next === undefined) object = this.#outerBase(header);
      else at = next;
    }
    for (let delta = deltas.pop(); delta !== undefined; delta = deltas.pop()) {
      const bytes = applyDelta(
        object.bytes,
        this.#inflate(delta.data, delta.size),
        this.#share.objectBytes,
        this.#share.room,
      );
      object = { kind: object.kind, bytes };
      this.#keep(delta.at, object);
    }
    return object;
  }

  /** Gives kind and size of the object at an offset the index gave, each found without making it when it is asked for. */
  info(offset: number): { kind: ObjectKind; size: number } {
    const known = this.#share.objects.get(this.#key + offset);
    if (known !== undefined) return { kind: known.kind, size: known.bytes.length };
    const kindAt = () => this.#kindAt(offset);
    const sizeAt = () => this.#sizeAt(offset);
    return {
      get kind() {
        return kindAt();
      },
      get size() {
        return sizeAt();
      },
    };
  }

  /** Closes the files. */
  close(): void {
    this.idx.close();
    this.#file.close();
  }

  /** The kind of what a chain of deltas ends in; each on the way is noted, since others start there. */
  #kindAt(offset: number): ObjectKind {
    const passed: number[] = [];
    let kind: ObjectKind | undefined;
    for (let at = offset; kind === undefined;) {
      kind = this.#kinds.get(at) ?? this.#share.objects.get(this.#key + at)?.kind;
      if (kind !== undefined) break;
      passed.push(at);
      if (passed.length > MAX_DEPTH) throw tooDeep();
      const header = this.#header(at);
      kind = header.kind;
      if (kind !== undefined) break;
      const next = this.#baseOffset(at, header);
      if (next === undefined) kind = this.#outerKind(header);
      else at = next;
    }
    if (this.#kinds.size > MOST_KINDS) this.#kinds.clear();
    for (const at of passed) this.#kinds.set(at, kind);
    return kind;
  }

  #outerKind({ base = "" }: EntryHeader): ObjectKind {
    const kind = this.#share.readInfo(base)?.kind;
    if (kind === undefined) throw missingBase(base);
    return kind;
  }

  /** What an entry says of itself: of a delta, in the first bytes of it. */
  #sizeAt(offset: number): number {
    const known = this.#sizes.get(offset);
    if (known !== undefined) return known;
    this.#checkPlace(offset);
    const input = this.#file.glance(offset, ENTRY_HEADER_BYTES + INFLATE_HEAD);
    const { kind, size, length } = parseEntryHeader(input, 0);
    const found = kind !== undefined
      ? size
      : deltaSizes(inflateStart(input, length, Math.min(size, DELTA_SIZES_BYTES))).result;
    if (this.#sizes.size > MOST_KINDS) this.#sizes.clear();
    this.#sizes.set(offset, found);
    return found;
  }

  #checkPlace(at: number): void {
    if (at < PACK_HEADER || at >= this.#end) {
      throw new CorruptError("an object is said to be outside its pack");
    }
  }

  #header(at: number): EntryHeader {
    this.#checkPlace(at);
    return parseEntryHeader(this.#file.view(at, ENTRY_HEADER_BYTES), 0);
  }

  /** Where the base of a delta is; undefined when this pack does not hold it. */
  #baseOffset(at: number, header: EntryHeader): number | undefined {
    if (header.base !== undefined) return this.idx.find(oidBytes(header.base));
    const distance = header.distance ?? 0;
    if (distance <= 0 || distance > at) throw new CorruptError("a delta has no base before it");
    return at - distance;
  }

  #outerBase({ base }: EntryHeader): GitObject {
    const object = base === undefined ? undefined : this.#share.readObject(base);
    if (object === undefined) throw missingBase(base ?? "");
    return object;
  }

  #inflate(at: number, size: number): Uint8Array {
    if (size > this.#share.objectBytes) throw tooLarge(size, this.#share.objectBytes);
    return readData(this.#file, at, this.#end, size).bytes;
  }

  #keep(at: number, object: GitObject): void {
    countMade(object.bytes.length);
    this.#share.objects.set(this.#key + at, object, object.bytes.length);
  }
}

/** The error for a delta whose base is nowhere. */
export function missingBase(oid: Oid): CorruptError {
  return new CorruptError(`the base ${oid} of a delta is missing`, {
    code: "corrupt.missing",
    facts: { oid },
  });
}

function tooDeep(): CorruptError {
  return new CorruptError(`a chain of deltas is longer than ${MAX_DEPTH}`);
}
