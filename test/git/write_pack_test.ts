import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CorruptError } from "../../core/errors.ts";
import { concat, sameBytes, utf8 } from "../../core/git/bytes.ts";
import { combinePacks } from "../../core/git/combine.ts";
import { formatCommit, parseCommit } from "../../core/git/commit.ts";
import { applyDelta } from "../../core/git/delta.ts";
import { makeDelta } from "../../core/git/deltify.ts";
import { hashObject } from "../../core/git/hash.ts";
import type { GitObject, ObjectKind, ObjectReader, Oid } from "../../core/git/object.ts";
import { packHeader } from "../../core/git/pack_head.ts";
import { scanPack } from "../../core/git/pack_scan.ts";
import { openStore } from "../../core/git/store.ts";
import { formatTree, parseTree } from "../../core/git/tree.ts";
import { type NewEntry, writePack } from "../../core/git/write_pack.ts";
import {
  buildOddRepo,
  commitFiles,
  git,
  initRepo,
  listObjects,
  randomNumbers,
  sampleText,
  tempDir,
  tryGit,
} from "../support/git.ts";

const LIMIT = 1 << 26;

function newEntry(kind: ObjectKind, bytes: Uint8Array, base?: Uint8Array): NewEntry {
  const oid = hashObject(kind, bytes);
  return { oid, kind, bytes, ...(base && { base: { oid: hashObject(kind, base), bytes: base } }) };
}

/** Has git take a pack into a bare repository, bases from there; gives what it says. */
function feed(repo: string, pack: Uint8Array): string {
  const run = tryGit(repo, pack, "index-pack", "--strict", "--fix-thin", "--stdin");
  assertEquals(run.status, 0, run.err);
  return new TextDecoder().decode(run.out);
}

function randomText(random: (below: number) => number, size: number): Uint8Array {
  return random(4) === 0
    ? Uint8Array.from({ length: size }, () => random(256))
    : utf8(sampleText(size, random(1000) + 1));
}

/** A text after so many cuts, insertions and moves. */
function edited(random: (below: number) => number, text: Uint8Array): Uint8Array {
  let parts = [text];
  for (let i = random(6); i > 0; i--) {
    const whole = concat(parts);
    const from = random(whole.length + 1);
    const to = Math.min(whole.length, from + random(400));
    const [cut, rest] = [
      whole.subarray(from, to),
      concat([whole.subarray(0, from), whole.subarray(to)]),
    ];
    const at = random(rest.length + 1);
    const put =
      [randomText(random, random(100)), cut, new Uint8Array(), concat([cut, cut])][random(4)];
    parts = [rest.subarray(0, at), put ?? cut, rest.subarray(at)];
  }
  return concat(parts);
}

describe("makeDelta", () => {
  it("makes the target again, whatever the two are", () => {
    const random = randomNumbers(11);
    for (let i = 0; i < 400; i++) {
      const base = randomText(random, random(3000));
      const target = i % 5 === 0 ? randomText(random, random(3000)) : edited(random, base);
      const delta = makeDelta(base, target, Infinity);
      assert(delta !== undefined);
      assert(sameBytes(applyDelta(base, delta, LIMIT), target), `round ${i}`);
    }
    for (const [base, target] of [["", ""], ["", "x"], ["x", ""], ["same", "same"]] as const) {
      const delta = makeDelta(utf8(base), utf8(target), Infinity);
      assert(delta !== undefined);
      assertEquals(applyDelta(utf8(base), delta, LIMIT), utf8(target));
    }
  });

  it("copies across 64 KiB and from far away, and finds what has moved", () => {
    const base = concat([utf8(sampleText(200_000, 3)), utf8(sampleText(300_000, 4))]);
    const target = concat([base.subarray(250_000), utf8("between\n"), base.subarray(0, 250_000)]);
    const delta = makeDelta(base, target, Infinity);
    assert(delta !== undefined && delta.length < 200, `${delta?.length} bytes`);
    assert(sameBytes(applyDelta(base, delta, LIMIT), target));
    assertEquals(makeDelta(base, target, 30), undefined);
  });

  it("is not slow on a base that repeats itself", () => {
    const base = new Uint8Array(1 << 20).fill(65);
    const target = concat([utf8("x"), base, utf8("y"), base.subarray(5), utf8("z")]);
    const delta = makeDelta(base, target, Infinity);
    assert(delta !== undefined && delta.length < 1000);
    assert(sameBytes(applyDelta(base, delta, LIMIT), target));
  });

  it("survives deltas that are noise: applied right or refused", () => {
    const random = randomNumbers(5);
    const base = utf8(sampleText(500));
    for (let i = 0; i < 3000; i++) {
      const delta = Uint8Array.from({ length: random(40) }, () => random(256));
      if (i % 2 === 0) {
        delta.set([base.length & 0x7f | 0x80, base.length >> 7].slice(0, delta.length));
      }
      try {
        assert(applyDelta(base, delta, 1 << 16).length <= 1 << 16);
      } catch (error) {
        assert(error instanceof CorruptError, String(error));
      }
    }
  });
});

