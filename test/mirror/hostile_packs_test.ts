import { assertEquals } from "@std/assert";
import { deflateSync } from "node:zlib";
import { concat } from "../../core/git/bytes.ts";
import { change, describeHostile, file, ONLINE, PACK, root, sound } from "../support/hostile.ts";
import {
  commit,
  handmade,
  type Json,
  packOf,
  reseal,
  tailEntry,
  tree,
  whole,
} from "../support/owner.ts";

describeHostile("takes no pack", (it) => {
  it("in which one byte of an object was flipped and every sum made right again", async ({ refused, branch }) => {
    // A stored block keeps its bytes as they are: what inflates is well formed, and another object.
    const stored = whole("blob", file.bytes, { data: deflateSync(file.bytes, { level: 0 }) });
    const pack = Uint8Array.from(packOf(change.entry, root.entry, stored));
    const at = Buffer.from(pack).indexOf("a file");
    pack[at] = (pack[at] ?? 0) ^ 1;
    const flipped = reseal(pack);
    await refused(
      () => branch(change.oid, flipped),
      /^an object in a pack .*|is damaged|checksum/,
    );
  });

  it("in which an object has other bytes than the one that refs lead to", async ({ refused, branch }) => {
    const other = handmade("blob", "b file\n");
    const pack = packOf(change.entry, root.entry, other.entry);
    await refused(() => branch(change.oid, pack), new RegExp(`${file.oid}.* is missing`));
  });

  it("whose trailer is wrong", async ({ refused, branch }) => {
    const pack = Uint8Array.from(sound);
    pack[pack.length - 1] = (pack.at(-1) ?? 0) ^ 1;
    await refused(() => branch(change.oid, pack), /a pack fails its checksum/);
  });

  it("whose SHA-256 is another than the manifest or its record says", async ({ refused, branch, record, refsWith }) => {
    const wrong = "0".repeat(64);
    const says = /has SHA-256 [0-9a-f]{64}, its record says 0{64}/;
    await refused(() => branch(change.oid, sound, { sha256: wrong }), says);
    await refused(async () => ({
      refs: refsWith({ "refs/heads/evil": change.oid }),
      packs: [await record(sound, { sha256: wrong })],
    }), says);
  });

  it("whose record or manifest tells other bytes or objects than it has", async ({ refused, record, refsWith }) => {
    const refs = refsWith({ "refs/heads/evil": change.oid });
    const more = sound.length + 1;
    for (
      const [fields, listed] of [
        [{ bytes: more }, {}],
        [{}, { bytes: more }],
        [{ objects: 4 }, {}],
        [{}, { objects: 4 }],
      ]
    ) {
      await refused(
        async () => ({ refs, packs: [await record(sound, fields, listed)] }),
        /does not hold the|has 3 objects|tells of/,
      );
    }
  });

  it("that says it has more objects, or has bytes after the last", async ({ refused, branch }) => {
    const many = Uint8Array.from(sound);
    new DataView(many.buffer).setUint32(8, 2 ** 32 - 1);
    await refused(() => branch(change.oid, reseal(many)), /says it has 4294967295 objects/);
    const more = reseal(concat([sound.subarray(0, -20), new Uint8Array(30)]));
    await refused(() => branch(change.oid, more), /bytes after its last object/);
    await refused(() => branch(change.oid, reseal(sound.subarray(0, -5))), /cut short|damaged/);
    await refused(() => branch(change.oid, new Uint8Array(11)), /cut short/);
    const old = Uint8Array.from(sound);
    new DataView(old.buffer).setUint32(4, 9);
    await refused(() => branch(change.oid, reseal(old)), /not a pack of version 2 or 3/);
  });

  it("whose pieces are swapped, cut, missing or too many", async ({ refused, record, refsWith, owner }) => {
    const noise = handmade("blob", crypto.getRandomValues(new Uint8Array(60_000)));
    const root = tree(["100644", "file", noise.oid]);
    const tip = commit(root.oid);
    const pack = packOf(tip.entry, root.entry, noise.entry);
    const pieces = [
      pack.subarray(0, 25_000),
      pack.subarray(25_000, 50_000),
      pack.subarray(50_000),
    ];
    const [one, two, three] = await Promise.all(pieces.map((piece) => owner.upload(piece)));
    const refs = refsWith({ "refs/heads/evil": tip.oid });
    const asks = async (blobs: unknown[], fields: Json = {}) => ({
      refs,
      packs: [await record(pack, { blobs, ...fields })],
    });
    await refused(() => asks([two, one, three]), /has SHA-256/);
    await refused(() => asks([one, two]), /does not hold the \d+ bytes/);
    await refused(() => asks([one, two, three, three]), /does not hold the \d+ bytes/);
    await refused(() => asks([]), /does not hold the \d+ bytes/);
    await refused(
      () => asks([one, two, three], { data: tailEntry(sound).bytes }),
      /does not hold/,
    );
    // It tells of pieces of other sizes, which the whole comes to all the same.
    await refused(
      () => asks([{ ...one, size: one?.size - 1 }, { ...two, size: two?.size + 1 }, three]),
      /longer than the \d+ bytes|has \d+ bytes, its record says|MimeType|size/i,
    );
  });

  it("of a record that is not there, or is no pack", async ({ refused, record, refsWith, owner, rkey }) => {
    const refs = refsWith({ "refs/heads/evil": change.oid });
    const gone = await record(sound, {
      needs: [crypto.randomUUID().replaceAll("-", "") + "00000000"],
    });
    await owner.delete(PACK, gone.rkey);
    await refused(() => ({ refs, packs: [gone] }), /the PDS lost pack at:.*dev\.knotless\.pack/);
    const { cid } = await owner.get("dev.knotless.repo", rkey);
    const listed = { rkey, cid, bytes: sound.length, objects: 3 };
    await refused(() => ({ refs, packs: [listed] }), /is not a dev\.knotless\.pack/);
    await refused(
      async () => ({ refs, packs: [await record(sound, { folds: "none" })] }),
      /is not a dev\.knotless\.pack: folds/,
    );
  });

  it("that claims to fold packs that are held, and does not", async ({ refused, record, refsWith, publish, mirror, good, heal }) => {
    const folds = good.tail.map(({ sha256 }: Json) => sha256);
    await refused(async () => ({
      refs: refsWith({ "refs/heads/evil": "2".repeat(40) }),
      packs: [await record(sound, { folds })],
      tail: [],
    }), /2{40}/);
    // What is in it counts all the same.
    const { cid } = await publish({
      refs: refsWith({ "refs/heads/evil": change.oid }),
      packs: [await record(packOf(change.entry, root.entry, file.entry), { folds })],
    });
    const view = await mirror.view(ONLINE);
    assertEquals([view.cid, view.refs.get("refs/heads/evil")?.oid], [cid, change.oid]);
    await heal();
    await mirror.view(ONLINE);
  });
});
