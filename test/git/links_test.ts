import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { CorruptError } from "../../core/errors.ts";
import { concat, utf8 } from "../../core/git/bytes.ts";
import { checkConnected } from "../../core/git/connected.ts";
import { hashObject } from "../../core/git/hash.ts";
import { type IndexedPack, indexPack } from "../../core/git/index_pack.ts";
import { layered } from "../../core/git/layered.ts";
import { Links } from "../../core/git/links.ts";
import type { ObjectKind, ObjectReader, Oid } from "../../core/git/object.ts";
import { type ObjectStore, openStore } from "../../core/git/store.ts";
import { type NewEntry, writePack } from "../../core/git/write_pack.ts";
import { buildOddRepo, commitFiles, git, gitBytes, initRepo, tempDir } from "../support/git.ts";

const LIMITS = { objectBytes: 1 << 26, totalBytes: 1 << 30, objects: 1_000_000, depth: 4095 };
const NOTHING = { have: () => false };

/** A pack that has been indexed, and what was learnt of its objects. */
interface Arrived {
  readonly pack: IndexedPack;
  readonly links: Links;
  readonly store: ObjectStore;
}

async function arrive(
  dir: string,
  bytes: Uint8Array,
  { store, links = new Links() }: { store?: ObjectReader; links?: Links } = {},
): Promise<Arrived> {
  const repo = join(dir, `in${readdirSync(dir).length}`);
  const outDir = join(repo, "objects/pack");
  mkdirSync(outDir, { recursive: true });
  const input = new Response(Uint8Array.from(bytes)).body ?? new ReadableStream();
  const pack = await indexPack(input, { store, outDir, limits: LIMITS, complete: true, links });
  return { pack, links, store: openStore(repo) };
}

/** Fails when an object is read: what was learnt must be enough. */
function unread(store: ObjectReader): ObjectReader {
  return {
    has: (oid) => store.has(oid),
    info: (oid) => store.info(oid),
    find: () => [],
    read(oid) {
      throw new Error(`${oid} was read`);
    },
  };
}

function object(kind: ObjectKind, bytes: Uint8Array): NewEntry {
  return { oid: hashObject(kind, bytes), kind, bytes };
}

function tree(mode: string, name: string, oid: Oid): NewEntry {
  return object("tree", concat([utf8(`${mode} ${name}\0`), Uint8Array.fromHex(oid)]));
}

function commit(root: Oid): NewEntry {
  const people = "author A <a@b.test> 1 +0000\ncommitter A <a@b.test> 1 +0000\n\nx\n";
  return object("commit", utf8(`tree ${root}\n${people}`));
}

