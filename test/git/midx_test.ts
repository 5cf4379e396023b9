import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CorruptError } from "../../core/errors.ts";
import { sameBytes } from "../../core/git/bytes.ts";
import { ByteCache } from "../../core/git/cache.ts";
import { MIDX, MultiPackIndex } from "../../core/git/midx.ts";
import { formatMidx } from "../../core/git/midx_write.ts";
import { oidBytes } from "../../core/git/oid.ts";
import type { OidPage } from "../../core/git/oid_table.ts";
import { readTable } from "../../core/git/pack_set.ts";
import { openStore } from "../../core/git/store.ts";
import {
  buildLongRepo,
  catObjects,
  commitFiles,
  fsck,
  git,
  initRepo,
  listObjects,
  tempDir,
} from "../support/git.ts";

/** A bare repository with so many packs, none of which holds what another does. */
function buildPacks(path: string, packs: number): string {
  const work = initRepo(path);
  for (let number = 0; number < packs; number++) {
    commitFiles(work, `commit ${number}`, {
      [`file${number}`]: `text ${number}\n`.repeat(20),
      same: `${number}\n`,
    });
    git(work, "repack", "-q", "-d");
  }
  return join(work, ".git");
}

function packFolder(dir: string): string {
  return join(dir, "objects", "pack");
}

function packNames(dir: string): string[] {
  return readdirSync(packFolder(dir)).filter((name) => name.endsWith(".idx"))
    .map((name) => name.slice(0, -4)).sort();
}

function midxOf(dir: string, names = packNames(dir)): Uint8Array {
  return formatMidx(names.map((name) => ({ name, ...readTable(join(packFolder(dir), name)) })));
}

function open(path: string): MultiPackIndex {
  return new MultiPackIndex(path, new ByteCache<OidPage>(1 << 20), 0);
}

/** The objects of a repository, as git reads them. */
function objectsOf(dir: string): { oid: string; kind: string; bytes: Uint8Array }[] {
  const listed = listObjects(dir);
  const contents = catObjects(dir, listed.map(({ oid }) => oid));
  return listed.map(({ oid, kind }, at) => ({
    oid,
    kind,
    bytes: contents[at] ?? new Uint8Array(),
  }));
}

function assertAllRead(dir: string, objects = objectsOf(dir)): void {
  const store = openStore(dir);
  for (const { oid, kind, bytes } of objects) {
    const object = store.read(oid);
    assertEquals(object?.kind, kind);
    assert(sameBytes(object?.bytes ?? new Uint8Array(), bytes), oid);
    assert(store.find(oid.slice(0, 10), 5).includes(oid));
  }
  assertEquals(new Set(store.oids()), new Set(objects.map(({ oid }) => oid)));
  store.close();
}

