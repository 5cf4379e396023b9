import { CorruptError } from "../errors.ts";

/** Codes up to this long are found by one look in the table. */
const PRIMARY = 9;
const SIZE = 1 << PRIMARY;
const LONGEST = 15;

/** A Huffman code of deflate (RFC 1951 §3.2.2), reused from block to block. */
export class HuffmanCode {
  /** By the next 9 bits: the symbol, shifted left by 4, and the length of its code; 0 for a longer code. */
  readonly table: Uint16Array = new Uint16Array(SIZE);
  readonly #counts = new Uint16Array(LONGEST + 1);
  readonly #symbols = new Uint16Array(288);
  readonly #starts = new Uint16Array(LONGEST + 1);
  readonly #places = new Uint16Array(LONGEST + 1);
  readonly #codes = new Uint16Array(LONGEST + 1);

  /** Makes the code whose symbol `i` has `lengths[i]` bits; `maySparse` lets a single code of one bit stand alone. */
  build(lengths: Uint8Array, { maySparse }: { maySparse: boolean }): void {
    const counts = this.#counts.fill(0);
    let longest = 0;
    for (let symbol = 0; symbol < lengths.length; symbol++) {
      const length = lengths[symbol] ?? 0;
      counts[length] = (counts[length] ?? 0) + 1;
      if (length > longest) longest = length;
    }
    counts[0] = 0;
    let left = 1;
    for (let length = 1; length <= LONGEST; length++) {
      left = left * 2 - (counts[length] ?? 0);
      if (left < 0) throw new CorruptError("compressed data has a code with too many symbols");
    }
    if (left > 0 && (longest > 1 || !maySparse)) {
      throw new CorruptError("compressed data has an incomplete code");
    }
    const starts = this.#starts;
    const places = this.#places;
    const codes = this.#codes;
    let code = 0;
    let start = 0;
    for (let length = 1; length <= longest; length++) {
      codes[length] = code;
      starts[length] = places[length] = start;
      code = (code + (counts[length] ?? 0)) << 1;
      start += counts[length] ?? 0;
    }
    const table = this.table.fill(0);
    for (let symbol = 0; symbol < lengths.length; symbol++) {
      const length = lengths[symbol] ?? 0;
      if (length === 0) continue;
      const place = places[length] ?? 0;
      places[length] = place + 1;
      this.#symbols[place] = symbol;
      const own = codes[length] ?? 0;
      codes[length] = own + 1;
      if (length > PRIMARY) continue;
      const value = symbol << 4 | length;
      for (let at = reverse(own, length); at < SIZE; at += 1 << length) table[at] = value;
    }
  }

  /** Finds a code longer than the table's in `count` bits: as the table gives it, 0 when the bits do not hold one. */
  search(bits: number, count: number): number {
    let code = 0;
    let first = 0;
    for (let length = 1; length <= LONGEST && length <= count; length++) {
      code |= bits >>> (length - 1) & 1;
      const there = this.#counts[length] ?? 0;
      if (code - first < there) {
        return (this.#symbols[(this.#starts[length] ?? 0) + code - first] ?? 0) << 4 | length;
      }
      first = (first + there) << 1;
      code <<= 1;
    }
    return 0;
  }
}

function reverse(code: number, length: number): number {
  let reversed = 0;
  for (let i = 0; i < length; i++) reversed |= (code >>> i & 1) << (length - 1 - i);
  return reversed;
}
