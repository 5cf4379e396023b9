import { CorruptError } from "../errors.ts";
import { HuffmanCode } from "./huffman.ts";

/** What {@link Inflater.run} ended with: the stream's end, the output's or the input's. */
export type Ending = "done" | "full" | "short";

/** Takes what is inflated when the output buffer is full; the bytes are reused after the call. */
export type Sink = (bytes: Uint8Array) => void;

const WINDOW = 32768;
const LENGTH_BASE = [
  ...[3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31],
  ...[35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258],
];
const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, ...pairs(1, 5, 4), 0];
const DISTANCE_BASE = [
  ...[1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769],
  ...[1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577],
];
const DISTANCE_EXTRA = [0, 0, ...pairs(0, 13, 2)];
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

const lengthBase = new Uint16Array(LENGTH_BASE);
const lengthExtra = new Uint8Array(LENGTH_EXTRA);
const distanceBase = new Uint16Array(DISTANCE_BASE);
const distanceExtra = new Uint8Array(DISTANCE_EXTRA);

let fixed: { literal: HuffmanCode; distance: HuffmanCode } | undefined;
let dynamic: { lengths: HuffmanCode; literal: HuffmanCode; distance: HuffmanCode } | undefined;

/** The codes of a dynamic block, the same ones each time. */
function dynamicCodes(): NonNullable<typeof dynamic> {
  return dynamic ??= {
    lengths: new HuffmanCode(),
    literal: new HuffmanCode(),
    distance: new HuffmanCode(),
  };
}

/**
 * Inflates one zlib stream (RFC 1950). It costs less to start than `node:zlib`, pulls its input piece by
 * piece, and can stop at the first bytes: what small objects, very large ones and delta headers need.
 */
export class Inflater {
  #input: Uint8Array;
  #at: number;
  /** Bytes of the pieces before this one. */
  #before = 0;
  readonly #more: (() => Uint8Array | undefined) | undefined;
  readonly #sink: Sink | undefined;
  readonly #out: Uint8Array<ArrayBuffer>;
  #length = 0;
  /** Where what the sink has not had starts. */
  #unsent = 0;
  #sent = 0;
  #hold = 0;
  #count = 0;
  #adler = 1;

  /** Inflates `input` from `at` into `out`; with a sink, `out` is what lies between two calls of it, 64 KiB at least. */
  constructor(
    input: Uint8Array,
    at: number,
    out: Uint8Array<ArrayBuffer>,
    more?: () => Uint8Array | undefined,
    sink?: Sink,
  ) {
    this.#input = input;
    this.#at = at;
    this.#before = -at;
    this.#out = out;
    this.#more = more;
    this.#sink = sink;
  }

  /** The compressed bytes used, counted from where it started. */
  get consumed(): number {
    return this.#before + this.#at - (this.#count >> 3);
  }

  /** The bytes inflated. */
  get produced(): number {
    return this.#sent + this.#length - this.#unsent;
  }

  /** Inflates to an end; throws a CorruptError when the data break the format or the checksum. */
  run(): Ending {
    const header = this.#bits(16);
    if (header < 0) return "short";
    const method = header & 0xff;
    if ((method & 0x0f) !== 8 || method > 0x7f || (method << 8 | header >>> 8) % 31 !== 0) {
      throw new CorruptError("compressed data does not start as zlib data does");
    }
    if ((header & 0x2000) !== 0) throw new CorruptError("compressed data asks for a dictionary");
    for (let last = 0; last === 0;) {
      const head = this.#bits(3);
      if (head < 0) return "short";
      last = head & 1;
      const ending = this.#block(head >>> 1);
      if (ending !== "done") return ending;
    }
    return this.#finish();
  }

