import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { commitChanges } from "../../core/forge/commit.ts";
import { compactRepository } from "../../core/forge/compact.ts";
import { createRepository } from "../../core/forge/create.ts";
import { readTable } from "../../core/git/pack_set.ts";
import { openStore } from "../../core/git/store.ts";
import { consolidate, listPath } from "../../core/mirror/consolidate.ts";
import { readState, type State, trimState } from "../../core/mirror/state.ts";
import { commitFiles, fsck, git, gitBytes, initRepo, tempDir } from "../support/git.ts";
import { openMachine } from "../support/machine.ts";
import { openNetwork } from "../support/network.ts";

const ONLINE = { offline: false, maxAge: 0 };
const quiet = { signal: new AbortController().signal, progress: () => {} };

/** A mirror of so many packs, each known by a SHA-256; the first is larger than all others together. */
function buildMirror(dir: string, count: number): { path: string; state: State } {
  const path = initRepo(join(dir, "mirror.git"), { bare: true });
  const work = initRepo(join(dir, "work"));
  const text = Array.from({ length: 20_000 }, (_, i) => Math.imul(i, 0x9e3779b1)).join("\n");
  const packs = new Map<string, string>();
  let tip = "";
  for (let number = 0; number < count; number++) {
    const before = tip === "" ? "" : `^${tip}\n`;
    tip = commitFiles(work, `${number}`, { a: number === 0 ? text : `${number}\n`, b: "b\n" });
    const name = join(path, "objects/pack/pack");
    const said = gitBytes(work, `${tip}\n${before}`, "pack-objects", "--revs", "-q", name);
    packs.set(shaOf(number), `pack-${new TextDecoder().decode(said).trim()}`);
  }
  git(path, "update-ref", "refs/heads/main", tip);
  const state = {
    uri: "at://did:plc:a/dev.knotless.repo/b",
    generation: 1,
    cid: "c",
    head: "refs/heads/main",
    refs: new Map([["refs/heads/main", { oid: tip }]]),
    packs,
    records: new Map(),
    checkedAt: 0,
  };
  return { path, state };
}

/** Stands for the SHA-256 of a pack. */
function shaOf(number: number): string {
  return String(number).padStart(64, "0");
}

function packsIn(path: string): string[] {
  return readdirSync(join(path, "objects/pack")).filter((name) => name.endsWith(".idx"));
}

function objectsIn(path: string): string {
  return git(path, "cat-file", "--batch-all-objects", "--batch-check");
}

describe("consolidate", () => {
  it("joins small packs while others read, and no object goes", async () => {
    using temp = tempDir();
    const { path, state } = buildMirror(temp.path, 60);
    const before = objectsIn(path);
    const oids = before.split("\n").map((line) => line.slice(0, 40));
    const large = state.packs.get(shaOf(0)) ?? "";
    const lists = await Promise.all(
      [...state.packs].map(([, name]) => readTable(join(path, "objects/pack", name)).names),
    );
    let done = false;
    const open = openStore(path);
    const readFresh = async () => {
      let rounds = 0;
      while (!done) {
        const fresh = openStore(path);
        for (const oid of oids) assert(fresh.has(oid) && fresh.read(oid) !== undefined, oid);
        fresh.close();
        rounds++;
        await setImmediate();
      }
      return rounds;
    };
    const reading = readFresh();
    const store = openStore(path);
    let number = 0;
    const unique = () => `u${number++}`;
    const next = await consolidate(path, state, { ...quiet, store, unique });
    done = true;
    assert(await reading > 1);
    for (const oid of oids) assert(open.read(oid) !== undefined && store.read(oid) !== undefined);
    assertEquals(objectsIn(path), before);
    fsck(path);
    const names = new Set(next.packs.values());
    assertEquals(packsIn(path).sort(), [...names].map((name) => `${name}.idx`).sort());
    assertEquals(names.size, 2);
    assertEquals(next.packs.get(shaOf(0)), large);
    assertEquals(await readState(path), next);
    for (const [at, [sha256, name]] of [...next.packs].entries()) {
      assertEquals(readTable(await listPath(path, sha256, name)).names, lists[at] ?? null);
    }
    assertEquals(readdirSync(path).filter((name) => /push-|tmp/.test(name)), []);
    assertEquals(await consolidate(path, next, { ...quiet, store, unique }), next);
    open.close();
    store.close();
  });

  it("leaves everything as it is when a pack cannot be read", async () => {
    using temp = tempDir();
    const { path, state } = buildMirror(temp.path, 52);
    const small = join(path, "objects/pack", `${state.packs.get(shaOf(30))}.pack`);
    const bytes = await Deno.readFile(small);
    bytes[20] = (bytes[20] ?? 0) ^ 0xff;
    rmSync(small);
    await Deno.writeFile(small, bytes);
    const before = packsIn(path);
    const store = openStore(path);
    const next = await consolidate(path, state, { ...quiet, store, unique: () => "u" });
    assertEquals(next, state);
    assertEquals(packsIn(path), before);
    assertEquals(await readState(path), undefined);
    store.close();
  });
});