describe("writePack", () => {
  it("takes a changed line of a long file in at most 600 bytes, trees and commit included", () => {
    using temp = tempDir();
    const work = initRepo(join(temp.path, "work"));
    const lines = sampleText(79_000).split("\n");
    const files: Record<string, string> = { "src/engine/long.ts": lines.join("\n") };
    for (let i = 0; i < 40; i++) files[`src/engine/file${i}.ts`] = `export const n = ${i};\n`;
    for (let i = 0; i < 20; i++) files[`file${i}.md`] = `# ${i}\n`;
    const base = commitFiles(work, "start", files);
    const store = openStore(join(work, ".git"));
    const read = (rev: string): Uint8Array =>
      store.read(git(work, "rev-parse", rev))?.bytes ?? new Uint8Array();
    lines[700] = "a line that is quite another now";
    const blob = newEntry("blob", utf8(lines.join("\n")), read(`${base}:src/engine/long.ts`));
    const entries = [blob];
    let oid = blob.oid;
    for (const [path, name] of [["src/engine", "long.ts"], ["src", "engine"], ["", "src"]]) {
      const before = read(`${base}:${path}`);
      const tree = parseTree(before).map((entry) =>
        new TextDecoder().decode(entry.name) === name ? { ...entry, oid } : entry
      );
      const made = newEntry("tree", formatTree(tree), before);
      entries.push(made);
      oid = made.oid;
    }
    const commit = parseCommit(read(base));
    const bytes = formatCommit({
      ...commit,
      tree: oid,
      parents: [base],
      message: utf8("change a line\n"),
    });
    entries.push(newEntry("commit", bytes));
    const pack = writePack(entries);
    assert(pack.length <= 600, `${pack.length} bytes`);
    feed(work, pack);
    git(work, "update-ref", "refs/heads/main", hashObject("commit", bytes));
    git(work, "fsck", "--strict", "--full");
    assertEquals(git(work, "diff", "--stat", "main~1", "main").split("\n").length, 2);
    assertEquals(writePack(entries), pack);
  });

  it("makes packs that git takes, of everything a repository holds", () => {
    using temp = tempDir();
    const dir = join(buildOddRepo(join(temp.path, "odd")), ".git");
    const store = openStore(dir);
    const last = new Map<ObjectKind, Uint8Array>();
    const entries: NewEntry[] = [];
    for (const { oid } of listObjects(dir)) {
      const { kind, bytes } = store.read(oid) ?? { kind: "blob", bytes: new Uint8Array() };
      entries.push(newEntry(kind, bytes, last.get(kind)), newEntry(kind, bytes));
      last.set(kind, bytes);
    }
    const pack = writePack(entries);
    assertEquals(packHeader(pack), { version: 2, objects: entries.length / 2 });
    const repo = initRepo(join(temp.path, "to"), { bare: true });
    feed(repo, pack);
    const refs = git(dir, "for-each-ref", "--format=create %(refname) %(objectname)");
    assertEquals(tryGit(repo, `${refs}\n`, "update-ref", "--stdin").err, "");
    git(repo, "fsck", "--strict", "--full");
    assertEquals(listObjects(repo), listObjects(dir));
  });

  it("never makes an object on one that is made on it", () => {
    const [one, two] = [utf8(sampleText(900)), utf8(`${sampleText(900)}more`)];
    const pack = writePack([newEntry("blob", one, two), newEntry("blob", two, one)]);
    const [first, second] = scanPack(pack, LIMIT).map(({ header }) => header);
    assertEquals(first?.base, hashObject("blob", two));
    assertEquals(second?.kind, "blob");
  });
});

