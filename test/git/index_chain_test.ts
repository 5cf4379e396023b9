import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CorruptError } from "../../core/errors.ts";
import { checkConnected } from "../../core/git/connected.ts";
import { indexChain } from "../../core/git/index_chain.ts";
import { indexPack } from "../../core/git/index_pack.ts";
import { Links } from "../../core/git/links.ts";
import { OID_BYTES } from "../../core/git/oid.ts";
import type { Chain } from "../../core/git/pack_resolve.ts";
import { scanPack } from "../../core/git/pack_scan.ts";
import { readTable } from "../../core/git/pack_set.ts";
import { type ObjectStore, openStore } from "../../core/git/store.ts";
import {
  commitFiles,
  git,
  gitBytes,
  initRepo,
  listObjects,
  sampleText,
  tempDir,
} from "../support/git.ts";
import { deltaOn, handmade, insertDelta, packOf, reseal } from "../support/owner.ts";

const LIMITS = { objectBytes: 1 << 26, totalBytes: 1 << 30, objects: 1_000_000, depth: 4095 };

/** Indexes packs into the bare repository at `repo`, with all that is there and in them as the store. */
async function take(repo: string, packs: readonly Uint8Array[], links = new Links()) {
  using store = closing(openStore(repo));
  const outDir = join(repo, "objects/pack");
  return await indexChain(packs, { store, outDir, limits: LIMITS, links });
}

function closing(store: ObjectStore): ObjectStore & Disposable {
  return Object.assign(store, { [Symbol.dispose]: () => store.close() });
}

/** The thin packs of so many pushes, each a commit, and the repository that they are of. */
function pushesOf(dir: string, count: number): { work: string; packs: Uint8Array[]; tip: string } {
  const work = initRepo(join(dir, "work"));
  const lines = sampleText(8_000).split("\n");
  const packs: Uint8Array[] = [];
  let before = "";
  for (let number = 0; number < count; number++) {
    lines[number % lines.length] = `changed ${number}`;
    const tip = commitFiles(work, `${number}`, { "a/b.txt": lines.join("\n"), c: `${number}` });
    const revs = `${tip}\n${before && `^${before}\n`}`;
    const flags = ["--revs", "--thin", "--stdout", "-q", "--delta-base-offset"];
    packs.push(gitBytes(work, utf8(revs), "pack-objects", ...flags));
    before = tip;
  }
  return { work, packs, tip: before };
}

const utf8 = (text: string) => new TextEncoder().encode(text);

function bare(dir: string): string {
  return initRepo(join(dir, `bare${readdirSync(dir).length}`), { bare: true });
}

