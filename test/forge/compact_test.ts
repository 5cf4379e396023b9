import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import type { WriteContext } from "../../core/context.ts";
import { commitChanges } from "../../core/forge/commit.ts";
import { compactRepository } from "../../core/forge/compact.ts";
import { createRepository } from "../../core/forge/create.ts";
import { fold } from "../../core/forge/fold.ts";
import { createBranch, deleteBranch } from "../../core/forge/refs.ts";
import { openWriting } from "../../core/forge/writing.ts";
import { sweep } from "../../core/forge/sweep.ts";
import { git } from "../support/git.ts";
import { type Network, openNetwork } from "../support/network.ts";
import { openMachine } from "../support/machine.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Text that does not compress: some kB to make a pack of. */
function noise(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes / 2)).toHex();
}

describe("compacting a repository", () => {
  let network: Network;
  beforeAll(async () => {
    network = await openNetwork();
  });
  afterAll(async () => {
    await network[Symbol.asyncDispose]();
  });

  async function start(name: string): Promise<{
    context: WriteContext;
    later: WriteContext;
    named: { owner: string; name: string };
    commit(path: string, content: string, branch?: string): Promise<string>;
    /** Clones by a machine that has seen nothing, and gives the objects its refs reach. */
    cloned(): Promise<string>;
    packRecords(): Promise<number>;
  }> {
    const account = await network.createAccount(name);
    const machine = await openMachine(network, { account });
    const context = await machine.open("write");
    const named = { owner: account.handle, name: "app" };
    await createRepository(context, { name: "app" });
    return {
      context,
      later: { ...context, now: () => new Date(Date.now() + 2 * DAY_MS) },
      named,
      async commit(path, content, branch) {
        const changes = [{ path, content }];
        return (await commitChanges(context, named, { branch, message: path, changes })).commit;
      },
      async cloned() {
        await using other = await openMachine(network, { account });
        const { repository } = await openWriting(await other.open("write"), named);
        assertEquals(git(repository.mirror.path, "fsck", "--strict", "--no-dangling"), "");
        return git(repository.mirror.path, "rev-list", "--objects", "--all");
      },
      async packRecords() {
        let count = 0;
        const all = context.records.list(context.account, "dev.knotless.pack");
        for await (const _ of all) count++;
        return count;
      },
    };
  }

  it("comes by itself with many packs, and loses nothing", async () => {
    const { context, commit, named, cloned } = await start("many");
    for (let i = 0; i < 40; i++) await commit(`f${i % 5}`, noise(40_000));
    const { manifest } = await openWriting(context, named);
    assert(manifest.record.packs.length < 30, `${manifest.record.packs.length} packs`);
    assert(manifest.record.retired.length > 10);
    assertEquals((await cloned()).split("\n").filter((line) => line.includes(" f")).length, 40);
  });

  it("makes one pack of all, which a clone takes alone", async () => {
    const { context, commit, named, cloned } = await start("one");
    for (let i = 0; i < 6; i++) await commit("a", noise(40_000));
    await commit("b", "small\n");
    const before = await cloned();
    const answer = await compactRepository(context, named);
    assertEquals(answer, { before: 7, removed: 6, claims: 0, refs: 0 });
    const { manifest: { record } } = await openWriting(context, named);
    assertEquals([record.packs.length, record.tail.length, record.retired.length], [1, 0, 6]);
    assertEquals(await cloned(), before);
    assertEquals(await compactRepository(context, named), {
      before: 1,
      removed: 0,
      claims: 0,
      refs: 0,
    });
  });

  it("drops what no ref reaches", async () => {
    const { context, commit, named, cloned } = await start("drop");
    await commit("a", "kept\n");
    await createBranch(context, named, { name: "side" });
    await commit("secret", noise(40_000), "side");
    await deleteBranch(context, named, "side");
    await compactRepository(context, named);
    const { manifest: { record } } = await openWriting(context, named);
    assertEquals(record.packs.map(({ objects }) => objects), [3]);
    assertEquals((await cloned()).includes("secret"), false);
    // What was dropped is written again when a commit needs it.
    await commit("b", "kept\n");
    await cloned();
  });

  it("deletes replaced packs and orphans after a day, in one commit with the manifest", async () => {
    const { context, later, commit, named, cloned, packRecords } = await start("sweep");
    for (let i = 0; i < 4; i++) await commit("a", noise(40_000));
    await context.writer.create("dev.knotless.pack", context.tid(), {
      repo: (await openWriting(context, named)).repository.uri,
      sha256: "0".repeat(64),
      bytes: 1,
      objects: 0,
      needs: [],
      folds: [],
      data: new Uint8Array(1),
    });
    const { repository } = await openWriting(context, named);
    await fold(context, repository, 0);
    assertEquals(await packRecords(), 6);
    assertEquals(await sweep(context, repository), { packs: 0, claims: 0, refs: 0 });
    assertEquals(await packRecords(), 6);
    assertEquals((await sweep(later, repository)).packs, 5);
    assertEquals(await packRecords(), 1);
    const { manifest } = await openWriting(context, named);
    assertEquals(manifest.record.retired, []);
    await cloned();
  });

  it("keeps what a push brings while a fold is under way, and lets the push stand", async () => {
    const { context, commit, named, cloned } = await start("meanwhile");
    for (let i = 0; i < 3; i++) await commit("a", `${noise(40_000)}\n`);
    const { repository } = await openWriting(context, named);
    let pushed = "";
    // The other writer comes between the fold's look and its write.
    const raced: WriteContext = {
      ...context,
      writer: {
        ...context.writer,
        async put(...args) {
          if (pushed === "") pushed = await commit("meanwhile", "here\n");
          return await context.writer.put(...args);
        },
      },
    };
    const folded = await fold(raced, repository, 0);
    assertEquals(folded.refs.get("refs/heads/main")?.oid, pushed);
    assertEquals(folded.record.packs.length, 1);
    assert((await cloned()).includes("meanwhile"));
  });

  it("gives way to another fold, and takes its pack back", async () => {
    const { context, commit, named, cloned, packRecords } = await start("twofolds");
    for (let i = 0; i < 3; i++) await commit("a", noise(40_000));
    const { repository } = await openWriting(context, named);
    let isFolded = false;
    const raced: WriteContext = {
      ...context,
      writer: {
        ...context.writer,
        async put(...args) {
          if (!isFolded) {
            isFolded = true;
            await fold(context, repository, 0);
          }
          return await context.writer.put(...args);
        },
      },
    };
    let refused = "";
    try {
      await fold(raced, repository, 0);
    } catch (error) {
      refused = String(error);
    }
    assert(refused.includes("folded by another"), refused);
    assertEquals(await packRecords(), 4);
    await cloned();
  });
});
