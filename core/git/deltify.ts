/** Blocks of the base of this many bytes are found again in the target. */
const BLOCK = 16;
/** Of blocks with one hash so many are tried: a base that repeats itself must not cost more. */
const TRIES = 32;
/** A match shorter than this costs more to copy than to insert. */
const LEAST_COPY = 8;
/** No instruction copies or inserts more: git's own bounds. */
const MOST_COPY = 0x10000;
const MOST_INSERT = 127;
/** Above this, offsets in the base cannot be written. */
const MOST_BASE = 0xffffffff;
const FACTOR = 0x01000193;
const LAST_FACTOR = Array.from({ length: BLOCK - 1 }).reduce<number>(
  (power) => Math.imul(power, FACTOR),
  1,
);

/** Gives a delta that makes `target` of `base`, or undefined when it would take more than `limit` bytes. */
export function makeDelta(
  base: Uint8Array,
  target: Uint8Array,
  limit: number,
): Uint8Array | undefined {
  if (base.length > MOST_BASE) return undefined;
  const out = new DeltaWriter(base.length, target, limit);
  const shared = Math.min(base.length, target.length);
  let start = 0;
  while (start < shared && base[start] === target[start]) start++;
  let end = 0;
  const left = shared - start;
  while (end < left && base[base.length - 1 - end] === target[target.length - 1 - end]) end++;
  if (start < LEAST_COPY) start = 0;
  if (end < LEAST_COPY) end = 0;
  out.copy(0, start);
  writeMiddle(base, target, start, target.length - end, out);
  out.copy(base.length - end, end);
  return out.finish();
}

/** Writes what lies between the shared start and end, from blocks of the base wherever they are. */
function writeMiddle(
  base: Uint8Array,
  target: Uint8Array,
  start: number,
  stop: number,
  out: DeltaWriter,
): void {
  let waiting = start;
  if (stop - start >= BLOCK && base.length >= BLOCK) {
    const index = new BlockIndex(base);
    let at = start;
    let hash = hashBlock(target, at);
    while (at + BLOCK <= stop && !out.isFull) {
      if (!index.search(hash, target, at, stop)) {
        hash = rollHash(hash, target[at] ?? 0, target[at + BLOCK] ?? 0);
        at++;
        continue;
      }
      let { from, length } = index;
      // What was about to be inserted may stand before the match in the base too.
      while (at > waiting && from > 0 && target[at - 1] === base[from - 1]) {
        at--;
        from--;
        length++;
      }
      out.insert(waiting, at);
      out.copy(from, length);
      at += length;
      waiting = at;
      if (at + BLOCK <= stop) hash = hashBlock(target, at);
    }
  }
  out.insert(waiting, stop);
}

/** The blocks of a base by their hashes. */
class BlockIndex {
  /** The longest match that the last search found. */
  from = 0;
  length = 0;
  readonly #base: Uint8Array;
  readonly #shift: number;
  /** The first block, counted from 1, with a hash that ends in the same bits; for each block the next. */
  readonly #first: Uint32Array;
  readonly #next: Uint32Array;

  constructor(base: Uint8Array) {
    const blocks = Math.floor(base.length / BLOCK);
    const bits = Math.max(4, Math.ceil(Math.log2(blocks + 1)));
    this.#base = base;
    this.#shift = 32 - bits;
    this.#first = new Uint32Array(1 << bits);
    this.#next = new Uint32Array(blocks + 1);
    for (let block = blocks; block > 0; block--) {
      const slot = this.#slot(hashBlock(base, (block - 1) * BLOCK));
      this.#next[block] = this.#first[slot] ?? 0;
      this.#first[slot] = block;
    }
  }

  /** Finds the longest match that starts with the block at `at`; false when there is none. */
  search(hash: number, target: Uint8Array, at: number, stop: number): boolean {
    const base = this.#base;
    this.length = 0;
    let block = this.#first[this.#slot(hash)] ?? 0;
    for (let tries = 0; block !== 0 && tries < TRIES; tries++, block = this.#next[block] ?? 0) {
      const from = (block - 1) * BLOCK;
      const most = Math.min(stop - at, base.length - from);
      let length = 0;
      while (length < most && base[from + length] === target[at + length]) length++;
      if (length > this.length) {
        this.from = from;
        this.length = length;
      }
    }
    return this.length >= BLOCK;
  }

  #slot(hash: number): number {
    return Math.imul(hash, 0x9e3779b1) >>> this.#shift;
  }
}

/** A delta being written, which stops at its limit. */
class DeltaWriter {
  isFull = false;
  readonly #target: Uint8Array;
  readonly #limit: number;
  #bytes = new Uint8Array(256);
  #length = 0;

  constructor(baseLength: number, target: Uint8Array, limit: number) {
    this.#target = target;
    this.#limit = limit;
    this.#size(baseLength);
    this.#size(target.length);
  }

  copy(from: number, length: number): void {
    for (; length > 0 && this.#room(8); from += MOST_COPY, length -= MOST_COPY) {
      const size = Math.min(length, MOST_COPY);
      const codeAt = this.#length++;
      let code = 0x80;
      for (let i = 0; i < 4; i++) if (this.#part(from, i)) code |= 1 << i;
      if (size !== MOST_COPY) {
        for (let i = 0; i < 2; i++) if (this.#part(size, i)) code |= 0x10 << i;
      }
      this.#bytes[codeAt] = code;
    }
  }

  insert(from: number, to: number): void {
    while (from < to) {
      const size = Math.min(to - from, MOST_INSERT);
      if (!this.#room(size + 1)) return;
      this.#bytes[this.#length++] = size;
      this.#bytes.set(this.#target.subarray(from, from + size), this.#length);
      this.#length += size;
      from += size;
    }
  }

  finish(): Uint8Array | undefined {
    return this.isFull || this.#length > this.#limit
      ? undefined
      : this.#bytes.slice(0, this.#length);
  }

  /** Writes a byte of a number unless it is 0, which need not be written. */
  #part(number: number, index: number): boolean {
    const byte = number >>> index * 8 & 0xff;
    if (byte !== 0) this.#bytes[this.#length++] = byte;
    return byte !== 0;
  }

  #size(size: number): void {
    for (; size >= 0x80; size = Math.floor(size / 0x80)) {
      this.#bytes[this.#length++] = size % 0x80 | 0x80;
    }
    this.#bytes[this.#length++] = size;
  }

  #room(more: number): boolean {
    if (this.#length > this.#limit) this.isFull = true;
    if (this.#length + more > this.#bytes.length) {
      const longer = new Uint8Array((this.#length + more) * 2);
      longer.set(this.#bytes);
      this.#bytes = longer;
    }
    return !this.isFull;
  }
}

function hashBlock(bytes: Uint8Array, at: number): number {
  let hash = 0;
  for (let i = at; i < at + BLOCK; i++) hash = Math.imul(hash, FACTOR) + (bytes[i] ?? 0) | 0;
  return hash;
}

/** The hash of the block one byte further on. */
function rollHash(hash: number, leaving: number, coming: number): number {
  return Math.imul(hash - Math.imul(leaving, LAST_FACTOR), FACTOR) + coming | 0;
}
