import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { FreedMemory } from "../../core/git/freed.ts";
import type { GitObject } from "../../core/git/object.ts";
import { openStore } from "../../core/git/store.ts";
import { openTransient } from "../../core/git/transient.ts";
import { buildLongRepo, git, tempDir } from "../support/git.ts";

const SIZE = 1000;

function treeIn(memory: FreedMemory, first: number): GitObject {
  const bytes = memory.room(SIZE);
  bytes.fill(first);
  return { kind: "tree", bytes };
}

describe("memory that is given back", () => {
  it("holds all that it gave until the next turn", () => {
    const memory = new FreedMemory(8 * SIZE);
    const trees = Array.from({ length: 40 }, (_, at) => treeIn(memory, at));
    trees.forEach((tree, at) => memory.set(at, tree));
    trees.forEach(({ bytes }, at) => assertEquals([bytes[0], bytes[SIZE - 1]], [at, at]));
    trees.forEach((tree, at) => assertEquals(memory.get(at), tree));
  });

  it("gives back at a turn what is not kept, and what was kept and is dropped", () => {
    const memory = new FreedMemory(8 * SIZE);
    const loose = treeIn(memory, 1);
    const kept = Array.from({ length: 4 }, (_, at) => treeIn(memory, at));
    kept.forEach((tree, at) => memory.set(at, tree));
    memory.turn();
    assertEquals(loose.bytes.length, 0);
    // What was looked for since goes on.
    assertEquals(memory.get(2)?.bytes[0], 2);
    const more = Array.from({ length: 4 }, (_, at) => treeIn(memory, at + 10));
    more.forEach((tree, at) => memory.set(at + 10, tree));
    memory.turn();
    assertEquals(kept.map(({ bytes }) => bytes.length), [0, 0, SIZE, 0]);
    assertEquals([0, 1, 3].map((at) => memory.get(at)), [undefined, undefined, undefined]);
    assertEquals(memory.get(2)?.bytes[0], 2);
    memory.clear();
    assertEquals([...kept, ...more].map(({ bytes }) => bytes.length), Array(8).fill(0));
  });

  it("keeps a copy of what it did not give, and nothing that would take much of it", () => {
    const memory = new FreedMemory(8 * SIZE);
    const own = new Uint8Array(10).fill(7);
    memory.set(1, { kind: "blob", bytes: own });
    memory.set(2, { kind: "blob", bytes: new Uint8Array(2 * SIZE) });
    assertEquals(memory.get(1)?.bytes, own);
    assertEquals(memory.get(2), undefined);
    memory.clear();
    assertEquals(own.length, 10);
  });
});

describe("objects to be looked at once", () => {
  it("are those of the store, over many turns, and of the other reader what the packs lack", () => {
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "long"), { commits: 300, files: 60 });
    const store = openStore(dir, { cacheBytes: 0 });
    const memory = new FreedMemory(1 << 16);
    const small = openStore(dir, { memory });
    const oids = git(dir, "rev-list", "--objects", "--all").split("\n").map((line) =>
      line.slice(0, 40)
    );
    assert(oids.length > 1000, `${oids.length} objects`);
    {
      using transient = openTransient(dir, store);
      for (const [at, oid] of oids.entries()) {
        const expected = store.read(oid);
        assertEquals(small.read(oid), expected);
        assertEquals(transient.read(oid), expected);
        assertEquals(transient.info(oid)?.size, expected?.bytes.length);
        if (at % 3 === 0) memory.turn();
        if (at % 5 === 0) transient.turn();
      }
      using lacking = openTransient(join(temp.path, "nowhere"), store);
      assertEquals(lacking.read(oids[0] ?? ""), store.read(oids[0] ?? ""));
    }
    small.close();
    store.close();
  });
});
