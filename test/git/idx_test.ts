import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CorruptError } from "../../core/errors.ts";
import { ByteCache } from "../../core/git/cache.ts";
import { hashObject } from "../../core/git/hash.ts";
import { PackIdx } from "../../core/git/idx.ts";
import type { OidPage } from "../../core/git/oid_table.ts";
import { formatIdx } from "../../core/git/idx_write.ts";
import { oidBytes } from "../../core/git/oid.ts";
import { PackTable } from "../../core/git/pack_table.ts";
import { randomNumbers, tempDir } from "../support/git.ts";

function tableOf(oids: readonly string[], offset: (i: number) => number): PackTable {
  const table = new PackTable(oids.length);
  oids.forEach((oid, i) => {
    table.offsets[i] = offset(i);
    table.identify(i, "blob", oid);
  });
  return table;
}

function open(path: string): PackIdx {
  return new PackIdx(path, new ByteCache<OidPage>(1 << 20), 0);
}

describe("the index of a pack", () => {
  it("keeps offsets past 2 GiB and finds every oid among many that start alike", () => {
    using temp = tempDir();
    const path = join(temp.path, "x.idx");
    const oids = Array.from({ length: 9000 }, (_, i) => {
      const oid = hashObject("blob", Uint8Array.of(i & 255, i >> 8));
      return i % 2 === 0 ? oid : `abcdef012345${oid.slice(12)}`;
    });
    const { idx } = formatIdx(tableOf(oids, (i) => 12 + i * 1_000_000), new Uint8Array(20));
    writeFileSync(path, idx);
    const opened = open(path);
    oids.forEach((oid, i) => assertEquals(opened.find(oidBytes(oid)), 12 + i * 1_000_000));
    const sorted = oids.toSorted();
    sorted.forEach((oid, i) => {
      if (i % 50 === 0) assertEquals([opened.oidAt(i), opened.lowerBound(oidBytes(oid))], [oid, i]);
    });
    for (let i = 0; i < 500; i++) {
      assertEquals(
        opened.find(oidBytes(hashObject("tree", Uint8Array.of(i & 255, i >> 8)))),
        undefined,
      );
    }
    const { names, offsets } = opened.table();
    assertEquals(names.subarray(0, 20).toHex(), sorted[0]);
    assertEquals(offsets[0], 12 + oids.indexOf(sorted[0] ?? "") * 1_000_000);
    opened.close();
  });

  it("is sorted however alike the oids are", () => {
    const random = randomNumbers(2);
    const oids = Array.from(
      { length: 3000 },
      () =>
        `0123456789ab${random(2)}${random(3)}`.padEnd(36, "c") +
        random(65536).toString(16).padStart(4, "0"),
    );
    const { oids: sorted } = formatIdx(tableOf(oids, (i) => 12 + i), new Uint8Array(20));
    const listed = Array.from(
      { length: 3000 },
      (_, i) => sorted.subarray(i * 20, i * 20 + 20).toHex(),
    );
    assertEquals(listed, oids.toSorted());
  });

  it("is refused when it is not one, cut short or out of order", () => {
    using temp = tempDir();
    const path = join(temp.path, "x.idx");
    const oids = Array.from({ length: 50 }, (_, i) => hashObject("blob", Uint8Array.of(i)));
    const { idx } = formatIdx(tableOf(oids, (i) => 12 + i), new Uint8Array(20));
    const broken = [
      new Uint8Array(),
      idx.subarray(0, 100),
      idx.subarray(0, 1100),
      idx.subarray(0, -1),
      idx.map((byte, i) => i === 0 ? 1 : byte),
      idx.map((byte, i) => i === 7 ? 3 : byte),
      idx.map((byte, i) => i === 8 ? 255 : byte),
    ];
    for (const bytes of broken) {
      writeFileSync(path, bytes);
      assertThrows(() => open(path), CorruptError, "index of a pack");
    }
  });
});

describe("ByteCache", () => {
  it("keeps what was used last and stays within its bytes", () => {
    const cache = new ByteCache<number>(10_000);
    for (let key = 0; key < 100; key++) {
      cache.set(key, key, 300);
      assertEquals(cache.get(0), 0);
    }
    assertEquals(cache.get(99), 99);
    assertEquals(cache.get(50), undefined);
    cache.set(200, 200, 9000);
    assertEquals(cache.get(200), undefined);
    cache.clear();
    assertEquals(cache.get(0), undefined);
  });
});
