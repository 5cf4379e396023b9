import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { constants, deflateSync, inflateSync } from "node:zlib";
import { CorruptError } from "../../core/errors.ts";
import { concat, sameBytes, utf8 } from "../../core/git/bytes.ts";
import { inflate, inflateStart, inflateThrough } from "../../core/git/inflate.ts";
import { adler32, Inflater } from "../../core/git/inflater.ts";
import { randomNumbers, sampleText } from "../support/git.ts";

const random = randomNumbers(23);
const STRATEGIES = [
  constants.Z_DEFAULT_STRATEGY,
  constants.Z_FILTERED,
  constants.Z_HUFFMAN_ONLY,
  constants.Z_RLE,
  constants.Z_FIXED,
];

function sample(size: number): Uint8Array {
  const way = random(4);
  if (way === 0) return Uint8Array.from({ length: size }, () => random(256));
  if (way === 1) return new Uint8Array(size).fill(65);
  // Few large values among many small ones make codes longer than nine bits.
  if (way === 2) return Uint8Array.from({ length: size }, () => 255 >> random(9) >> random(9));
  return utf8(sampleText(size, random(1000) + 1)).subarray(0, size);
}

function deflated(bytes: Uint8Array): Uint8Array {
  return deflateSync(bytes, {
    level: random(10),
    memLevel: 1 + random(9),
    strategy: STRATEGIES[random(5)] ?? 0,
  });
}

function own(
  input: Uint8Array,
  at: number,
  size: number,
): { bytes: Uint8Array; inflater: Inflater; ending: string } {
  const bytes = new Uint8Array(size);
  const inflater = new Inflater(input, at, bytes);
  return { bytes, inflater, ending: inflater.run() };
}

describe("inflating", () => {
  it("gives what was deflated and how long it was, whatever follows", () => {
    for (let i = 0; i < 600; i++) {
      const bytes = sample(random(i % 20 === 0 ? 200_000 : 2000));
      const data = deflated(bytes);
      const input = concat([utf8("xyz"), data, utf8("more bytes")]);
      const made = own(input, 3, bytes.length);
      assertEquals(made.ending, "done");
      assertEquals(made.inflater.consumed, data.length);
      assert(sameBytes(made.bytes, bytes));
      const found = inflate(input, 3, bytes.length);
      assertEquals(found?.consumed, data.length);
      assert(sameBytes(found?.bytes ?? new Uint8Array(), bytes));
      const size = random(bytes.length + 1);
      assert(sameBytes(inflateStart(input, 3, size), bytes.subarray(0, size)));
    }
  });

  it("takes its input in pieces of any size and gives its output through one buffer", () => {
    for (let i = 0; i < 60; i++) {
      const bytes = sample(random(400_000));
      const data = deflated(bytes);
      const most = i % 3 === 0 ? 3 : 5000;
      let at = 0;
      const parts: Uint8Array[] = [];
      const pieces = () => {
        if (at >= data.length) return undefined;
        const piece = data.subarray(at, at + random(most));
        at += piece.length;
        return piece;
      };
      const found = inflateThrough(pieces, bytes.length, (piece) => parts.push(piece.slice()));
      assertEquals(found?.consumed, data.length);
      assert(sameBytes(concat(parts), bytes));
      assertThrows(() => inflateThrough(once(data), bytes.length + 1, () => {}), CorruptError);
      if (bytes.length > 0) {
        assertThrows(() => inflateThrough(once(data), bytes.length - 1, () => {}), CorruptError);
      }
      assertEquals(inflateThrough(once(data.subarray(0, -1)), bytes.length, () => {}), undefined);
    }
  });

  it("asks for more where the input ends, and refuses another size than the one said", () => {
    for (const size of [0, 1, 300, 5000]) {
      const bytes = utf8(sampleText(size + 1)).subarray(0, size);
      const data = deflateSync(bytes);
      for (let end = 0; end < data.length; end += 1 + (size >> 8)) {
        assertEquals(inflate(data.subarray(0, end), 0, size), undefined);
      }
      assertThrows(() => inflate(data, 0, size + 1), CorruptError, "not the");
      if (size > 0) assertThrows(() => inflate(data, 0, size - 1), CorruptError, "more than");
    }
  });

  it("judges broken data as zlib does", () => {
    let refused = 0;
    for (let i = 0; i < 3000; i++) {
      const bytes = sample(random(600) + 1);
      const broken = Uint8Array.from(deflated(bytes));
      const at = random(broken.length);
      broken[at] = (broken[at] ?? 0) ^ (1 << random(8));
      let expected: Uint8Array | undefined;
      try {
        expected = inflateSync(broken, { maxOutputLength: bytes.length });
      } catch {
        refused++;
      }
      let made: Uint8Array | undefined;
      try {
        made = inflate(broken, 0, bytes.length)?.bytes;
      } catch (error) {
        assert(error instanceof CorruptError, String(error));
      }
      if (expected?.length !== bytes.length) expected = undefined;
      assertEquals(made === undefined, expected === undefined, `round ${i}`);
      if (made && expected) assert(sameBytes(made, expected));
    }
    assert(refused > 2000);
  });

  it("never fails on noise but by refusing it", () => {
    for (let i = 0; i < 20_000; i++) {
      const noise = Uint8Array.from({ length: random(80) }, () => random(256));
      noise.set([0x78, 0x9c].slice(0, noise.length));
      try {
        own(noise, 0, random(500));
      } catch (error) {
        assert(error instanceof CorruptError, String(error));
      }
    }
  });

  it("sums as Adler-32 does", () => {
    assertEquals(adler32(utf8("Wikipedia")), 0x11e60398);
    const bytes = sample(100_000);
    assertEquals(adler32(bytes.subarray(5000), adler32(bytes.subarray(0, 5000))), adler32(bytes));
  });
});

function once(data: Uint8Array): () => Uint8Array | undefined {
  let given = false;
  return () => {
    if (given) return undefined;
    given = true;
    return data;
  };
}