describe("Links", () => {
  it("tell that a pack of all is whole, without an object read again", async () => {
    using temp = tempDir();
    const dir = initRepo(join(temp.path, "work"));
    commitFiles(dir, "one", { "a/b/c.txt": "text\n", "d.txt": "d\n" });
    const tip = commitFiles(dir, "two", { "a/b/c.txt": "more text\n", "e.txt": "e\n" });
    git(dir, "tag", "-a", "-m", "x", "v1");
    const tag = git(dir, "rev-parse", "v1");
    const all = gitBytes(dir, undefined, "pack-objects", "--all", "--revs", "--stdout", "-q");
    const { pack, links, store } = await arrive(temp.path, all);
    const reached = await checkConnected(unread(store), [tag, tip], { ...NOTHING, links });
    assertEquals([...reached].sort(), [...store.oids()]);
    assertEquals(reached.size, pack.objects);
    assert(reached.has(tip) && !reached.has("0".repeat(40)));
  });

  it("come to what a walk comes to, in a repository of everything git has", async () => {
    using temp = tempDir();
    const dir = join(buildOddRepo(join(temp.path, "odd")), ".git");
    const tips = git(dir, "for-each-ref", "--format=%(objectname)").split("\n");
    const all = gitBytes(dir, undefined, "pack-objects", "--all", "--revs", "--stdout", "-q");
    const { links, store } = await arrive(temp.path, all);
    const walked = await checkConnected(store, tips, NOTHING);
    const linked = await checkConnected(store, tips, { ...NOTHING, links });
    assertEquals([...linked].sort(), [...walked].sort());
  });

  it("of a thin pack lead to what must be had already, and its bases are none of its objects", async () => {
    using temp = tempDir();
    const dir = initRepo(join(temp.path, "work"));
    const lines = Array.from({ length: 2000 }, (_, i) => `line ${i * 7919}`);
    const base = commitFiles(dir, "one", { "a.txt": lines.join("\n"), "b.txt": "b\n" });
    lines[100] = "changed";
    const tip = commitFiles(dir, "two", { "a.txt": lines.join("\n") });
    const pack = (revs: string) =>
      gitBytes(dir, revs, "pack-objects", "--revs", "--thin", "--stdout", "-q");
    const first = await arrive(temp.path, pack(`${base}\n`));
    const second = await arrive(temp.path, pack(`${tip}\n^${base}\n`), { store: first.store });
    const both = layered(first.store, second.store);
    const { links } = second;
    const have = (oid: Oid) => first.store.has(oid);
    const reached = await checkConnected(unread(both), [tip], { have, links });
    const [need = ""] = second.pack.needs;
    assertEquals(need, git(dir, "rev-parse", `${base}:a.txt`));
    assert(second.store.has(need) && !reached.has(need));
    assertEquals(reached.size, second.pack.objects);
    const b = git(dir, "rev-parse", `${base}:b.txt`);
    const lacking = (oid: Oid) => oid !== b && first.store.has(oid);
    assert((await checkConnected(both, [tip], { have: lacking, links })) !== links);
    await assertRejects(
      () => checkConnected(second.store, [tip], { ...NOTHING, links }),
      CorruptError,
      "is missing",
    );
  });

  it("of several packs together are met", async () => {
    using temp = tempDir();
    const blob = object("blob", utf8("text\n"));
    const root = tree("100644", "a", blob.oid);
    const tip = commit(root.oid);
    const links = new Links();
    const one = await arrive(temp.path, writePack([tip, root]), { links });
    const missing = () => checkConnected(one.store, [tip.oid], { ...NOTHING, links });
    await assertRejects(missing, CorruptError, blob.oid);
    const two = await arrive(temp.path, writePack([blob]), { links });
    const both = layered(one.store, two.store);
    const reached = await checkConnected(unread(both), [tip.oid], { ...NOTHING, links });
    assertEquals(reached.size, 3);
    links.giveUp();
    assert((await checkConnected(both, [tip.oid], { ...NOTHING, links })) !== links);
  });

  it("let a lie about a kind, a dangerous .gitmodules and a tip from elsewhere be found", async () => {
    using temp = tempDir();
    const blob = object("blob", utf8("text\n"));
    const bad = object("blob", utf8('[submodule "../../x"]\n\tpath = a\n\turl = b\n'));
    const lie = tree("40000", "a", blob.oid);
    const twice = object(
      "tree",
      concat([
        utf8("100644 a\0"),
        Uint8Array.fromHex(blob.oid),
        utf8("40000 b\0"),
        Uint8Array.fromHex(blob.oid),
      ]),
    );
    const modules = tree("100644", ".gitmodules", bad.oid);
    for (
      const [root, says] of [[lie, " as a "], [twice, " as a "], [modules, "gitmodules"]] as const
    ) {
      const tip = commit(root.oid);
      const { links, store } = await arrive(temp.path, writePack([tip, root, blob, bad]));
      const check = (oid: Oid) => checkConnected(store, [oid], { ...NOTHING, links });
      await assertRejects(() => check(tip.oid), CorruptError, says);
      await assertRejects(() => check("1".repeat(40)), CorruptError, "is missing");
    }
  });

  it("that nothing reaches may lead nowhere", async () => {
    using temp = tempDir();
    const blob = object("blob", utf8("text\n"));
    const root = tree("100644", "a", blob.oid);
    const tip = commit(root.oid);
    const stray = tree("100644", "a", "2".repeat(40));
    const { links, store } = await arrive(temp.path, writePack([tip, root, blob, stray]));
    const reached = await checkConnected(store, [tip.oid], { ...NOTHING, links });
    assertEquals([...reached].sort(), [tip.oid, root.oid, blob.oid].sort());
  });
});

describe("indexPack", () => {
  it("tells how far it is, and ends when it is told to", async () => {
    using temp = tempDir();
    const blobs = Array.from({ length: 3000 }, (_, i) => object("blob", utf8(`${i}\n`)));
    const bytes = writePack(blobs);
    const told: string[] = [];
    const outDir = join(temp.path, "out");
    mkdirSync(outDir);
    const options = { outDir, limits: LIMITS, complete: true };
    const give = () => new Response(Uint8Array.from(bytes)).body ?? new ReadableStream();
    await indexPack(give(), {
      ...options,
      progress: (text, done, total) => told.push(`${text} ${done}/${total}`),
    });
    assertEquals(told[0], "indexing objects 512/3000");
    const before = readdirSync(outDir);
    const stop = new AbortController();
    await assertRejects(
      () => indexPack(give(), { ...options, signal: stop.signal, progress: () => stop.abort() }),
      DOMException,
    );
    assertEquals(readdirSync(outDir), before);
    await assertRejects(
      () => indexPack(give(), { ...options, sha256: "0".repeat(64) }),
      CorruptError,
      "SHA-256",
    );
    assertEquals(readdirSync(outDir), before);
  });
});