  #block(type: number): Ending {
    if (type === 0) return this.#stored();
    if (type === 1) {
      fixed ??= fixedCodes();
      return this.#compressed(fixed.literal, fixed.distance);
    }
    if (type === 3) throw new CorruptError("compressed data has a block of no known type");
    const codes = dynamicCodes();
    return this.#codes(codes) ? this.#compressed(codes.literal, codes.distance) : "short";
  }

  #finish(): Ending {
    this.#align();
    this.#send();
    let sum = 0;
    for (let i = 0; i < 4; i++) {
      const byte = this.#alignedByte();
      if (byte < 0) return "short";
      sum = sum * 256 + byte;
    }
    if (sum !== this.#adler) throw new CorruptError("compressed data fails its checksum");
    return "done";
  }

  #align(): void {
    const drop = this.#count & 7;
    this.#hold >>>= drop;
    this.#count -= drop;
  }

  /** The next byte, when all bits of the one before are used; below 0 when there is none. */
  #alignedByte(): number {
    if (this.#count >= 8) {
      const byte = this.#hold & 0xff;
      this.#hold >>>= 8;
      this.#count -= 8;
      return byte;
    }
    if (this.#at === this.#input.length && !this.#refill()) return -1;
    return this.#input[this.#at++] ?? -1;
  }

  #bits(wanted: number): number {
    while (this.#count < wanted) {
      if (this.#at === this.#input.length && !this.#refill()) return -1;
      this.#hold |= (this.#input[this.#at++] ?? 0) << this.#count;
      this.#count += 8;
    }
    const bits = this.#hold & ((1 << wanted) - 1);
    this.#hold >>>= wanted;
    this.#count -= wanted;
    return bits;
  }

  #refill(): boolean {
    for (let next = this.#more?.(); next !== undefined; next = this.#more?.()) {
      this.#before += this.#input.length;
      this.#input = next;
      this.#at = 0;
      if (next.length > 0) return true;
    }
    return false;
  }

  /** Makes room in a full output; false when there is none to be had. */
  #room(): boolean {
    if (this.#sink === undefined) return false;
    this.#send();
    this.#out.copyWithin(0, this.#length - WINDOW, this.#length);
    this.#length = WINDOW;
    this.#unsent = WINDOW;
    return true;
  }

  #send(): void {
    const piece = this.#out.subarray(this.#unsent, this.#length);
    this.#adler = adler32(piece, this.#adler);
    if (this.#sink === undefined) return;
    this.#sink(piece);
    this.#sent += piece.length;
    this.#unsent = this.#length;
  }

  #stored(): Ending {
    this.#align();
    const length = this.#bits(16);
    const check = this.#bits(16);
    if (length < 0 || check < 0) return "short";
    if ((length ^ check) !== 0xffff) {
      throw new CorruptError("compressed data has a stored block of unclear length");
    }
    for (let left = length; left > 0;) {
      if (this.#length === this.#out.length && !this.#room()) return "full";
      if (this.#count > 0) {
        this.#out[this.#length++] = this.#alignedByte();
        left--;
        continue;
      }
      if (this.#at === this.#input.length && !this.#refill()) return "short";
      const size = Math.min(
        left,
        this.#input.length - this.#at,
        this.#out.length - this.#length,
      );
      this.#out.set(this.#input.subarray(this.#at, this.#at + size), this.#length);
      this.#at += size;
      this.#length += size;
      left -= size;
    }
    return "done";
  }

  #codes({ lengths: code, literal, distance }: NonNullable<typeof dynamic>): boolean {
    const counts = this.#bits(14);
    if (counts < 0) return false;
    const literals = (counts & 31) + 257;
    const distances = (counts >>> 5 & 31) + 1;
    if (literals > 286 || distances > 30) {
      throw new CorruptError("compressed data has more symbols than there are");
    }
    const small = new Uint8Array(19);
    for (let i = 0; i < (counts >>> 10) + 4; i++) {
      const length = this.#bits(3);
      if (length < 0) return false;
      small[ORDER[i] ?? 0] = length;
    }
    code.build(small, { maySparse: false });
    const lengths = new Uint8Array(literals + distances);
    for (let at = 0; at < lengths.length;) {
      const symbol = this.#symbol(code);
      if (symbol < 0) return false;
      if (symbol < 16) {
        lengths[at++] = symbol;
        continue;
      }
      const more = this.#bits(symbol === 16 ? 2 : symbol === 17 ? 3 : 7);
      if (more < 0) return false;
      const repeat = more + (symbol === 18 ? 11 : 3);
      if (at + repeat > lengths.length || (symbol === 16 && at === 0)) {
        throw new CorruptError("compressed data repeats the length of no code");
      }
      lengths.fill(symbol === 16 ? lengths[at - 1] ?? 0 : 0, at, at + repeat);
      at += repeat;
    }
    if (lengths[256] === 0) throw new CorruptError("compressed data has no end of block");
    literal.build(lengths.subarray(0, literals), { maySparse: true });
    distance.build(lengths.subarray(literals), { maySparse: true });
    return true;
  }

  /** The next symbol; below 0 when the input ends in it. */
  #symbol(code: HuffmanCode): number {
    while (this.#count < 15 && (this.#at < this.#input.length || this.#refill())) {
      this.#hold |= (this.#input[this.#at++] ?? 0) << this.#count;
      this.#count += 8;
    }
    const found = code.table[this.#hold & 511] || code.search(this.#hold, this.#count);
    if (found === 0 && this.#count >= 15) throw unknownCode();
    const length = found & 15;
    if (found === 0 || length > this.#count) return -1;
    this.#hold >>>= length;
    this.#count -= length;
    return found >>> 4;
  }

  /** The hot loop: it keeps its state in locals and stores it before anything else looks. */
  #compressed(literal: HuffmanCode, distance: HuffmanCode): Ending {
    const out = this.#out;
    const literals = literal.table;
    let length = this.#length;
    for (;;) {
      let input = this.#input;
      let at = this.#at;
      let hold = this.#hold;
      let count = this.#count;
      let symbol = 256;
      for (;;) {
        while (count < 15) {
          if (at === input.length) {
            this.#at = at;
            if (!this.#refill()) break;
            input = this.#input;
            at = 0;
          }
          hold |= (input[at++] ?? 0) << count;
          count += 8;
        }
        const found = literals[hold & 511] || literal.search(hold, count);
        const size = found & 15;
        if (found === 0 || size > count) {
          if (count >= 15) throw unknownCode();
          this.#store(at, hold, count, length);
          return "short";
        }
        symbol = found >>> 4;
        if (symbol < 256 && length === out.length) break;
        hold >>>= size;
        count -= size;
        if (symbol > 255) break;
        out[length++] = symbol;
      }
      this.#store(at, hold, count, length);
      if (symbol === 256) return "done";
      if (symbol < 256) {
        if (!this.#room()) return "full";
      } else {
        const ending = this.#match(symbol - 257, distance);
        if (ending !== "done") return ending;
      }
      length = this.#length;
    }
  }

  #store(at: number, hold: number, count: number, length: number): void {
    this.#at = at;
    this.#hold = hold;
    this.#count = count;
    this.#length = length;
  }

  #match(index: number, distances: HuffmanCode): Ending {
    if (index > 28) throw unknownCode();
    const extra = this.#bits(lengthExtra[index] ?? 0);
    const symbol = extra < 0 ? -1 : this.#symbol(distances);
    if (symbol > 29) throw unknownCode();
    const far = symbol < 0 ? -1 : this.#bits(distanceExtra[symbol] ?? 0);
    if (far < 0) return "short";
    let left = (lengthBase[index] ?? 0) + extra;
    const distance = (distanceBase[symbol] ?? 0) + far;
    if (distance > this.#length) {
      throw new CorruptError("compressed data reaches back before its start");
    }
    const out = this.#out;
    for (;;) {
      let length = this.#length;
      const end = Math.min(length + left, out.length);
      left -= end - length;
      for (let from = length - distance; length < end;) out[length++] = out[from++] ?? 0;
      this.#length = length;
      if (left === 0) return "done";
      if (!this.#room()) return "full";
    }
  }
}

/** Gives the Adler-32 checksum of the bytes, going on from that of those before. */
export function adler32(bytes: Uint8Array, before = 1): number {
  let low = before & 0xffff;
  let high = before >>> 16;
  for (let at = 0; at < bytes.length;) {
    // 3,800 sums of bytes stay below 2^31.
    const end = Math.min(at + 3800, bytes.length);
    while (at < end) {
      low += bytes[at++] ?? 0;
      high += low;
    }
    low %= 65521;
    high %= 65521;
  }
  return high * 65536 + low;
}

function fixedCodes(): { literal: HuffmanCode; distance: HuffmanCode } {
  const lengths = new Uint8Array(288).fill(8).fill(9, 144, 256).fill(7, 256, 280);
  const literal = new HuffmanCode();
  const distance = new HuffmanCode();
  literal.build(lengths, { maySparse: false });
  distance.build(new Uint8Array(32).fill(5), { maySparse: false });
  return { literal, distance };
}

function pairs(from: number, to: number, times: number): number[] {
  const list: number[] = [];
  for (let extra = from; extra <= to; extra++) for (let i = 0; i < times; i++) list.push(extra);
  return list;
}

function unknownCode(): CorruptError {
  return new CorruptError("compressed data has a code of no symbol");
}
