import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Account } from "../../core/atproto/identity.ts";
import { listKeys } from "../../core/atproto/mst.ts";
import { CorruptError } from "../../core/errors.ts";
import { type Network, openNetwork } from "../support/network.ts";
import { openProxy, type Proxy } from "../support/proxy.ts";
import { type Call, openWorld, signIn, type World } from "./world.ts";

const COLLECTIONS = ["dev.knotless.log", "dev.knotless.pack", "dev.knotless.packet"];

describe("the keys of an account's records", () => {
  let network: Network;
  let world: World;
  let proxy: Proxy;
  let call: Call;
  let account: Account;

  beforeAll(async () => {
    network = await openNetwork();
    world = await openWorld(network.env);
    proxy = await openProxy(network.pds);
    const { handle, did, password } = await network.createAccount("keys");
    call = await signIn(network.pds, { did, password });
    account = { ...await world.identity.resolve(handle), pds: proxy.url };
  });
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await world?.[Symbol.asyncDispose]();
    await network?.[Symbol.asyncDispose]();
  });

  async function write(collection: string, count: number): Promise<void> {
    const writes = Array.from({ length: count }, (_, i) => ({
      $type: "com.atproto.repo.applyWrites#create",
      collection,
      rkey: `r${Math.imul(i + 1, 0x9e3779b1) >>> 0}`,
      value: { $type: collection, text: "x".repeat(2000), i },
    }));
    const { status } = await call("com.atproto.repo.applyWrites", { repo: account.did, writes });
    assertEquals(status, 200);
  }

  /** The keys that are listed with their records. */
  async function listed(collection: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { uri, cid } of world.records.list(account, collection)) {
      keys.push(`${uri.split("/").slice(3).join("/")} ${cid}`);
    }
    return keys.sort();
  }

  async function keys(...collections: string[]): Promise<string[] | undefined> {
    const commit = await world.records.latestCommit(account);
    const found = await listKeys(world.records, account, commit, collections);
    return found?.map(({ collection, rkey, cid }) => `${collection}/${rkey} ${cid}`).sort();
  }

  it("are none in an empty account", async () => {
    assertEquals(await keys(...COLLECTIONS), []);
  });

  it("are those of its records, for a part of the bytes, whatever else it has", async () => {
    for (const collection of ["app.test.other", ...COLLECTIONS, "zz.test.other"]) {
      await write(collection, 150);
    }
    for (const collection of COLLECTIONS) {
      assertEquals(await keys(collection), await listed(collection));
    }
    const both = [...await listed("dev.knotless.log"), ...await listed("dev.knotless.pack")];
    proxy.forget();
    assertEquals(await keys("dev.knotless.pack", "dev.knotless.log"), both.sort());
    const bytes = proxy.seen.reduce((sum, { answered }) => sum + answered, 0);
    assert(bytes < 300 * 200, `${bytes} bytes`);
    assertEquals(await keys("dev.knotless.none"), []);
  });

  it("are not told where a part of the tree is gone, and a part that is no node is an error", async () => {
    const commit = await world.records.latestCommit(account);
    const { getBlocks } = world.records;
    let asked = 0;
    const without = async (who: Account, cids: readonly string[]) =>
      ++asked === 3 ? new Map() : await getBlocks(who, cids);
    const listing = listKeys({ getBlocks: without }, account, commit, COLLECTIONS);
    assertEquals(await listing, undefined);
    for (const node of [7, {}, { e: [1] }, { e: [{ p: 1, k: new Uint8Array(1), v: null }] }]) {
      const odd = async (who: Account, cids: readonly string[]) => {
        const blocks = await getBlocks(who, cids);
        return cids[0] === commit ? blocks : new Map(cids.map((cid) => [cid, node]));
      };
      await assertRejects(
        () => listKeys({ getBlocks: odd }, account, commit, COLLECTIONS),
        CorruptError,
      );
    }
  });
});
