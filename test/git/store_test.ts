import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CorruptError } from "../../core/errors.ts";
import { sameBytes } from "../../core/git/bytes.ts";
import { hashObject } from "../../core/git/hash.ts";
import { EMPTY_TREE } from "../../core/git/oid.ts";
import { type ObjectStore, openStore } from "../../core/git/store.ts";
import {
  buildLongRepo,
  buildOddRepo,
  catObjects,
  git,
  initRepo,
  listObjects,
  tempDir,
} from "../support/git.ts";

function assertAllRead(dir: string, cacheBytes?: number): void {
  const store = openStore(dir, cacheBytes === undefined ? {} : { cacheBytes });
  const listed = listObjects(dir);
  const contents = catObjects(dir, listed.map(({ oid }) => oid));
  listed.forEach(({ oid, kind, size }, i) => {
    assertEquals(store.info(oid), { kind, size }, oid);
    const object = store.read(oid);
    assertEquals(object?.kind, kind);
    assert(sameBytes(object?.bytes ?? new Uint8Array(), contents[i] ?? new Uint8Array()), oid);
    assert(store.has(oid));
  });
  store.close();
}

describe("openStore", () => {
  it("reads every object as git does, loose, packed and in two packs", () => {
    using temp = tempDir();
    const dir = join(buildOddRepo(join(temp.path, "odd")), ".git");
    assertAllRead(dir);
    git(dir, "repack", "-q", "-d");
    assertAllRead(dir);
    git(dir, "update-ref", "refs/heads/more", git(dir, "commit-tree", "-m", "x", "main^{tree}"));
    git(dir, "repack", "-q", "-d");
    assertEquals(openStore(dir).packs.length, 2);
    assertAllRead(dir);
  });

  it("reads long chains of deltas, with a cache too small for them too", () => {
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "long"), { commits: 300 });
    assertAllRead(dir);
    assertAllRead(dir, 4096);
  });

  it("reads packs whose deltas name their bases", () => {
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "long"), { commits: 100 });
    git(dir, "-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-adf");
    assertAllRead(dir);
  });

  it("finds oids by prefix in every pack and among loose objects, in order and up to the limit", () => {
    using temp = tempDir();
    const dir = join(buildOddRepo(join(temp.path, "odd")), ".git");
    const oids = listObjects(dir).map(({ oid }) => oid).sort();
    for (const pack of [() => {}, () => git(dir, "repack", "-q", "-ad")]) {
      pack();
      const store = openStore(dir);
      for (const oid of oids) assertEquals(store.find(oid.slice(0, 7), 5), [oid]);
      for (const oid of oids) assertEquals(store.find(oid, 5), [oid]);
      assertEquals(store.find("ffff", 10).filter((oid) => !oid.startsWith("ffff")), []);
      store.close();
    }
    const [first = ""] = oids;
    const alike = oids.filter((oid) => oid.startsWith(first.slice(0, 2)));
    assertEquals(openStore(dir).find(first.slice(0, 2), 1), alike.slice(0, 1));
  });

  it("says that it does not hold what it does not hold", () => {
    using temp = tempDir();
    const store = openStore(initRepo(join(temp.path, "empty"), { bare: true }));
    for (const oid of ["0".repeat(40), "f".repeat(40), "not an oid", ""]) {
      assertEquals(store.has(oid), false);
      assertEquals(store.read(oid), undefined);
      assertEquals(store.info(oid), undefined);
    }
    for (const prefix of ["abcd", "ABCD", "g123", ""]) assertEquals(store.find(prefix, 3), []);
    assertEquals(store.read(EMPTY_TREE), { kind: "tree", bytes: new Uint8Array() });
    assert(store.has(EMPTY_TREE));
  });

  it("sees packs come and go when it refreshes", () => {
    using temp = tempDir();
    const from = join(buildLongRepo(join(temp.path, "long"), { commits: 30 }), "objects/pack");
    const to = initRepo(join(temp.path, "to"), { bare: true });
    const store = openStore(to);
    const oid = git(join(temp.path, "long"), "rev-parse", "main");
    assertEquals(store.has(oid), false);
    for (const name of readdirSync(from)) {
      copyFileSync(join(from, name), join(to, "objects/pack", name));
    }
    assertEquals(store.has(oid), false);
    store.refresh();
    assertEquals(store.info(oid)?.kind, "commit");
    for (const name of readdirSync(from)) rmSync(join(to, "objects/pack", name), { force: true });
    store.refresh();
    assertEquals(store.has(oid), false);
    assertEquals(store.packs, []);
  });

  it("refuses an object above the limit and one that is cut short or changed", () => {
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "long"), { commits: 20 });
    const folder = join(dir, "objects/pack");
    const name = readdirSync(folder).find((file) => file.endsWith(".pack")) ?? "";
    const [oid = ""] = listObjects(dir).filter(({ kind }) => kind === "blob").map(({ oid }) => oid);
    assertThrows(
      () => openStore(dir, { objectBytes: 10 }).read(oid),
      CorruptError,
      "over the limit",
    );
    const bytes = readFileSync(join(folder, name));
    const oids = listObjects(dir).map(({ oid }) => oid);
    let harmless = 0;
    for (let at = 12; at < bytes.length - 20; at += 997) {
      const broken = Uint8Array.from(bytes);
      broken[at] = (broken[at] ?? 0) ^ 0x10;
      const copy = join(temp.path, `broken${at}/objects/pack`);
      mkdirSync(copy, { recursive: true });
      writeFileSync(join(copy, name), broken);
      const idx = name.replace(".pack", ".idx");
      copyFileSync(join(folder, idx), join(copy, idx));
      const store = openStore(join(temp.path, `broken${at}`));
      if (oids.every((oid) => readsRight(store, oid))) harmless++;
      store.close();
    }
    // The last byte of compressed data may have bits without meaning.
    assert(harmless < 4, `${harmless} flips did not matter`);
  });
});

function readsRight(store: ObjectStore, oid: string): boolean {
  try {
    const object = store.read(oid);
    return object !== undefined && hashObject(object.kind, object.bytes) === oid;
  } catch (error) {
    assert(error instanceof CorruptError, String(error));
    return false;
  }
}