describe("combinePacks", () => {
  function readerOf(entries: readonly NewEntry[]): ObjectReader {
    const held = new Map<Oid, GitObject>(entries.map((entry) => [entry.oid, entry]));
    return {
      has: (oid) => held.has(oid),
      read: (oid) => held.get(oid),
      info: () => undefined,
      find: () => [],
    };
  }

  it("keeps every object once, and what git makes of it", () => {
    using temp = tempDir();
    const random = randomNumbers(17);
    const outside = [0, 1, 2].map((i) => newEntry("blob", utf8(sampleText(4000, i + 50))));
    const known = [...outside];
    const packs: Uint8Array[] = [];
    for (let i = 0; i < 12; i++) {
      const entries: NewEntry[] = [];
      for (let n = 1 + random(5); n > 0; n--) {
        const base = known[random(known.length)];
        assert(base);
        const made = newEntry("blob", edited(random, base.bytes), base.bytes);
        entries.push(random(3) === 0 ? newEntry("blob", made.bytes) : made);
        known.push(made);
      }
      const again = known[3 + random(known.length - 3)];
      if (again) entries.push(again);
      packs.push(writePack(entries));
    }
    const own = new Set(
      known.slice(3).map(({ oid }) => oid).filter((oid) =>
        outside.every((held) => held.oid !== oid)
      ),
    );
    const { bytes, objects, needs } = combinePacks(packs, readerOf(outside));
    assert(needs.every((oid) => outside.some((held) => held.oid === oid)));
    assertEquals(objects, packHeader(bytes).objects);
    assert(bytes.length < packs.reduce((sum, pack) => sum + pack.length, 0));
    for (const [name, pack] of [["with", bytes], ["without", combinePacks(packs).bytes]] as const) {
      const repo = initRepo(join(temp.path, name), { bare: true });
      feed(repo, writePack(outside));
      if (name === "without") {
        assertEquals(tryGit(repo, pack, "index-pack", "--fix-thin", "--stdin").status, 0);
        continue;
      }
      feed(repo, pack);
      const held = new Set(listObjects(repo).map(({ oid }) => oid));
      for (const oid of own) assert(held.has(oid), oid);
      git(repo, "fsck", "--strict", "--full");
    }
  });

  it("leaves out what an earlier pack leans on, which could be made on what is made on it", () => {
    using temp = tempDir();
    const [one, two, three] = ["", "two", "and three"].map((end) =>
      utf8(`${sampleText(2000)}${end}`)
    );
    assert(one && two && three);
    const packs = [
      writePack([newEntry("blob", two, one)]),
      writePack([newEntry("blob", one, two), newEntry("blob", three, one)]),
    ];
    const { bytes, objects, needs } = combinePacks(packs, readerOf([newEntry("blob", one)]));
    assertEquals(needs, [hashObject("blob", one)]);
    assertEquals(objects, 2);
    const repo = initRepo(join(temp.path, "repo"), { bare: true });
    feed(repo, writePack([newEntry("blob", one)]));
    feed(repo, bytes);
  });

  it("keeps packs of git's own making, whose bases may come later", () => {
    using temp = tempDir();
    const dir = buildOddRepo(join(temp.path, "odd"));
    const tips = ["v1", "one", "two", "main"].map((name) => git(dir, "rev-parse", name));
    const packs = tips.map((tip, i) => {
      const revs = `${tip}\n${i > 0 ? `^${tips[i - 1]}\n` : ""}`;
      return tryGit(dir, revs, "pack-objects", "--revs", "--thin", "--stdout", "-q").out;
    });
    const { bytes, needs } = combinePacks(packs);
    assertEquals(needs, []);
    const repo = initRepo(join(temp.path, "repo"), { bare: true });
    mkdirSync(join(repo, "in"));
    writeFileSync(join(repo, "in/x.pack"), bytes);
    git(repo, "index-pack", "--strict", "in/x.pack");
    assert(readFileSync(join(repo, "in/x.idx")).length > 1000);
    feed(repo, bytes);
    git(repo, "update-ref", "refs/heads/main", git(dir, "rev-parse", "main"));
    git(repo, "fsck", "--strict", "--full");
  });
});
