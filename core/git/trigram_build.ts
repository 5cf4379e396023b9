import type { Oid } from "./object.ts";
import { OID_BYTES, oidBytes } from "./oid.ts";
import { bucketAt, BUCKETS, eachNumber, type TrigramColumns } from "./trigram.ts";

/** A blob to index: its bytes when it is a text. */
export interface IndexedBlob {
  readonly oid: Oid;
  readonly text: Uint8Array | undefined;
}

/** An index that takes more blobs, none of which it knows yet. */
export class TrigramGrowth {
  readonly #columns: TrigramColumns;
  readonly #oids: Oid[] = [];
  readonly #kinds: number[] = [];
  readonly #pairs = new Pairs();

  /** Goes on from an index, which stays as it is. */
  constructor(columns: TrigramColumns) {
    this.#columns = columns;
  }

  /** How many blobs there are with those added. */
  get count(): number {
    return this.#columns.count + this.#oids.length;
  }

  add({ oid, text }: IndexedBlob): void {
    if (text !== undefined) this.#pairs.add(this.count, text);
    this.#oids.push(oid);
    this.#kinds.push(text === undefined ? 0 : 1);
  }

  /** Gives the index with all that was added. */
  columns(): TrigramColumns {
    const { count: before, oids, kinds } = this.#columns;
    const { count } = this;
    const allOids = new Uint8Array(count * OID_BYTES);
    allOids.set(oids);
    this.#oids.forEach((oid, at) => allOids.set(oidBytes(oid), (before + at) * OID_BYTES));
    const allKinds = new Uint8Array(count);
    allKinds.set(kinds);
    allKinds.set(this.#kinds, before);
    const { starts, lists } = this.#pairs.appendTo(this.#columns, count);
    return {
      count,
      oids: allOids,
      kinds: allKinds,
      starts,
      lists,
      list: (bucket) => lists.subarray(starts[bucket], starts[bucket + 1]),
    };
  }
}

/** Which of the new blobs are in which bucket, in the order they came. */
class Pairs {
  readonly #counts = new Uint32Array(BUCKETS + 1);
  /** The number above the last blob that was put into each bucket. */
  readonly #last = new Uint32Array(BUCKETS);
  #buckets = new Uint32Array(1 << 16);
  #numbers = new Uint32Array(1 << 16);
  #length = 0;

  add(number: number, text: Uint8Array): void {
    const last = this.#last;
    for (let at = 2; at < text.length; at++) {
      const bucket = bucketAt(text, at);
      if (bucket < 0 || last[bucket] === number + 1) continue;
      last[bucket] = number + 1;
      this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
      if (this.#length === this.#buckets.length) {
        this.#buckets = doubled(this.#buckets);
        this.#numbers = doubled(this.#numbers);
      }
      this.#buckets[this.#length] = bucket;
      this.#numbers[this.#length++] = number;
    }
  }

  /** Gives the lists of an index with the new blobs at the end of each, all of them numbered below `count`. */
  appendTo(columns: TrigramColumns, count: number): { starts: Uint32Array; lists: Uint8Array } {
    const { places, sorted } = this.#sort();
    const { starts: oldStarts, lists: oldLists } = columns;
    const starts = new Uint32Array(BUCKETS + 1);
    const most = Math.ceil(Math.log2(count + 1) / 7);
    const lists = new Uint8Array(oldLists.length + this.#length * most);
    let length = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const before = oldLists.subarray(oldStarts[bucket], oldStarts[bucket + 1]);
      starts[bucket] = length;
      lists.set(before, length);
      length += before.length;
      const from = places[bucket] ?? 0;
      const to = places[bucket + 1] ?? 0;
      if (from === to) continue;
      let last = -1;
      eachNumber(before, (number) => last = number);
      for (let at = from; at < to; at++) {
        const number = sorted[at] ?? 0;
        let step = number - last;
        for (; step >= 0x80; step = Math.floor(step / 128)) lists[length++] = step & 0x7f | 0x80;
        lists[length++] = step;
        last = number;
      }
    }
    starts[BUCKETS] = length;
    return { starts, lists: lists.slice(0, length) };
  }

  /** The numbers bucket by bucket, and where each bucket's start. */
  #sort(): { places: Uint32Array; sorted: Uint32Array } {
    const places = new Uint32Array(BUCKETS + 1);
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      places[bucket + 1] = (places[bucket] ?? 0) + (this.#counts[bucket] ?? 0);
    }
    const next = places.slice();
    const sorted = new Uint32Array(this.#length);
    for (let at = 0; at < this.#length; at++) {
      const bucket = this.#buckets[at] ?? 0;
      const place = next[bucket] ?? 0;
      next[bucket] = place + 1;
      sorted[place] = this.#numbers[at] ?? 0;
    }
    return { places, sorted };
  }
}

function doubled(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2);
  larger.set(array);
  return larger;
}
