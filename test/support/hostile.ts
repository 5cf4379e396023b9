/** A hostile owner's repository, attacks on those who read it, and what must come of each. */
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { existsSync } from "node:fs";
import { KnotlessError } from "../../core/errors.ts";
import { commitChanges } from "../../core/forge/commit.ts";
import { createRepository } from "../../core/forge/create.ts";
import { createTag } from "../../core/forge/refs.ts";
import type { Mirror } from "../../core/mirror/mirror.ts";
import { fsck, git } from "./git.ts";
import { type Machine, openMachine } from "./machine.ts";
import { type Network, openNetwork } from "./network.ts";
import {
  commit,
  handmade,
  type Json,
  openOwner,
  type Owner,
  packOf,
  sha256,
  tailEntry,
  tree,
  type Written,
} from "./owner.ts";

export const REFS = "dev.knotless.refs";
export const PACK = "dev.knotless.pack";
export const ONLINE = { offline: false, maxAge: 0 };

/** A blob that the repository holds. */
export const held = handmade("blob", "held by the repository\n");
/** A commit of one file that the repository does not hold, and a pack of it in which all is well. */
export const file = handmade("blob", "a file\n");
export const root = tree(["100644", "file", file.oid]);
export const change = commit(root.oid);
export const sound = packOf(change.entry, root.entry, file.entry);

/** What an attack does: the fields it puts in the manifest. */
export type Attack = () => Json | Promise<Json>;

/** The repository, and a reader who has a copy of it from when all was well. */
export interface Hostile extends AsyncDisposable {
  readonly owner: Owner;
  readonly reader: Machine;
  readonly mirror: Mirror;
  readonly rkey: string;
  readonly uri: string;
  /** The manifest that all is well with, and its commit. */
  readonly good: Json;
  readonly tip: string;
  /** Publishes an attack, sees it refused by a copy that is there and by a new one, and heals. */
  refused(attack: Attack, says: RegExp, how?: { unsound?: boolean }): Promise<void>;
  /** Puts fields into the manifest, one generation above all before. */
  publish(fields: Json): Promise<Written>;
  /** Publishes that all is well again. */
  heal(): Promise<Written>;
  /** The good refs with branches and tags put in. */
  refsWith(more: Record<string, string>): Json[];
  /** Puts a branch at an oid, which a pack in the tail is to bring; `fields` are put into its entry. */
  branch(oid: string, pack: Uint8Array, fields?: Json): Json;
  /** Makes a pack record and lists it; `fields` and `listed` are put into it and its entry. */
  record(pack: Uint8Array, fields?: Json, listed?: Json): Promise<Json>;
}

/** Describes what a mirror of a hostile owner's repository does: each test is given it, healed of those before. */
export function describeHostile(
  what: string,
  define: (it: (name: string, run: (hostile: Hostile) => Promise<void>) => void) => void,
): void {
  describe(`a mirror of a hostile owner's repository ${what}`, () => {
    let hostile: Hostile;
    beforeAll(async () => void (hostile = await openHostile()));
    afterAll(() => hostile[Symbol.asyncDispose]());
    define((name, run) => it(name, () => run(hostile)));
  });
}

async function openHostile(): Promise<Hostile> {
  const all = new AsyncDisposableStack();
  const network = all.use(await openNetwork());
  const author = all.use(await openMachine(network, { name: "hostile" }));
  const reader = all.use(await openMachine(network, { account: author.account, login: false }));
  const owner = await openOwner(network, author.account);
  const writing = await author.open("write");
  const { rkey, uri } = await createRepository(writing, { name: "app" });
  const named = { owner: author.account.did, name: "app" };
  const { commit: tip } = await commitChanges(writing, named, {
    message: "good",
    changes: [{ path: "held.txt", content: new TextDecoder().decode(held.bytes) }],
  });
  await createTag(writing, named, { name: "v1", message: "version one" });
  const { value: good } = await owner.get(REFS, rkey);
  const mirror = await mirrorOn(reader, rkey);
  await mirror.latest();
  let { generation } = good;
  const hostile: Hostile = {
    owner,
    reader,
    mirror,
    rkey,
    uri,
    good,
    tip,
    async refused(attack, says, { unsound = false } = {}) {
      const before = await snapshot(hostile);
      await hostile.publish(await attack());
      try {
        const error = await assertRejects(() => mirror.latest(), KnotlessError);
        assertMatch(error.message, says);
        assert([1, 7].includes(error.exit), `${error.exit}`);
        assertEquals(await snapshot(hostile), before);
        await refusedAnew(network, hostile, says);
      } finally {
        await hostile.heal();
      }
      const { refs } = await mirror.view(ONLINE);
      assertEquals([...refs.keys()], good.refs.map(({ name }: Json) => name));
      assertEquals(refs.get("refs/heads/main")?.oid, tip);
      // Only what was taken and never reached may lack something.
      if (!unsound) fsck(mirror.path);
    },
    async publish(fields) {
      generation++;
      return await owner.publish(rkey, { generation, ...fields });
    },
    async heal() {
      // Its other fields every write has anew.
      const { head, refs, tail, packs, retired, log } = good;
      return await hostile.publish({
        head,
        refs,
        tail,
        packs,
        retired,
        log,
        packedRefs: undefined,
      });
    },
    refsWith(more) {
      const refs = new Map<string, Json>(good.refs.map((ref: Json) => [ref.name, ref]));
      for (const [name, oid] of Object.entries(more)) refs.set(name, { name, oid });
      return [...refs.values()].sort((a, b) =>
        Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))
      );
    },
    branch: (oid, pack, fields) => ({
      refs: hostile.refsWith({ "refs/heads/evil": oid }),
      tail: [...good.tail, tailEntry(pack, fields)],
    }),
    async record(pack, fields = {}, listed = {}) {
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
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
  return hostile;
}

async function mirrorOn(machine: Machine, rkey: string): Promise<Mirror> {
  const { identity, mirrors } = await machine.open("read");
  return mirrors.at(await identity.resolve(machine.account.did), rkey);
}

/** What git and knotless keep of the refs, and all that is beside the mirror. */
async function snapshot({ mirror, reader }: Hostile) {
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

/** Sees the manifest refused by a machine that has no copy, which comes to have none. */
async function refusedAnew(network: Network, { reader, rkey }: Hostile, says: RegExp) {
  const cacheDir = await Deno.makeTempDir({ dir: reader.dir });
  await using fresh = await openMachine(network, {
    account: reader.account,
    login: false,
    env: { KNOTLESS_CACHE_DIR: cacheDir },
  });
  const cold = await mirrorOn(fresh, rkey);
  assertMatch((await assertRejects(() => cold.view(ONLINE), KnotlessError)).message, says);
  assertEquals(cold.state(), undefined);
  if (existsSync(cold.path)) assertEquals(git(cold.path, "for-each-ref"), "");
  await Deno.remove(cacheDir, { recursive: true });
}