describe("trimState", () => {
  it("keeps what the manifest lists and the newest beside it", () => {
    const numbers = Array.from({ length: 1000 }, (_, number) => number);
    const state: State = {
      uri: "u",
      generation: 1,
      cid: "c",
      head: "refs/heads/main",
      refs: new Map(),
      packs: new Map(numbers.map((number) => [shaOf(number), `pack-${number}`])),
      records: new Map(numbers.map((number) => [`cid${number}`, shaOf(number)])),
      checkedAt: 0,
    };
    const listed = { rkey: "r", cid: "cid5", bytes: 1, objects: 1 };
    const tail = { bytes: new Uint8Array(), sha256: shaOf(7), needs: [] };
    const { packs, records } = trimState(state, { packs: [listed], tail: [tail] });
    const newest = numbers.slice(-256);
    assertEquals([...records.keys()], [5, ...newest].map((number) => `cid${number}`));
    assertEquals([...packs.keys()], [5, 7, ...newest].map(shaOf));
  });
});

/** Text of twice so many characters that does not compress. */
function noise(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toHex();
}

describe("a mirror after many pushes", () => {
  it("has few packs, and folds as before", async () => {
    await using network = await openNetwork();
    await using machine = await openMachine(network, { name: "many" });
    const writing = await machine.open("write");
    const { name, mirror } = await createRepository(writing, { name: "app" });
    const named = { owner: machine.account.did, name };
    let content = "";
    for (let number = 0; number < 60; number++) {
      content = number % 3 === 0 ? noise(9_000) : `${number}\n`;
      const changes = [{ path: `f${number % 7}`, content }];
      await commitChanges(await machine.open("write"), named, { message: `${number}`, changes });
    }
    assert(packsIn(mirror.path).length <= 51, `${packsIn(mirror.path).length}`);
    const objects = objectsIn(mirror.path);
    fsck(mirror.path);
    await compactRepository(await machine.open("write"), named);
    fsck(mirror.path);
    const after = new Set(objectsIn(mirror.path).split("\n"));
    assertEquals(objects.split("\n").filter((line) => !after.has(line)), []);

    await using reader = await openMachine(network, { account: machine.account, login: false });
    const account = await (await reader.open("read")).identity.resolve(machine.account.did);
    const copy = (await reader.open("read")).mirrors.at(account, mirror.rkey);
    await copy.view(ONLINE);
    fsck(copy.path);
    assertEquals(git(copy.path, "rev-list", "--count", "main"), "60");
    assertEquals(`${git(copy.path, "show", "main:f3")}\n`, content);
  });

  it("is made by a first clone with few packs, knows which pack brought what, and folds", async () => {
    await using network = await openNetwork();
    await using machine = await openMachine(network, { name: "few" });
    const { name, mirror } = await createRepository(await machine.open("write"), { name: "app" });
    const named = { owner: machine.account.did, name };
    for (let number = 0; number < 30; number++) {
      const content = number % 10 === 0 ? noise(9_000) : `${number}\n`;
      const changes = [{ path: `f${number % 7}`, content }];
      await commitChanges(await machine.open("write"), named, { message: `${number}`, changes });
    }
    await using reader = await openMachine(network, { account: machine.account });
    const open = async () => {
      const { identity, mirrors } = await reader.open("read");
      return mirrors.at(await identity.resolve(machine.account.did), mirror.rkey);
    };
    const copy = await open();
    const { manifest: { record: { packs, tail } } } = await copy.latest();
    assert(packs.length + tail.length > 10 && packs.length > 1, `${packs.length} ${tail.length}`);
    assertEquals(packsIn(copy.path).length, 1);
    fsck(copy.path);
    assertEquals(objectsIn(copy.path), objectsIn(mirror.path));
    for (const [at, path] of (await copy.packPaths(packs)).entries()) {
      assertEquals(readTable(path).names.length / 20, packs[at]?.objects);
    }
    // Which pack brought what is part of the copy: without it the copy is made again.
    await Deno.remove(join(copy.path, "lists"), { recursive: true });
    assertEquals(await copy.state(), undefined);
    const again = await open();
    await again.latest();
    assertEquals((await again.packPaths(packs)).length, packs.length);
    await compactRepository(await reader.open("write"), named);
    fsck(again.path);
    const { view } = await mirror.latest();
    assertEquals(view.refs.get("refs/heads/main")?.oid, git(again.path, "rev-parse", "main"));
    fsck(mirror.path);
  });
});
