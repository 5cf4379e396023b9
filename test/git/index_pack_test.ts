import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { CorruptError } from "../../core/errors.ts";
import { concat, sameBytes, utf8 } from "../../core/git/bytes.ts";
import { checkConnected } from "../../core/git/connected.ts";
import { formatEntryHeader } from "../../core/git/entry.ts";
import { hashObject } from "../../core/git/hash.ts";
import { type IndexedPack, indexPack } from "../../core/git/index_pack.ts";
import type { ObjectReader, Oid } from "../../core/git/object.ts";
import { packHeader } from "../../core/git/pack_head.ts";
import { scanPack } from "../../core/git/pack_scan.ts";
import type { PackLimits } from "../../core/git/pack_parse.ts";
import { openStore } from "../../core/git/store.ts";
import { sealPack, writePack } from "../../core/git/write_pack.ts";
import {
  buildLongRepo,
  buildOddRepo,
  commitFiles,
  git,
  gitBytes,
  initRepo,
  listObjects,
  sampleText,
  tempDir,
  tryGit,
} from "../support/git.ts";

const LIMITS: PackLimits = {
  objectBytes: 1 << 26,
  totalBytes: 1 << 30,
  objects: 1_000_000,
  depth: 4095,
};

function packFile(dir: string): string {
  const folder = join(dir, "objects/pack");
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".pack")) ?? "");
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    await Promise.resolve();
    yield bytes.subarray(at, at + size);
  }
}

/** Indexes bytes into a new bare repository under `dir`. */
async function index(
  dir: string,
  bytes: Uint8Array,
  options: { store?: ObjectReader; complete?: boolean; limits?: Partial<PackLimits> } = {},
): Promise<{ pack: IndexedPack; repo: string }> {
  const repo = join(dir, `in${readdirSync(dir).length}`);
  initRepo(repo, { bare: true });
  const pack = await indexPack(inPieces(bytes, 1000), {
    store: options.store,
    outDir: join(repo, "objects/pack"),
    limits: { ...LIMITS, ...options.limits },
    complete: options.complete ?? true,
  });
  return { pack, repo };
}

function oidsOf({ oids }: IndexedPack): Oid[] {
  return Array.from(
    { length: oids.length / 20 },
    (_, i) => oids.subarray(i * 20, i * 20 + 20).toHex(),
  );
}

function entry(type: string | number, data: Uint8Array, size = data.length): Uint8Array {
  return concat([Uint8Array.from(formatEntryHeader(type, size)), deflateSync(data)]);
}

