import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { existsSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { CorruptError, KnotlessError, NotFoundError } from "../../core/errors.ts";
import { concat } from "../../core/git/bytes.ts";
import { commitChanges } from "../../core/forge/commit.ts";
import { createRepository } from "../../core/forge/create.ts";
import type { RepoName } from "../../core/forge/names.ts";
import { createTag } from "../../core/forge/refs.ts";
import { listRepositories } from "../../core/forge/repositories.ts";
import { findRepository } from "../../core/forge/repository.ts";
import type { Mirror } from "../../core/mirror/mirror.ts";
import { git, tryGit } from "../support/git.ts";
import { type Machine, openMachine } from "../support/machine.ts";
import { type Network, openNetwork } from "../support/network.ts";
import {
  commit,
  deltaOn,
  freshTid,
  handmade,
  insertDelta,
  type Json,
  openOwner,
  type Owner,
  packOf,
  reseal,
  sha256,
  tailEntry,
  tree,
  varint,
  whole,
} from "../support/owner.ts";

const REFS = "dev.knotless.refs";
const PACK = "dev.knotless.pack";
const ONLINE = { offline: false, maxAge: 0 };

/** What an attack does: the fields it puts in the manifest, made against the good one. */
type Attack = (good: Json) => Json | Promise<Json>;

describe("a mirror of a hostile owner's repository", () => {
  let network: Network;
  let author: Machine;
  let reader: Machine;
  let owner: Owner;
  let rkey: string;
  let uri: string;
  let mirror: Mirror;
  /** The manifest that all is well with. */
  let good: Json;
  let generation: number;
  let tip: string;
  /** A blob that the repository holds. */
  const held = handmade("blob", "held by the repository\n");

  beforeAll(async () => {
    network = await openNetwork();
    author = await openMachine(network, { name: "hostile" });
    reader = await openMachine(network, { account: author.account, login: false });
    owner = await openOwner(network, author.account);
    const writing = await author.open("write");
    const repository = await createRepository(writing, { name: "app" });
    ({ rkey, uri } = repository);
    const named = { owner: author.account.did, name: "app" };
    ({ commit: tip } = await commitChanges(writing, named, {
      message: "good",
      changes: [{ path: "held.txt", content: new TextDecoder().decode(held.bytes) }],
    }));
    await createTag(writing, named, { name: "v1", message: "version one" });
    good = (await owner.get(REFS, rkey)).value;
    generation = good.generation;
    mirror = (await reader.open("read")).mirrors.at(await resolve(reader), rkey);
    await mirror.latest();
  });

  afterAll(async () => {
    await reader[Symbol.asyncDispose]();
    await author[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
  });

  async function resolve(machine: Machine) {
    return await (await machine.open("read")).identity.resolve(author.account.did);
  }

  /** What git and knotless keep of the refs, and all that is beside the mirror. */
  async function snapshot() {
    const read = (name: string) => Deno.readTextFile(`${mirror.path}/${name}`);
    const { checkedAt: _, ...state } = JSON.parse(await read("knotless.json"));
    const beside: string[] = [];
    const list = async (dir: string) => {
      for await (const { name, isDirectory } of Deno.readDir(dir)) {
        const path = `${dir}/${name}`;
        if (path === mirror.path) continue;
        if (isDirectory) await list(path);
        else beside.push(path);
      }
    };
    await list(reader.dir);
    return {
      state,
      refs: await read("packed-refs"),
      head: await read("HEAD"),
      listed: git(mirror.path, "for-each-ref"),
      beside: beside.sort(),
    };
  }

  /** Publishes an attack, sees it refused by a copy that is there and by a new one, and heals. */
  async function refused(attack: Attack, says: RegExp, { unsound = false } = {}): Promise<void> {
    const before = await snapshot();
    await publish(await attack(good));
    try {
      const error = await assertRejects(() => mirror.latest(), KnotlessError);
      assertMatch(error.message, says);
      assert([1, 7].includes(error.exit), `${error.exit}`);
      assertEquals(await snapshot(), before);

      const cacheDir = await Deno.makeTempDir({ dir: reader.dir });
      const fresh = await openMachine(network, {
        account: author.account,
        login: false,
        env: { KNOTLESS_CACHE_DIR: cacheDir },
      });
      await using _ = fresh;
      const cold = (await fresh.open("read")).mirrors.at(await resolve(fresh), rkey);
      assertMatch((await assertRejects(() => cold.view(ONLINE), KnotlessError)).message, says);
      assertEquals(await cold.state(), undefined);
      if (existsSync(cold.path)) assertEquals(git(cold.path, "for-each-ref"), "");
      await Deno.remove(cacheDir, { recursive: true });
    } finally {
      await publish(rest(good));
    }
    const { refs } = await mirror.view(ONLINE);
    assertEquals([...refs.keys()], good.refs.map(({ name }: Json) => name));
    assertEquals(refs.get("refs/heads/main")?.oid, tip);
    // Only what was taken and never reached may lack something.
    if (unsound) return;
    const { status, out, err } = tryGit(mirror.path, undefined, "fsck", "--full", "--strict");
    assertEquals(status, 0, new TextDecoder().decode(out) + err);
  }

  /** Puts fields into the manifest, one generation above all before. */
  async function publish(fields: Json) {
    generation++;
    return await owner.publish(rkey, { generation, ...fields });
  }

  /** The good manifest's fields but those that every write has anew. */
  function rest({ head, refs, tail, packs, retired, log }: Json): Json {
    return { head, refs, tail, packs, retired, log, packedRefs: undefined };
  }

  /** The good refs with branches and tags put in. */
  function refsWith(more: Record<string, string>): Json[] {
    const refs = new Map(good.refs.map((ref: Json) => [ref.name, ref]));
    for (const [name, oid] of Object.entries(more)) refs.set(name, { name, oid });
    return [...refs.values()].sort((a, b) =>
      Buffer.compare(Buffer.from((a as Json).name), Buffer.from((b as Json).name))
    ) as Json[];
  }

  /** Puts a branch at an oid, which a pack in the tail is to bring. */
  function branch(oid: string, pack: Uint8Array, fields: Json = {}): Json {
    return {
      refs: refsWith({ "refs/heads/evil": oid }),
      tail: [...good.tail, tailEntry(pack, fields)],
    };
  }

  /** Makes a pack record and lists it; `fields` and `listed` are put into it and its entry. */
  async function record(pack: Uint8Array, fields: Json = {}, listed: Json = {}): Promise<Json> {
    const made = await owner.create(PACK, {
      repo: uri,
      sha256: sha256(pack),
      bytes: pack.length,
      objects: 3,
      needs: [],
      folds: [],
      ...("blobs" in fields ? {} : { data: tailEntry(pack).bytes }),
      ...fields,
    });
    const { bytes = pack.length, objects = 3 } = fields;
    return { rkey: made.rkey, cid: made.cid, bytes, objects, ...listed };
  }

  const file = handmade("blob", "a file\n");
  const root = tree(["100644", "file", file.oid]);
  const change = commit(root.oid);
  const sound = packOf(change.entry, root.entry, file.entry);

  describe("takes no pack", () => {
    it("in which one byte of an object was flipped and every sum made right again", async () => {
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

    it("in which an object has other bytes than the one that refs lead to", async () => {
      const other = handmade("blob", "b file\n");
      const pack = packOf(change.entry, root.entry, other.entry);
      await refused(() => branch(change.oid, pack), new RegExp(`${file.oid}.* is missing`));
    });

    it("whose trailer is wrong", async () => {
      const pack = Uint8Array.from(sound);
      pack[pack.length - 1] = (pack.at(-1) ?? 0) ^ 1;
      await refused(() => branch(change.oid, pack), /a pack fails its checksum/);
    });

    it("whose SHA-256 is another than the manifest or its record says", async () => {
      const wrong = "0".repeat(64);
      const says = /has SHA-256 [0-9a-f]{64}, its record says 0{64}/;
      await refused(() => branch(change.oid, sound, { sha256: wrong }), says);
      await refused(async () => ({
        refs: refsWith({ "refs/heads/evil": change.oid }),
        packs: [await record(sound, { sha256: wrong })],
      }), says);
    });

    it("whose record or manifest tells other bytes or objects than it has", async () => {
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

    it("whose deltas lean on what is nowhere, on each other or on more than is allowed", async () => {
      const nowhere = "1".repeat(40);
      const delta = insertDelta(10, file.bytes);
      await refused(
        () => branch(change.oid, packOf(change.entry, root.entry, deltaOn(nowhere, delta))),
        new RegExp(nowhere),
      );
      const [one, two] = [handmade("blob", "one"), handmade("blob", "two")];
      await refused(
        () =>
          branch(
            change.oid,
            packOf(
              change.entry,
              root.entry,
              deltaOn(two.oid, insertDelta(3, one.bytes)),
              deltaOn(one.oid, insertDelta(3, two.bytes)),
            ),
          ),
        /base|lean/,
      );
      // Each byte short: the chain of 4,200 deltas fits a record.
      const chain = [whole("blob", Uint8Array.of(0, 0))];
      for (let i = 1; i <= 4200; i++) {
        const before = chain.at(-1)?.length ?? 0;
        chain.push(deltaOn(before, insertDelta(2, Uint8Array.of(i >> 8, i))));
      }
      const blob = await owner.upload(packOf(...chain));
      await refused(
        async () => ({
          refs: refsWith({ "refs/heads/evil": change.oid }),
          packs: [
            await record(packOf(...chain), { objects: 4201, blobs: [blob] }),
          ],
        }),
        /chain of more than 4095 deltas/,
      );
    });

    it("that would inflate to more than it may", async () => {
      const huge = 10 * 2 ** 30;
      const zeros = deflateSync(new Uint8Array(1 << 20));
      for (const kind of ["blob", "tree", "commit"] as const) {
        await refused(
          () =>
            branch(change.oid, packOf(whole(kind, new Uint8Array(), { size: huge, data: zeros }))),
          /object of 10737418240 bytes is over the limit/,
        );
      }
      // It says one byte and inflates to a million, or says much and has little.
      await refused(
        () => branch(change.oid, packOf(whole("blob", Uint8Array.of(0), { data: zeros }))),
        /inflate|longer|size|damaged/,
      );
      await refused(
        () =>
          branch(
            change.oid,
            packOf(whole("blob", Uint8Array.of(0), { size: 2 ** 30, data: zeros })),
          ),
        /inflates to 1048576 bytes, not the 1073741824/,
      );
      const delta = Uint8Array.from([
        ...varint(held.bytes.length),
        ...varint(huge),
        0x80 | 0x10,
        1,
      ]);
      await refused(
        () => branch(change.oid, packOf(deltaOn(held.oid, delta))),
        /object of 10737418240 bytes is over the limit/,
      );
    });

    it("that is small and would take all memory or hours", async () => {
      const base = handmade("blob", new Uint8Array(1 << 23));
      const copies = (times: number, ...more: number[]) =>
        Uint8Array.from([
          ...varint(1 << 23),
          ...varint(times * 0x7fffff + more.length / 2),
          ...Array.from({ length: times }, () => [0xf0, 0xff, 0xff, 0x7f]).flat(),
          ...more,
        ]);
      await refused(
        () => branch(change.oid, packOf(base.entry, deltaOn(base.oid, copies(80)))),
        /object of 671088560 bytes is over the limit of 536870912/,
      );
      const many = Array.from({ length: 6 }, (_, i) => deltaOn(base.oid, copies(60, 1, i)));
      await refused(
        () => branch(change.oid, packOf(base.entry, ...many)),
        /inflates to over 2147483648 bytes/,
      );
      for (const kind of ["commit", "tree", "tag"] as const) {
        const entry = whole(kind, new Uint8Array(), { size: 2 ** 28 });
        await refused(() => branch(change.oid, packOf(entry)), /is over the limit of 134217728/);
      }
    });

    it("that says it has more objects, or has bytes after the last", async () => {
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

    it("whose pieces are swapped, cut, missing or too many", async () => {
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

    it("of a record that is not there, or is no pack", async () => {
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

    it("that claims to fold packs that are held, and does not", async () => {
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
      await publish(rest(good));
      await mirror.view(ONLINE);
    });
  });

  describe("takes no objects", () => {
    const at = (oid: string, ...objects: { entry: Uint8Array }[]) =>
      branch(oid, packOf(...objects.map(({ entry }) => entry)));
    const salt = () => handmade("blob", crypto.randomUUID());

    it("for a branch that no pack holds or that is no commit", async () => {
      const nowhere = "3".repeat(40);
      await refused(
        () => ({ refs: refsWith({ "refs/heads/evil": nowhere }) }),
        new RegExp(nowhere),
      );
      const blob = salt();
      const root = tree(["100644", "x", blob.oid]);
      await refused(() => at(blob.oid, blob), new RegExp(`refs/heads/evil.*${blob.oid}, a blob`));
      await refused(() => at(root.oid, root, blob), new RegExp(`${root.oid}, a tree`));
      await refused(
        () => ({ refs: refsWith({ "refs/heads/evil": held.oid }) }),
        new RegExp(`${held.oid}, a blob`),
      );
    });

    it("that lead to what is missing or of another kind", async () => {
      const blob = salt();
      const root = tree(["100644", "x", blob.oid]);
      const missing = "4".repeat(40);
      const ways = [
        [commit(missing)],
        [commit(root.oid, missing), root, blob],
        [commit(root.oid), root],
        [commit(blob.oid), blob],
        [commit(root.oid, root.oid), root, blob],
        [commit(tree(["40000", "x", blob.oid]).oid), tree(["40000", "x", blob.oid]), blob],
        [commit(tree(["100644", "x", root.oid]).oid), tree(["100644", "x", root.oid]), root, blob],
      ];
      for (const objects of ways) {
        await refused(() => at(objects[0]?.oid ?? "", ...objects), /is missing|leads to .* as a/);
      }
      const tag = handmade(
        "tag",
        `object ${missing}\ntype commit\ntag evil\ntagger E <e@e> 1 +0000\n\nx\n`,
      );
      await refused(() => ({
        refs: refsWith({ "refs/tags/evil": tag.oid }),
        tail: [...good.tail, tailEntry(packOf(tag.entry))],
      }), new RegExp(`${missing}.* is missing`));
    });

    it("that git would not, or that would write outside a working tree", async () => {
      const blob = salt();
      const entries: [string, string, string][][] = [
        [["100644", "..", blob.oid]],
        [["100644", ".", blob.oid]],
        [["100644", ".git", blob.oid]],
        [["100644", ".GIT", blob.oid]],
        [["100644", "git~1", blob.oid]],
        [["100644", ".g\u200cit", blob.oid]],
        [["100644", "/etc/passwd", blob.oid]],
        [["100644", "a/b", blob.oid]],
        [["100644", "", blob.oid]],
        [["100644", "a", blob.oid], ["100644", "a", blob.oid]],
        [["100644", "b", blob.oid], ["100644", "a", blob.oid]],
        [["120000", ".gitmodules", blob.oid]],
        [["100644", "a", "0".repeat(40)]],
        [["banana", "a", blob.oid]],
      ];
      for (const list of entries) {
        const root = tree(...list);
        await refused(
          () => at(commit(root.oid).oid, commit(root.oid), root, blob),
          new RegExp(`the tree ${root.oid} `),
        );
      }
      for (
        const text of [
          "tree 1234\n\nx\n",
          `tree ${root.oid}\0\nauthor E <e@e> 1 +0000\n\nx\n`,
          `parent ${root.oid}\n\nx\n`,
          "no header at all",
        ]
      ) {
        const bad = handmade("commit", text);
        await refused(() => at(bad.oid, bad, root, file), new RegExp(`the commit ${bad.oid} `));
      }
    });
  });

  describe("takes no refs", () => {
    it("whose names could lead elsewhere or that do not hold together", async () => {
      for (
        const name of [
          "../x",
          "refs/heads/../../config",
          "refs/heads/..",
          "refs/heads/.lock",
          "refs/heads/x.lock",
          "refs/heads/a\nb",
          `refs/heads/a\n${tip} refs/heads/b`,
          "refs/heads/a b",
          "refs/heads/",
          "/etc/passwd",
          "HEAD",
          "config",
          "refs/heads/\u0000",
          "refs/heads/a\\b",
        ]
      ) {
        await refused(() => ({ refs: refsWith({ [name]: tip }) }), /does not hold together: /);
        await refused(() => ({ head: name }), /does not hold together: /);
      }
      await refused(() => ({ head: "refs/tags/v1" }), /HEAD is refs\/tags\/v1, no branch/);
      await refused(() => ({ refs: [...good.refs].reverse() }), /out of order/);
      await refused(() => ({ refs: [good.refs[0], ...good.refs] }), /out of order/);
      await refused(
        () => ({ refs: refsWith({ "refs/heads/main/below": tip }) }),
        /does not hold together: .*refs\/heads\/main/,
      );
    });

    it("at what is no oid, or that tell of a tag what it does not peel to", async () => {
      for (const oid of ["x".repeat(40), `${tip.slice(0, 38)}\n^`, tip.toUpperCase()]) {
        await refused(
          () => ({ refs: refsWith({ "refs/heads/evil": oid }) }),
          /does not hold together|which no pack holds/,
        );
      }
      const [main, v1] = good.refs;
      for (const peeled of [undefined, "0".repeat(40), `\n${"0".repeat(39)}`, held.oid, v1.oid]) {
        await refused(() => ({ refs: [main, { ...v1, peeled }] }), /peels|no object id/);
        if (peeled) {
          await refused(() => ({ refs: [{ ...main, peeled }, v1] }), /peels|no object id/);
        }
      }
    });

    it("of a record that breaks its lexicon", async () => {
      const broken: Json[] = [
        { refs: undefined },
        { refs: "none" },
        { generation: -1 },
        { generation: "2" },
        { tail: [{}] },
        { packs: [{ rkey, cid: "none", bytes: 1, objects: 1 }] },
        { head: 1 },
        { id: "x" },
        { refs: Array.from({ length: 2001 }, (_, i) => ({ name: `refs/heads/${i + 10000}` })) },
        { tail: [...good.tail, tailEntry(new Uint8Array(16_385))] },
      ];
      for (const fields of broken) {
        await refused(() => fields, /is not a dev\.knotless\.refs: |does not hold together/);
      }
      await refused(
        () => ({ tail: [1, 2].map(() => tailEntry(new Uint8Array(9000))) }),
        /its tail is over 16 kB/,
      );
    });

    it("of a packedRefs blob with garbage, or that is not there", async () => {
      const packed = async (text: string) => ({
        packedRefs: await owner.upload(new TextEncoder().encode(text)),
      });
      for (
        const text of [
          "garbage\n",
          `${tip} refs/heads/..\n`,
          `${tip} refs/heads/a\u0000b\n`,
          `${tip.slice(1)} refs/heads/a\n`,
          `^${tip}\n`,
          `${tip}\n`,
          "\u0000\u0001\u0002",
          `${tip} refs/heads/a\r\n`,
        ]
      ) {
        await refused(() => packed(text), /does not hold together: /);
      }
      await refused(
        () => packed(`${"5".repeat(40)} refs/heads/a\n`),
        /refs\/heads\/a of at:.*which no pack holds/,
      );
      await refused(
        () => packed(`${good.refs[1].oid} refs/tags/v0\n^${held.oid}\n`),
        /peel/,
      );
    });
  });

  it("takes 5,000 refs, and writes them as git does", async () => {
    const names = Array.from({ length: 5000 }, (_, i) => `refs/heads/many/${i}`).sort();
    const text = names.map((name) => `${tip} ${name}\n`).join("");
    await publish({
      packedRefs: await owner.upload(new TextEncoder().encode(text)),
    });
    assertEquals((await mirror.view(ONLINE)).refs.size, 5002);
    assertEquals(git(mirror.path, "for-each-ref", "refs/heads/many").split("\n").length, 5000);
    await publish(rest(good));
    assertEquals((await mirror.view(ONLINE)).refs.size, 2);
  });

  it("writes a rkey and a DID of a stranger's choosing nowhere else", async () => {
    const { mirrors } = await reader.open("read");
    const account = await resolve(reader);
    await owner.put(REFS, "..x", { ...good, id: freshTid() });
    const odd = mirrors.at(account, "..x");
    assertEquals((await odd.view(ONLINE)).refs.size, 2);
    assert(odd.path.startsWith(`${reader.env.KNOTLESS_CACHE_DIR}/did_`), odd.path);
    await owner.delete(REFS, "..x");
    await odd.remove();
  });

  it("is no repository under a rkey or a name that could be another file's or steer a terminal", async () => {
    const record = { name: "odd", createdAt: new Date().toISOString() };
    const find = async (named: RepoName) => await findRepository(await reader.open("read"), named);
    for (const rkey of ["names.json", "3k", `${freshTid()}.lock`, "x".repeat(300)]) {
      const made = await owner.put("dev.knotless.repo", rkey, record);
      await owner.put(REFS, rkey, { ...good, id: freshTid() });
      await owner.put("dev.knotless.name", "odd", { repo: made.uri, createdAt: record.createdAt });
      for (const which of [{ name: "odd" }, { rkey }]) {
        const named = { owner: author.account.did, ...which };
        await assertRejects(() => find(named as RepoName), NotFoundError);
      }
      for (const collection of ["dev.knotless.repo", REFS]) await owner.delete(collection, rkey);
    }
    const odd = freshTid();
    for (const name of ["\u001b[31mred", "a/b", "..", "a\nb", ".git"]) {
      const made = await owner.put("dev.knotless.repo", odd, { ...record, name });
      await owner.put("dev.knotless.name", "odd", { repo: made.uri, createdAt: record.createdAt });
      const named = { owner: author.account.did, name: "odd" };
      const error = await assertRejects(() => find(named), CorruptError);
      // deno-lint-ignore no-control-regex
      assertEquals(/[\x00-\x1f]/.test(error.message), false);
    }
    const { repos } = await listRepositories(await reader.open("read"), author.account.did);
    assertEquals(repos.map(({ uri }) => uri), [uri]);
    await owner.delete("dev.knotless.repo", odd);
  });

  it("counts what came unreached for nothing when a ref comes to lead there", async () => {
    const blob = handmade("blob", crypto.randomUUID());
    const root = tree(["100644", "x", blob.oid]);
    const tip = commit(root.oid);
    // The tree's blob is not there, which nobody asks as long as no ref leads to it.
    const pack = packOf(tip.entry, root.entry);
    await publish({ tail: [...good.tail, tailEntry(pack)] });
    await mirror.view(ONLINE);
    await refused(
      () => ({
        refs: refsWith({ "refs/heads/evil": tip.oid }),
        tail: [...good.tail, tailEntry(pack)],
      }),
      new RegExp(`${blob.oid}.* is missing`),
      { unsound: true },
    );
  });
});