describe("an index over packs", () => {
  it("is written byte for byte as git writes it", () => {
    using temp = tempDir();
    const dir = buildPacks(join(temp.path, "work"), 12);
    const ours = midxOf(dir);
    git(dir, "multi-pack-index", "write");
    assertEquals(readFileSync(join(packFolder(dir), MIDX)), Buffer.from(ours));
    assertAllRead(dir);
  });

  it("of packs that hold the same objects passes git's checks, and names a pack that has each", () => {
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "long"), { commits: 200 });
    const before = packNames(dir);
    git(dir, "repack", "-q", "-a", "--depth=1");
    git(dir, "pack-objects", "-q", "--all", join(packFolder(dir), "pack"), "--depth=5");
    assert(packNames(dir).length > before.length);
    writeFileSync(join(packFolder(dir), MIDX), midxOf(dir));
    git(dir, "multi-pack-index", "verify");
    fsck(dir);
    assertAllRead(dir);
  });

  it("has large offsets in a part of their own, where git looks for them", () => {
    using temp = tempDir();
    const path = join(temp.path, MIDX);
    const names = Uint8Array.from({ length: 60 }, (_, at) => at < 20 ? 1 : at < 40 ? 2 : 3);
    const offsets = Float64Array.of(12, 2 ** 31 + 7, 2 ** 40 + 5);
    writeFileSync(path, formatMidx([{ name: "pack-a", names, offsets }]));
    const large = open(path);
    for (const [at, byte] of ["01", "02", "03"].entries()) {
      const found = large.find(oidBytes(byte.repeat(20)));
      assertEquals(found, { pack: 0, offset: offsets[at] ?? 0 });
    }
    assertEquals(large.find(oidBytes("04".repeat(20))), undefined);
    large.close();
    // Up to 32 bits there is no such part.
    const below = Float64Array.of(12, 2 ** 31 + 7, 2 ** 32 - 1);
    writeFileSync(path, formatMidx([{ name: "pack-a", names, offsets: below }]));
    const small = open(path);
    assertEquals(small.find(oidBytes("03".repeat(20)))?.offset, 2 ** 32 - 1);
    small.close();
  });

  it("leaves packs closed that nothing is asked of", () => {
    using temp = tempDir();
    const dir = buildPacks(join(temp.path, "work"), 12);
    const oid = git(dir, "rev-parse", "HEAD~5:file3");
    const other = git(dir, "rev-parse", "HEAD~2");
    writeFileSync(join(packFolder(dir), MIDX), midxOf(dir));
    const names = packNames(dir);
    assertEquals(names.length, 12);
    const store = openStore(dir);
    // Of an open file it would not be noticed that it has gone.
    for (const name of names) renameSync(packPath(dir, name), join(temp.path, name));
    assertEquals(store.read(oid), undefined);
    for (const name of names) renameSync(join(temp.path, name), packPath(dir, name));
    assertEquals(store.read(oid)?.kind, "blob");
    for (const name of names) renameSync(packPath(dir, name), join(temp.path, name));
    assertEquals(store.read(other), undefined);
    store.close();
  });

  it("may be of some of the packs, and stands for those alone", () => {
    using temp = tempDir();
    const dir = buildPacks(join(temp.path, "work"), 12);
    const names = packNames(dir);
    writeFileSync(join(packFolder(dir), MIDX), midxOf(dir, names.slice(0, 7)));
    assertEquals(openStore(dir).packs.length, 12);
    assertAllRead(dir);
  });

  it("is left alone when it names a pack that is gone, is damaged, cut short, or of another kind", () => {
    using temp = tempDir();
    const dir = buildPacks(join(temp.path, "work"), 4);
    const path = join(packFolder(dir), MIDX);
    const objects = objectsOf(dir);
    const whole = midxOf(dir);
    const listed = packNames(dir).map((name) => ({
      name,
      ...readTable(join(packFolder(dir), name)),
    }));
    const gone = { name: "pack-0000", names: new Uint8Array(), offsets: new Float64Array() };
    const odd: Uint8Array[] = [
      formatMidx([...listed, gone]),
      new Uint8Array(),
      whole.subarray(0, 11),
      ...[4, 5, 6, 7].map((at) => whole.with(at, 9)),
      whole.with(8, 255),
      ...Array.from({ length: 60 }, (_, at) => whole.with(12 + at, (whole[12 + at] ?? 0) ^ 0x41)),
    ];
    for (let length = 12; length < whole.length - 20; length += 97) {
      odd.push(whole.subarray(0, length));
    }
    for (const bytes of odd) {
      writeFileSync(path, bytes);
      assertAllRead(dir, objects);
    }
    rmSync(path);
    mkdirSync(path);
    assertAllRead(dir, objects);
    rmSync(path, { recursive: true });
    writeFileSync(path, whole.subarray(0, 40));
    assertThrows(() => open(path), CorruptError);
  });

  it("gives way to packs that came in place of those it names while it was open", () => {
    using temp = tempDir();
    const dir = buildPacks(join(temp.path, "work"), 12);
    writeFileSync(join(packFolder(dir), MIDX), midxOf(dir));
    const store = openStore(dir);
    const oids = listObjects(dir).map(({ oid }) => oid);
    assert(store.has(oids[0] ?? ""));
    rmSync(join(packFolder(dir), MIDX));
    git(dir, "repack", "-q", "-a", "-d");
    for (const oid of oids) assert(store.read(oid) !== undefined, oid);
    assertEquals(store.packs.length, 1);
    store.close();
  });
});

function packPath(dir: string, name: string): string {
  return join(packFolder(dir), `${name}.pack`);
}
