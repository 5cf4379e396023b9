import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createHash } from "node:crypto";
import { readCar } from "../../core/atproto/car.ts";
import { decodeCbor } from "../../core/atproto/cbor.ts";
import { formatCid, parseCid } from "../../core/atproto/cid.ts";
import { CorruptError } from "../../core/errors.ts";

const LINK = `d82a58250001711220${"ab".repeat(32)}`;

function decode(hex: string): unknown {
  return decodeCbor(Uint8Array.fromHex(hex));
}

describe("DAG-CBOR", () => {
  it("gives the values that records have in memory", () => {
    const values: [string, unknown][] = [
      ["00", 0],
      ["17", 23],
      ["1818", 24],
      ["190100", 256],
      ["1a00010000", 65536],
      ["1b0000000100000000", 2 ** 32],
      ["1b001fffffffffffff", Number.MAX_SAFE_INTEGER],
      ["20", -1],
      ["3903e7", -1000],
      ["f4", false],
      ["f5", true],
      ["f6", null],
      ["60", ""],
      ["62c3bc", "ü"],
      ["63efbbbf", "\ufeff"],
      ["4401020304", Uint8Array.of(1, 2, 3, 4)],
      ["83010203", [1, 2, 3]],
      ["a26161016162820203", { a: 1, b: [2, 3] }],
      ["a2616201626161" + "02", { b: 1, aa: 2 }],
      [LINK, { $link: formatCid({ codec: "dag-cbor", digest: new Uint8Array(32).fill(0xab) }) }],
    ];
    for (const [hex, value] of values) assertEquals(decode(hex), value, hex);
  });

  it("is refused in any form but the one, and outside the data model", () => {
    for (
      const hex of [
        "", // nothing
        "0000", // two items
        "1817", // 23 in two bytes
        "1900ff", // 255 in three
        "1b0020000000000000", // 2^53
        "3b001fffffffffffff", // -2^53
        "1bffffffffffffffff",
        "f93c00", // a float
        "fb3ff8000000000000",
        "f7", // undefined
        "f0", // another simple value
        "5f4101ff", // indefinite bytes
        "9f01ff",
        "bf616101ff",
        "ff",
        "a16101", // a key cut off
        "a10101", // a key that is a number
        "a2616201616102", // keys out of order
        "a262616101616202", // a longer key first
        "a2616101616102", // a key twice
        "61ff", // no UTF-8
        "62c0af",
        "63eda080", // half a surrogate pair
        "c100", // another tag
        "d82a4101", // a link without its zero
        `d82a5826000171122000${"ab".repeat(32)}`,
        `d82a58250101711220${"ab".repeat(32)}`,
        "9b00000000ffffffff", // an array of four thousand million
        "bb0000000fffffffff",
        "5b00000000ffffffff",
        "7a7fffffff",
        "81".repeat(100) + "00",
      ]
    ) assertThrows(() => decode(hex), CorruptError, "a block");
  });

  it("keeps __proto__ as a key like any other", () => {
    const value = decode("a1695f5f70726f746f5f5fa1616101");
    assertEquals(Object.keys(Object(value)), ["__proto__"]);
    assertEquals(Object.getPrototypeOf(value), Object.prototype);
  });
});

describe("CIDs", () => {
  it("are read and written", () => {
    const text = "bafyreiaxcz5ssgzhjz5wrfovchyulvqmfgf24xhp5cfc7pl7x5qmd2fabe";
    const cid = parseCid(text);
    assert(cid);
    assertEquals([cid.codec, formatCid(cid)], ["dag-cbor", text]);
    const raw = formatCid({ codec: "raw", digest: cid.digest });
    assertEquals(raw.slice(0, 7), "bafkrei");
  });

  it("are not read from other versions, hashes, bases or with bits left over", () => {
    for (
      const text of [
        "",
        "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKV3nV",
        "BAFYREIAXCZ5SSGZHJZ5WRFOVCHYULVQMFGF24XHP5CFC7PL7X5QMD2FABE",
        "zdpuAnZsjPa8VPn9HVPhyzWB5eBbQdyTCy3ZfsRcqjyHWtNqZ",
        "bafyreiaxcz5ssgzhjz5wrfovchyulvqmfgf24xhp5cfc7pl7x5qmd2fabf",
        "bafyreiaxcz5ssgzhjz5wrfovchyulvqmfgf24xhp5cfc7pl7x5qmd2fab",
        "baejbeiaxcz5ssgzhjz5wrfovchyulvqmfgf24xhp5cfc7pl7x5qmd2fabe",
      ]
    ) assertEquals(parseCid(text), undefined, text);
  });
});

describe("a CAR file", () => {
  const blocks = ["a0", "a1616101", "83010203"].map((hex) => Uint8Array.fromHex(hex));

  function car(): Uint8Array {
    const header = Uint8Array.fromHex("a265726f6f7473806776657273696f6e01");
    const parts: Uint8Array[] = [Uint8Array.of(header.length), header];
    for (const block of blocks) {
      const digest = createHash("sha256").update(block).digest();
      parts.push(Uint8Array.of(36 + block.length, 1, 0x71, 0x12, 32), digest, block);
    }
    return new Uint8Array(Buffer.concat(parts));
  }

  it("gives its blocks in order", () => {
    const read = [...readCar(car())];
    assertEquals(read.map(({ block }) => block), blocks);
    assertEquals(new Set(read.map(({ cid }) => cid)).size, 3);
  });

  it("with any one bit changed, or cut anywhere, never gives bytes that are not what a CID says", () => {
    const whole = car();
    const good = new Set([...readCar(whole)].map(({ cid, block }) => cid + block.toHex()));
    const tries = [
      ...Array.from(whole, (_, i) => whole.subarray(0, i)),
      ...Array.from(
        { length: whole.length * 8 },
        (_, bit) => whole.with(bit >> 3, (whole[bit >> 3] ?? 0) ^ (1 << (bit & 7))),
      ),
    ];
    for (const bytes of tries) {
      try {
        for (const { cid, block } of readCar(bytes)) {
          const digest = new Uint8Array(createHash("sha256").update(block).digest());
          assert(good.has(cid + block.toHex()) || parseCid(cid)?.digest.toHex() === digest.toHex());
        }
      } catch (error) {
        assert(error instanceof CorruptError, String(error));
      }
    }
  });
});