describe("indexPack", () => {
  it("writes the index that git writes, whatever the pack holds", async () => {
    using temp = tempDir();
    const odd = join(buildOddRepo(join(temp.path, "odd")), ".git");
    git(odd, "repack", "-q", "-adf");
    const long = buildLongRepo(join(temp.path, "long"), { commits: 400 });
    const named = buildLongRepo(join(temp.path, "named"), { commits: 100 });
    git(named, "-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-adf");
    const bases = buildLongRepo(join(temp.path, "bases"), { commits: 60 });
    git(bases, "-c", "pack.compression=0", "repack", "-q", "-adF", "--depth=4095");
    let objects = 0;
    for (const dir of [odd, long, named, bases]) {
      const file = packFile(dir);
      const out = join(temp.path, `out-${dir.replaceAll("/", "-")}`);
      mkdirSync(out);
      const pack = await indexPack(file, { outDir: out, limits: LIMITS, complete: true });
      assert(readFileSync(pack.idxPath).equals(readFileSync(file.replace(/pack$/, "idx"))), dir);
      assert(readFileSync(pack.packPath).equals(readFileSync(file)));
      assertEquals(`${pack.name}.pack`, file.split("/").at(-1));
      assertEquals(pack.needs, []);
      assertEquals(oidsOf(pack), listObjects(dir).map(({ oid }) => oid).sort());
      assertEquals(pack.bytes, statSync(file).size);
      assertEquals(pack.sha256, createHash("sha256").update(readFileSync(file)).digest("hex"));
      assertEquals(readdirSync(out).sort(), [`${pack.name}.idx`, `${pack.name}.pack`]);
      objects += pack.objects;
    }
    Deno.stderr.writeSync(utf8(`    indexes of packs: 4 of 4 are git's, of ${objects} objects\n`));
  });

  it("takes an object larger than it holds in memory, and an empty pack", async () => {
    using temp = tempDir();
    const large = new Uint8Array(17 << 20);
    for (let i = 0; i < large.length; i++) large[i] = Math.imul(i, i ^ 0x5bd1) >>> 13;
    const oid = hashObject("blob", large);
    const bytes = sealPack(1, [entry("blob", large)]);
    const { pack, repo } = await index(temp.path, bytes);
    assertEquals(oidsOf(pack), [oid]);
    assert(sameBytes(openStore(repo).read(oid)?.bytes ?? new Uint8Array(), large));
    git(repo, "verify-pack", pack.idxPath);
    const again = await index(temp.path, bytes, {
      store: openStore(repo),
    });
    assertEquals(again.pack.checksum, pack.checksum);
    const empty = await index(temp.path, sealPack(0, []));
    assertEquals(empty.pack.objects, 0);
  });

  it("completes a thin pack as git can read it, and says what it needed", async () => {
    using temp = tempDir();
    const dir = initRepo(join(temp.path, "work"));
    const lines = sampleText(40_000).split("\n");
    const base = commitFiles(dir, "one", { "a.txt": lines.join("\n"), "b.txt": "b\n" });
    lines[100] = "changed";
    const tip = commitFiles(dir, "two", { "a.txt": lines.join("\n") });
    lines[500] = "changed again";
    const last = commitFiles(dir, "three", { "a.txt": lines.join("\n") });
    const first = gitBytes(dir, `${base}\n`, "pack-objects", "--revs", "--stdout", "-q");
    const thin = gitBytes(
      dir,
      `${last}\n^${base}\n`,
      "pack-objects",
      "--revs",
      "--thin",
      "--stdout",
      "-q",
    );
    const { repo } = await index(temp.path, first);
    const store = openStore(repo);
    const { pack } = await index(temp.path, thin, { store });
    const blob = git(dir, "rev-parse", `${base}:a.txt`);
    assert(pack.needs.includes(blob));
    const chains = [...pack.chains()];
    assert(chains.some(({ outer, depth }) => outer === blob && depth === 1));
    assertEquals([...new Set(chains.flatMap(({ outer }) => outer ?? []))].sort(), pack.needs);
    assertEquals(pack.objects, packHeader(thin).objects);
    assertEquals(pack.bytes, thin.length);
    git(temp.path, "verify-pack", pack.idxPath);
    const bytes = readFileSync(pack.packPath);
    assertEquals(packHeader(bytes).objects, pack.objects + pack.needs.length);
    const own = join(temp.path, "own");
    mkdirSync(own);
    writeFileSync(join(own, "x.pack"), bytes);
    git(own, "index-pack", "x.pack");
    assert(readFileSync(join(own, "x.idx")).equals(readFileSync(pack.idxPath)));
    const both = await indexPack(pack.packPath, {
      outDir: join(repo, "objects/pack"),
      limits: LIMITS,
      complete: true,
    });
    store.refresh();
    assertEquals((await checkConnected(store, [last], { have: () => false })).has(tip), true);
    git(repo, "update-ref", "refs/heads/main", last);
    git(repo, "fsck", "--strict", "--full");
    assertEquals(both.needs, []);
    await assertRejects(() => index(temp.path, thin), CorruptError, "base");
    const kept = await index(temp.path, thin, { store, complete: false });
    assertEquals(kept.pack.needs, pack.needs);
    assert(readFileSync(kept.pack.packPath).equals(thin));
  });

  it("does not complete with what the pack holds itself, even where the store has it too", async () => {
    using temp = tempDir();
    const texts = [0, 1, 2].map((i) => utf8(`${sampleText(5000)}${"x".repeat(i * 50)}`));
    const [outer, middle, top] = texts.map((bytes) => ({
      oid: hashObject("blob", bytes),
      kind: "blob" as const,
      bytes,
    }));
    assert(outer && middle && top);
    const held = await index(temp.path, writePack([outer, middle]));
    const store = openStore(held.repo);
    const thin = writePack([{ ...top, base: middle }, { ...middle }]);
    assertEquals((await index(temp.path, thin, { store })).pack.needs, []);
    // The middle one is made on the outer one here, and its oid may sort before.
    const parts = [thin, writePack([{ ...middle, base: outer }])].flatMap((pack) =>
      scanPack(pack, 1 << 20).slice(0, 1).map(({ raw }) => raw)
    );
    const { pack, repo } = await index(temp.path, sealPack(2, parts), { store });
    assertEquals(pack.needs, [outer.oid]);
    git(repo, "verify-pack", pack.idxPath);
    assertEquals(oidsOf(pack), [outer, middle, top].map(({ oid }) => oid).sort());
  });

  it("refuses deltas that lean on each other, whether the store has them or not", async () => {
    using temp = tempDir();
    const texts = [0, 1].map((i) => utf8(`${sampleText(3000)}${"x".repeat(i * 50)}`));
    const [one, two] = texts.map((bytes) => ({
      oid: hashObject("blob", bytes),
      kind: "blob" as const,
      bytes,
    }));
    assert(one && two);
    const parts = [writePack([{ ...one, base: two }]), writePack([{ ...two, base: one }])]
      .flatMap((pack) => scanPack(pack, 1 << 20).map(({ raw }) => raw));
    await assertRejects(() => index(temp.path, sealPack(2, parts)), CorruptError, "base");
    const held = await index(temp.path, writePack([one, two]));
    await assertRejects(
      () => index(temp.path, sealPack(2, parts), { store: openStore(held.repo) }),
      CorruptError,
    );
  });

  it("never takes other bytes for an oid that is held", async () => {
    using temp = tempDir();
    const bytes = utf8("mine\n");
    const oid = hashObject("blob", bytes);
    const liar: ObjectReader = {
      has: (asked) => asked === oid,
      read: (asked) => asked === oid ? { kind: "blob", bytes: utf8("other") } : undefined,
      info: (asked) => asked === oid ? { kind: "blob", size: 5 } : undefined,
      find: () => [],
    };
    await assertRejects(
      () => index(temp.path, writePack([{ oid, kind: "blob", bytes }]), { store: liar }),
      CorruptError,
      "held with other content",
    );
  });

  it("refuses what is over a limit before it makes it", async () => {
    using temp = tempDir();
    const zeros = new Uint8Array(50 << 20);
    const bomb = sealPack(1, [entry("blob", zeros)]);
    assert(bomb.length < 60_000);
    const refused = async (bytes: Uint8Array, limits: Partial<PackLimits>, part: string) =>
      void await assertRejects(() => index(temp.path, bytes, { limits }), CorruptError, part);
    await refused(bomb, { objectBytes: 1 << 20 }, "over the limit");
    await refused(bomb, { totalBytes: 1 << 20 }, "inflates to over");
    await refused(sealPack(1, [entry("blob", zeros, 100)]), {}, "more than the 100 bytes");
    await refused(sealPack(1, [entry("blob", new Uint8Array(10), 10_000_000_000)]), {}, "limit");
    await refused(sealPack(1, [entry("blob", new Uint8Array(10), 1000)]), {}, "not the 1000");
    await refused(sealPack(4_000_000_000, []), {}, "4000000000 objects");
    await refused(sealPack(900_000, []), {}, "cut short");
    const base = new Uint8Array(1000);
    const huge = Uint8Array.of(0xe8, 0x07, 0x80, 0x80, 0x80, 0x80, 0x20, 0x90, 0xff);
    const delta = concat([
      Uint8Array.from(formatEntryHeader(entry("blob", base).length, huge.length)),
      deflateSync(huge),
    ]);
    await refused(sealPack(2, [entry("blob", base), delta]), {}, "over the limit");
    const growing = Uint8Array.of(
      0xe8,
      0x07,
      0x80,
      0x89,
      0x7a,
      ...new Array(2000).fill([0xb0, 0xe8, 0x03]).flat(),
    );
    const offset = entry("blob", base);
    const twice = concat([
      Uint8Array.from(formatEntryHeader(offset.length, growing.length)),
      deflateSync(growing),
    ]);
    await refused(sealPack(2, [offset, twice]), { totalBytes: 1_000_000 }, "inflates to over");
    const dir = buildLongRepo(join(temp.path, "long"), { commits: 200 });
    await refused(readFileSync(packFile(dir)), { depth: 3 }, "chain of more than 3");
  });

  it("refuses or reads right every pack with a byte changed, sealed again or not", async () => {
    using temp = tempDir();
    const texts = [0, 1, 2, 3].map((i) => utf8(`${sampleText(900)}${i}`));
    const blobs = texts.map((bytes) => ({
      oid: hashObject("blob", bytes),
      kind: "blob" as const,
      bytes,
    }));
    const small = writePack(
      blobs.map((blob, i) => {
        const base = blobs[i - 1];
        return { ...blob, ...(base && { base }) };
      }),
    );
    const all = blobs.map(({ oid }) => oid).sort();
    let same = 0;
    for (let at = 0; at < small.length - 20; at++) {
      const broken = Uint8Array.from(small);
      broken[at] = (broken[at] ?? 0) ^ (1 << at % 8);
      const out = join(temp.path, "raw");
      mkdirSync(out, { recursive: true });
      const options = { outDir: out, limits: LIMITS, complete: true };
      await assertRejects(() => indexPack(inPieces(broken, 700), options), CorruptError);
      const body = broken.subarray(0, -20);
      const sealed = concat([body, createHash("sha1").update(body).digest()]);
      try {
        const pack = await indexPack(inPieces(sealed, 700), options);
        if (oidsOf(pack).join() === all.join()) same++;
      } catch (error) {
        assert(error instanceof CorruptError, `${at}: ${error}`);
      }
      try {
        scanPack(sealed, 1 << 20);
      } catch (error) {
        assert(error instanceof CorruptError, `${at}: ${error}`);
      }
    }
    assert(same < 4, `${same} changes went unseen`);
    assertEquals(readdirSync(join(temp.path, "raw")).filter((name) => name.startsWith("tmp")), []);
  });

  it("refuses a pack that is cut short anywhere or goes on after its end", async () => {
    using temp = tempDir();
    const bytes = utf8(sampleText(2000));
    const whole = writePack([{ oid: hashObject("blob", bytes), kind: "blob", bytes }]);
    for (let end = 0; end < whole.length; end += 3) {
      await assertRejects(
        () =>
          indexPack(inPieces(whole.subarray(0, end), 100), {
            outDir: temp.path,
            limits: LIMITS,
            complete: true,
          }),
        CorruptError,
      );
    }
    await assertRejects(() => index(temp.path, concat([whole, utf8("more")])), CorruptError);
    const body = concat([whole.subarray(0, -20), utf8("trailing garbage")]);
    const sealed = concat([body, createHash("sha1").update(body).digest()]);
    await assertRejects(() => index(temp.path, sealed), CorruptError, "after its last object");
    assertThrows(() => scanPack(sealed, 1 << 20), CorruptError, "after its last object");
  });

  it("reads a pack whose encoder did worse than zlib ever does", async () => {
    using temp = tempDir();
    // Stored blocks of one byte each take six bytes for one.
    const text = utf8(sampleText(2000));
    const blocks: number[] = [0x78, 0x01];
    text.forEach((byte, i) => blocks.push(i === text.length - 1 ? 1 : 0, 1, 0, 0xfe, 0xff, byte));
    const sum = deflateSync(text).subarray(-4);
    const raw = concat([
      Uint8Array.from(formatEntryHeader("blob", text.length)),
      Uint8Array.from(blocks),
      sum,
    ]);
    const { pack, repo } = await index(temp.path, sealPack(1, [raw]));
    const oid = hashObject("blob", text);
    assertEquals(oidsOf(pack), [oid]);
    assert(sameBytes(openStore(repo).read(oid)?.bytes ?? new Uint8Array(), text));
    git(repo, "verify-pack", pack.idxPath);
  });

  it("refuses objects that git's check calls broken, and takes those it calls odd", async () => {
    using temp = tempDir();
    const tree = (bytes: Uint8Array) =>
      writePack([{ oid: hashObject("tree", bytes), kind: "tree", bytes }]);
    const blob = new Uint8Array(20).fill(7);
    const dangerous = concat([utf8("100644 .git\0"), blob]);
    await assertRejects(() => index(temp.path, tree(dangerous)), CorruptError, ".git");
    await index(temp.path, tree(concat([utf8("040000 old\0"), blob])));
  });

  it("holds one object of a plain chain of deltas, however long", async () => {
    using temp = tempDir();
    const parts: Uint8Array[] = [entry("blob", new Uint8Array(1 << 20))];
    for (let i = 1; i < 300; i++) {
      // Two bytes, then all but the first two of the base.
      const copies = [0x80, 0x80, 0x40, 0x80, 0x80, 0x40, 2, i & 0xff, i >> 8];
      for (let from = 2; from < 1 << 20; from += 0xffff) {
        const size = Math.min(0xffff, (1 << 20) - from);
        copies.push(0xbf, from & 255, from >> 8 & 255, from >> 16 & 255, 0, size & 255, size >> 8);
      }
      const data = Uint8Array.from(copies);
      const previous = parts.at(-1);
      parts.push(
        concat([
          Uint8Array.from(formatEntryHeader(previous?.length ?? 0, data.length)),
          deflateSync(data),
        ]),
      );
    }
    const { pack } = await index(temp.path, sealPack(300, parts));
    assert(git(temp.path, "verify-pack", "-v", pack.idxPath).includes("chain length = 299: 1"));
  });
});

