import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WriteContext } from "../../core/context.ts";
import { commitChanges } from "../../core/forge/commit.ts";
import { createRepository } from "../../core/forge/create.ts";
import { fold } from "../../core/forge/fold.ts";
import { openWriting } from "../../core/forge/writing.ts";
import { deepestChains } from "../support/chains.ts";
import { git, sampleText } from "../support/git.ts";
import { type Machine, openMachine } from "../support/machine.ts";
import { type Network, openNetwork } from "../support/network.ts";

/** What data-model.md allows. */
const MOST = 50;

describe("deltas across packs", () => {
  let network: Network;
  beforeAll(async () => {
    network = await openNetwork();
  });
  afterAll(async () => {
    await network[Symbol.asyncDispose]();
  });

  /** A repository whose every commit makes the root tree and one file a delta on the last. */
  async function start(): Promise<{ machine: Machine; named: { owner: string; name: string } }> {
    const account = await network.createAccount("chains");
    const machine = await openMachine(network, { account });
    const context = await machine.open("write");
    const named = { owner: account.handle, name: "app" };
    await createRepository(context, { name: "app" });
    const files = Array.from({ length: 30 }, (_, i) => ({ path: `f${i}`, content: `${i}\n` }));
    const text = { path: "text", content: sampleText(8000) };
    // Too large for the tail: it lies in a pack of its own, which leans on nothing.
    const noise = crypto.getRandomValues(new Uint8Array(20_000));
    const large = { path: "noise", base64: noise.toBase64() };
    await commitChanges(context, named, { message: "start", changes: [...files, text, large] });
    return { machine, named };
  }

  async function edit(context: WriteContext, named: { owner: string; name: string }, i: number) {
    const base = i === 0 ? sampleText(8000).split("\n")[0] ?? "" : `edit ${i - 1}.`;
    const edits = [{ old: `${base}\n`, new: `edit ${i}.\n` }];
    await commitChanges(context, named, {
      message: `edit ${i}`,
      changes: [{ path: "text", edits }],
    });
  }

  async function deepest(context: WriteContext, named: { owner: string; name: string }) {
    const { manifest } = await openWriting(context, named);
    return await deepestChains(context, manifest);
  }

  it("lie at most 50 deep, however many commits come one by one", async () => {
    const { machine, named } = await start();
    await using _ = machine;
    const context = await machine.open("write");
    for (let i = 0; i < 112; i++) await edit(context, named, i);
    const chains = await deepest(context, named);
    assertEquals(Math.max(...chains), MOST);
    await using other = await openMachine(network, { account: machine.account });
    const { repository } = await openWriting(await other.open("write"), named);
    assertEquals(git(repository.mirror.path, "fsck", "--strict", "--no-dangling"), "");
    assertEquals(git(repository.mirror.path, "rev-list", "--count", "main"), "113");
  });

  it("lie so too when machines take turns, one of which has just come", async () => {
    const { machine, named } = await start();
    await using _ = machine;
    const first = await machine.open("write");
    for (let i = 0; i < 40; i++) await edit(first, named, i);
    await using other = await openMachine(network, { account: machine.account });
    const second = await other.open("write");
    for (let i = 40; i < 70; i++) await edit(i % 2 === 0 ? second : first, named, i);
    const chains = await deepest(first, named);
    assert(Math.max(...chains) <= MOST, `${chains}`);
    assert(Math.max(...chains) > MOST / 2, `${chains}`);
  });

  it("start anew on a fold, which is whole", async () => {
    const { machine, named } = await start();
    await using _ = machine;
    const context = await machine.open("write");
    for (let i = 0; i < 45; i++) await edit(context, named, i);
    await fold(context, (await openWriting(context, named)).repository, 0);
    for (let i = 45; i < 60; i++) await edit(context, named, i);
    const chains = await deepest(context, named);
    assertEquals(chains.slice(0, 2), [0, 1]);
    assertEquals(Math.max(...chains), 15);
  });

  it("start anew where this machine has lost what it knew of them", async () => {
    const { machine, named } = await start();
    await using _ = machine;
    const context = await machine.open("write");
    for (let i = 0; i < 30; i++) await edit(context, named, i);
    const { repository } = await openWriting(context, named);
    writeFileSync(join(repository.mirror.path, "chains"), "[[[");
    await edit(context, named, 30);
    assertEquals((await deepest(context, named)).at(-1), 0);
    rmSync(join(repository.mirror.path, "chains"));
    for (let i = 31; i < 60; i++) await edit(context, named, i);
    const chains = await deepest(context, named);
    // The whole pack is sealed with others, and then a delta lies on what it leans on.
    assertEquals(Math.max(...chains), 30);
  });
});
