import { assert, assertEquals, assertMatch } from "@std/assert";
import { createBranch, deleteBranch, renameBranch } from "../../core/forge/refs.ts";
import { git } from "../support/git.ts";
import type { Machine } from "../support/machine.ts";
import type { Json } from "../support/owner.ts";
import { describePair } from "../support/pair.ts";
import { errorOf, overtaken, PUT, valueOf } from "../support/racer.ts";

describePair("two machines of one account at once", (it) => {
  it("delete a branch and commit to it: one of the two", async ({ app, left, right }) => {
    await app.commit(left, [{ path: "a", content: "before\n" }]);
    await createBranch(await left.open("write"), app.named, { name: "other" });
    const late = await overtaken(
      left,
      PUT,
      () => app.commit(left, [{ path: "a", content: "left\n" }], "other"),
      async () => void await deleteBranch(await right.open("write"), app.named, "other"),
    );
    assertMatch(errorOf(late).message, /there is no branch other/);
    assertEquals(Object.keys(await app.refs()), ["refs/heads/main"]);

    await createBranch(await left.open("write"), app.named, { name: "other" });
    const removal = await overtaken(
      right,
      PUT,
      async () => await deleteBranch(await right.open("write"), app.named, "other"),
      () => app.commit(left, [{ path: "a", content: "left\n" }], "other"),
    );
    assertMatch(errorOf(removal).message, /^other moved: it was \w{7}, it is now \w{7}$/);
    assertEquals(errorOf(removal).exit, 6);
    assertEquals(await app.readAnew((path) => git(path, "show", "other:a")), "left");
  });

  it("rename the branch that the other commits to by default, which follows", async ({ app, left, right }) => {
    await app.commit(left, [{ path: "a", content: "before\n" }]);
    const late = await overtaken(
      left,
      PUT,
      () => app.commit(left, [{ path: "a", content: "left\n" }]),
      async () =>
        void await renameBranch(await right.open("write"), app.named, {
          branch: "main",
          name: "trunk",
        }),
    );
    assertEquals(valueOf(late).branch, "trunk");
    assertEquals(Object.keys(await app.refs()), ["refs/heads/trunk"]);
    assertEquals(await app.readAnew((path) => git(path, "show", "HEAD:a")), "left");
  });

  it("rename a branch that the other commits to by its name: it has the newer commit", async ({ app, left, right }) => {
    await app.fill(left, "a");
    await createBranch(await left.open("write"), app.named, { name: "was" });
    const renaming = async () =>
      await renameBranch(await left.open("write"), app.named, { branch: "was", name: "is" });
    let commit = "";
    const late = await overtaken(left, PUT, renaming, async () => {
      ({ commit } = await app.commit(right, [{ path: "c", content: "right\n" }], "was"));
    });
    valueOf(late);
    const refs = await app.readAnew((path) => git(path, "for-each-ref", "--format=%(refname)"));
    assertEquals(refs, "refs/heads/is\nrefs/heads/main");
    assertEquals(await app.readAnew((path) => git(path, "rev-parse", "is")), commit);
  });

  it("make one branch: the other is told that it exists", async ({ app, left, right }) => {
    await app.fill(left, "a");
    const make = async (machine: Machine) =>
      await createBranch(await machine.open("write"), app.named, { name: "one" });
    const late = await overtaken(left, PUT, () => make(left), () => make(right));
    assertEquals([errorOf(late).exit, errorOf(late).code], [6, "conflict.exists"]);
  });

  it("make a branch each, time and again, and no push is put down in the log twice", async ({ app, left, right, owner }) => {
    await app.fill(left, "a");
    const make = async (machine: Machine, name: string) =>
      await createBranch(await machine.open("write"), app.named, { name });
    for (let branch = 0; branch < 24; branch++) await make(left, `b${branch}`);
    // Each put is lost to the other's branch once, until one has moved the log.
    for (let branch = 0; branch < 24; branch++) {
      const late = await overtaken(
        left,
        PUT,
        () => make(left, `c${branch}`),
        () => make(right, `d${branch}`),
      );
      valueOf(late);
    }
    const logs = (await owner.list("dev.knotless.log")).filter(({ value }) =>
      value.repo === app.repository.uri
    );
    assert(logs.length > 0);
    const ids = [...logs.map(({ value }) => value), { pushes: (await app.manifest()).log }]
      .flatMap(({ pushes }) => pushes.map(({ id }: Json) => id));
    assertEquals(ids.length, new Set(ids).size, "an id comes twice");
    assertEquals(ids.length, 1 + 24 * 3);
  });
});