describe("checkConnected", () => {
  it("reaches everything git reaches, but not into submodules", async () => {
    using temp = tempDir();
    const dir = join(buildOddRepo(join(temp.path, "odd")), ".git");
    const tips = git(dir, "for-each-ref", "--format=%(objectname)").split("\n");
    const listed = git(dir, "rev-list", "--objects", "--all").split("\n").map((line) =>
      line.slice(0, 40)
    );
    const reached = await checkConnected(openStore(dir), tips, { have: () => false });
    assertEquals([...reached].sort(), [...new Set(listed)].sort());
    const main = git(dir, "rev-parse", "main");
    const parent = git(dir, "rev-parse", "main~1");
    const older = await checkConnected(openStore(dir), [parent], { have: () => false });
    const newer = await checkConnected(openStore(dir), [main], { have: (oid) => older.has(oid) });
    assertEquals(newer.has(main), true);
    assertEquals([...newer].filter((oid) => older.has(oid)), []);
  });

  it("names an object that is missing and what leads to it, whichever it is", async () => {
    using temp = tempDir();
    const dir = join(buildOddRepo(join(temp.path, "odd")), ".git");
    const tips = git(dir, "for-each-ref", "--format=%(objectname)").split("\n");
    const store = openStore(dir);
    for (const gone of await checkConnected(store, tips, { have: () => false })) {
      const without: ObjectReader = {
        has: (oid) => oid !== gone && store.has(oid),
        read: (oid) => oid === gone ? undefined : store.read(oid),
        info: (oid) => oid === gone ? undefined : store.info(oid),
        find: () => [],
      };
      const error = await assertRejects(
        () => checkConnected(without, tips, { have: () => false }),
        CorruptError,
        gone,
      );
      assertEquals(error.code, "corrupt.missing");
    }
  });

  it("refuses an object of another kind than what leads to it says, a held one too", async () => {
    using temp = tempDir();
    const dir = initRepo(join(temp.path, "bad"));
    commitFiles(dir, "one", { "a/b": "text\n" });
    const tree = git(dir, "rev-parse", "HEAD^{tree}");
    const blob = git(dir, "rev-parse", "HEAD:a/b");
    const people = "author A <a@b.test> 1 +0000\ncommitter A <a@b.test> 1 +0000\n\nx\n";
    const bad = [
      ["commit", utf8(`tree ${blob}\n${people}`)],
      ["commit", utf8(`tree ${tree}\nparent ${tree}\n${people}`)],
      ["tree", concat([utf8("100644 x\0"), Uint8Array.fromHex(tree)])],
      ["tree", concat([utf8("40000 x\0"), Uint8Array.fromHex(blob)])],
      ["tag", utf8(`object ${blob}\ntype tree\ntag x\ntagger A <a@b.test> 1 +0000\n\nx\n`)],
    ] as const;
    for (const [kind, bytes] of bad) {
      const run = tryGit(dir, bytes, "hash-object", "-t", kind, "-w", "--stdin", "--literally");
      const oid = new TextDecoder().decode(run.out).trim();
      for (const have of [() => false, (asked: Oid) => asked !== oid]) {
        await assertRejects(
          () => checkConnected(openStore(join(dir, ".git")), [oid], { have }),
          CorruptError,
          " as a ",
        );
      }
    }
  });
});
