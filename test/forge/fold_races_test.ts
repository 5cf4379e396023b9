import { assert, assertEquals } from "@std/assert";
import type { WriteContext } from "../../core/context.ts";
import { compactRepository } from "../../core/forge/compact.ts";
import { createBranch, createTag, deleteBranch } from "../../core/forge/refs.ts";
import { findRepository } from "../../core/forge/repository.ts";
import { edit, nineLines } from "../support/app.ts";
import { git } from "../support/git.ts";
import type { Machine } from "../support/machine.ts";
import { type Json, noise } from "../support/owner.ts";
import { describePair } from "../support/pair.ts";
import { openProxiedMachine } from "../support/proxied.ts";
import { atOnce, errorOf, errorsOf, overtaken, PUT, valueOf } from "../support/racer.ts";
import { dense, GET_BLOCKS } from "../support/races.ts";

/** The context as it is when what was left before is of yesterday. */
const tomorrow = (context: WriteContext): WriteContext => ({
  ...context,
  now: () => new Date(Date.now() + 25 * 60 * 60 * 1000),
});

describePair("two machines of one account compact", (it) => {
  it("and sweep what a write of yesterday is about to name: the write sends it again", async ({ app, left, right }) => {
    await app.fill(left, "a");
    const late = await overtaken(left, PUT, () => app.fill(left, "b"), async () => {
      await compactRepository(tomorrow(await right.open("write")), app.named);
      assertEquals(await app.orphans(), []);
    });
    assertEquals(late.status, "fulfilled");
    assertEquals(await app.readAnew((path) => git(path, "ls-tree", "--name-only", "main")), "a\nb");
  });

  it("at once: one folds, the other is told so and leaves nothing", async ({ app, left, right }) => {
    await app.fill(left, "a");
    await app.fill(left, "b");
    const compact = async (machine: Machine) =>
      await compactRepository(await machine.open("write"), app.named);
    const errors = errorsOf(
      await atOnce(PUT, [left, () => compact(left)], [right, () => compact(right)]),
    );
    assertEquals(errors.map(({ exit, code }) => [exit, code]), [[6, "conflict.folded"]]);
    const { retired } = await app.manifest();
    assertEquals((await app.orphans()).length, retired.length);
    assertEquals(await app.readAnew((path) => git(path, "ls-tree", "--name-only", "main")), "a\nb");
  });

  it("and seal a tail that leans on what no ref reaches: it stays whole", async ({ app, left, right }) => {
    const text = dense(9_000);
    const content = `${text}\n`;
    await app.commit(left, [{ path: "start", content: "start\n" }]);
    await createBranch(await left.open("write"), app.named, { name: "x" });
    await app.fill(left, "pad", "x");
    await app.commit(left, [{ path: "f", content }], "x");
    await app.fill(left, "more", "x");
    await app.commit(left, [edit("f", text.slice(0, 20), "changed")], "x");
    await app.commit(left, [{ path: "f", content: content.replace(text.slice(0, 20), "changed") }]);
    await deleteBranch(await left.open("write"), app.named, "x");
    const { tail } = await app.manifest();
    assert(tail.some(({ needs }: Json) => needs.length > 0), "nothing is thin");
    const compact = async () => await compactRepository(await left.open("write"), app.named);
    const late = await overtaken(left, PUT, compact, async () => {
      await app.commit(right, [{ path: "g", content: dense(7_000) }]);
      await app.commit(right, [{ path: "h", content: dense(7_000) }]);
    });
    assert(late.status === "fulfilled" || errorOf(late).code === "conflict.folded");
    const files = () => app.readAnew((path) => git(path, "ls-tree", "--name-only", "main"));
    assertEquals(await files(), "f\ng\nh\nstart");
    await compact();
    assertEquals(await files(), "f\ng\nh\nstart");
  });

  it("and commit: the commit lands on top of the fold", async ({ app, left, right }) => {
    await app.fill(left, "a");
    await app.fill(left, "b");
    const late = await overtaken(
      left,
      PUT,
      () => app.commit(left, [{ path: "c", content: "late\n" }]),
      async () => void await compactRepository(await right.open("write"), app.named),
    );
    assertEquals(late.status, "fulfilled");
    assertEquals(
      await app.readAnew((path) => git(path, "ls-tree", "--name-only", "main")),
      "a\nb\nc",
    );
  });

  it("and branch off or tag what the fold has left out: it is decided again, and whole", async ({ app, left, right }) => {
    await app.fill(left, "a");
    await createBranch(await left.open("write"), app.named, { name: "gone" });
    const { commit } = await app.fill(left, "b", "gone");
    const context = await left.open("write");
    const ways: Record<string, () => Promise<unknown>> = {
      x: () => createBranch(context, app.named, { name: "x", rev: commit }),
      v1: () => createTag(context, app.named, { name: "v1", rev: commit }),
    };
    for (const [name, make] of Object.entries(ways)) {
      await app.commit(right, [{ path: "c", content: `right ${name}\n` }]);
      const late = await overtaken(left, PUT, make, async () => {
        await deleteBranch(await right.open("write"), app.named, "gone");
        await compactRepository(await right.open("write"), app.named);
      });
      valueOf(late);
      assertEquals(await app.readAnew((path) => git(path, "rev-parse", name)), commit);
      await createBranch(await left.open("write"), app.named, { name: "gone", rev: commit });
      if (name === "x") await deleteBranch(await left.open("write"), app.named, "x");
    }
  });

  it("and make again what only one copy still holds: it is sent again", async ({ app, left, right }) => {
    await app.fill(left, "a");
    await createBranch(await left.open("write"), app.named, { name: "gone" });
    await app.commit(left, [{ path: "dir/b", content: nineLines }], "gone");
    await deleteBranch(await left.open("write"), app.named, "gone");
    await compactRepository(await right.open("write"), app.named);
    await app.commit(left, [{ path: "dir/b", content: nineLines }]);
    assertEquals(
      await app.readAnew((path) => git(path, "show", "main:dir/b")),
      nineLines.trimEnd(),
    );
  });

  it("while another reads what is folded and deleted: it reads the newer", async ({ app, left, right, network }) => {
    await app.fill(left, "a");
    await app.fill(left, "b");
    await using reader = await openProxiedMachine(network, {
      account: left.account,
      login: false,
    });
    const read = async () => {
      const { mirror } = await findRepository(await reader.open("read"), app.named);
      return { path: mirror.path, ...await mirror.latest() };
    };
    const late = await overtaken(reader, GET_BLOCKS, read, async () => {
      await compactRepository(await right.open("write"), app.named);
      await compactRepository(tomorrow(await right.open("write")), app.named);
      assertEquals(await app.orphans(), []);
    });
    const { manifest, path } = valueOf(late);
    assertEquals(manifest.record.packs.length, 1);
    assertEquals(git(path, "ls-tree", "--name-only", "main"), "a\nb");
  });

  it("by themselves the newest packs when there are many, whoever made them", async ({ app, left }) => {
    await app.commit(left, [{ path: "large", base64: noise(1_500_000).toBase64() }]);
    const [first] = (await app.manifest()).packs;
    assert(first);
    for (let i = 0; i < 24; i++) await app.fill(left, `file${i % 3}`);
    const { packs } = await app.manifest();
    assertEquals(packs[0], first);
    assert(packs.length < 6, `${packs.length} packs`);
    assertEquals(await app.readAnew((path) => git(path, "rev-list", "--count", "main")), "25");
  });
});