async function* inOne(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

function sorted(chains: Iterable<Chain>): Chain[] {
  return [...chains].sort((a, b) => a.oid < b.oid ? -1 : 1);
}

const one = handmade("blob", "one, which others are made on\n");
const two = handmade("blob", "two, made on one\n");
const three = handmade("blob", "three\n");
const held = handmade("blob", "held before\n");

describe("indexChain", () => {
  it("makes one pack of the packs of many pushes, which git and a walk find whole", async () => {
    using temp = tempDir();
    const { work, packs, tip } = pushesOf(temp.path, 40);
    const repo = bare(temp.path);
    const links = new Links();
    const { name, packs: placed } = await take(repo, packs, links);
    git(repo, "update-ref", "refs/heads/main", tip);
    git(repo, "fsck", "--full", "--strict");
    git(repo, "verify-pack", `objects/pack/${name}.idx`);
    assertEquals(listObjects(repo), listObjects(work));
    using store = closing(openStore(repo));
    const reached = await checkConnected(store, [tip], { have: () => false, links });
    assertEquals(reached, links);
    // What is told of each pack is what indexing it by itself tells.
    const alone = bare(temp.path);
    using before = closing(openStore(alone));
    for (const [at, { list, chains }] of placed.entries()) {
      const pack = packs[at] ?? new Uint8Array();
      const path = join(temp.path, `list${at}`);
      writeFileSync(`${path}.idx`, list);
      assertEquals(readTable(path).names.length / OID_BYTES, scanPack(pack, 1e8).length);
      const outDir = join(alone, "objects/pack");
      const options = { store: before, outDir, limits: LIMITS, complete: true };
      const indexed = await indexPack(inOne(pack), options);
      assertEquals(sorted(chains()), sorted(indexed.chains()), `${at}`);
      before.refresh();
    }
  });

  it("has an object once that several packs have, whole where one has it whole", async () => {
    using temp = tempDir();
    const onOne = insertDelta(one.bytes.length, two.bytes);
    const onTwo = insertDelta(two.bytes.length, three.bytes);
    const first = packOf(one.entry, deltaOn(one.entry.length, onOne));
    // One and two again: two whole, and three on it by distance; one on two.
    const again = packOf(
      two.entry,
      deltaOn(two.entry.length, onTwo),
      deltaOn(two.oid, insertDelta(two.bytes.length, one.bytes)),
    );
    const repo = bare(temp.path);
    const { name, packs } = await take(repo, [first, again]);
    const said = git(repo, "verify-pack", "-v", `objects/pack/${name}.idx`);
    assertEquals(said.match(/^[0-9a-f]{40} /gm)?.length, 3);
    assertEquals(listObjects(repo).length, 3);
    git(repo, "fsck", "--full", "--strict", "--no-dangling");
    const [, chains = []] = packs.map(({ chains }) => sorted(chains()));
    assertEquals(
      chains,
      [
        { oid: one.oid, depth: 1, outer: undefined },
        { oid: three.oid, depth: 1, outer: undefined },
      ].sort((a, b) => a.oid < b.oid ? -1 : 1),
    );
  });

  it("is not for packs that make long chains of deltas", async () => {
    using temp = tempDir();
    const steps = Array.from(
      { length: 252 },
      (_, at) => handmade("blob", `${"x".repeat(40)}${at}`),
    );
    const packs = steps.map(({ bytes, entry }, at) => {
      const base = steps[at - 1];
      return packOf(base ? deltaOn(base.oid, insertDelta(base.bytes.length, bytes)) : entry);
    });
    const repo = bare(temp.path);
    await assertRejects(() => take(repo, packs), CorruptError, "a chain of 251 deltas");
    assertEquals(readdirSync(join(repo, "objects/pack")), []);
    await take(repo, packs.slice(0, 251));
    git(repo, "fsck", "--full", "--strict", "--no-dangling");
  });

  it("takes a base that is held, a later pack's too, and an empty pack", async () => {
    using temp = tempDir();
    const repo = bare(temp.path);
    const base = handmade("blob", "a base that was there before\n");
    await take(repo, [packOf(base.entry)]);
    const made = handmade("blob", "made on what was there\n");
    const late = handmade("blob", "late\n");
    const thin = packOf(deltaOn(base.oid, insertDelta(base.bytes.length, made.bytes)));
    const { packs } = await take(repo, [thin, packOf(), packOf(late.entry, base.entry)]);
    assertEquals(packs.length, 3);
    git(repo, "fsck", "--full", "--strict", "--no-dangling");
    const there = new Set(listObjects(repo).map(({ oid }) => oid));
    assert([base, made, late].every(({ oid }) => there.has(oid)));
  });

  const onOne = insertDelta(one.bytes.length, two.bytes);

  /** Says that it has other than its entries. */
  function saying(count: number, pack: Uint8Array): Uint8Array {
    const other = Uint8Array.from(pack);
    new DataView(other.buffer).setUint32(8, count);
    return reseal(other);
  }

  for (
    const [what, packs] of [
      ["a pack that leans on a later one", [packOf(deltaOn(one.oid, onOne)), packOf(one.entry)]],
      ["a delta that reaches by distance into the pack before", [
        packOf(one.entry),
        packOf(deltaOn(one.entry.length, onOne)),
      ]],
      ["a pack that ends in the next one's bytes", [
        saying(1, packOf(one.entry, two.entry)),
        saying(2, packOf(three.entry)),
      ]],
      ["a pack that has fewer entries than it says", [
        saying(2, packOf(one.entry)),
        saying(1, packOf(two.entry, three.entry)),
      ]],
      ["deltas that only a base outside keeps from leaning on each other", [
        packOf(deltaOn(held.oid, insertDelta(held.bytes.length, two.bytes))),
        packOf(deltaOn(two.oid, insertDelta(two.bytes.length, held.bytes))),
      ]],
      ["a pack whose checksum is wrong", [
        packOf(one.entry),
        packOf(two.entry).with(-1, 0).with(-2, 0),
      ]],
      ["a pack without its end", [packOf(one.entry), packOf(two.entry).subarray(0, 20)]],
      ["a base that is nowhere", [packOf(three.entry), packOf(deltaOn(one.oid, onOne))]],
    ] as const
  ) {
    it(`refuses ${what}, and leaves nothing of it`, async () => {
      using temp = tempDir();
      const repo = bare(temp.path);
      await take(repo, [packOf(held.entry)]);
      const before = readdirSync(join(repo, "objects/pack"));
      await assertRejects(() => take(repo, packs), CorruptError);
      assertEquals(readdirSync(join(repo, "objects/pack")), before);
    });
  }
});
