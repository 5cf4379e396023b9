import { assertEquals, assertMatch } from "@std/assert";
import { createBranch } from "../../core/forge/refs.ts";
import { edit, nineLines } from "../support/app.ts";
import { git } from "../support/git.ts";
import { noise } from "../support/owner.ts";
import { describePair } from "../support/pair.ts";
import { atOnce, errorsOf, overtaken, PUT } from "../support/racer.ts";

describePair("two machines of one account at once", (it) => {
  it("commit edits of two files, and both land", async ({ app, left, right }) => {
    await app.commit(left, [{ path: "a", content: nineLines }, { path: "b", content: nineLines }]);
    for (let round = 0; round < 5; round++) {
      const said = await atOnce(
        PUT,
        [left, () => app.commit(left, [edit("a", `line ${round}\n`, `left ${round}\n`)])],
        [right, () => app.commit(right, [edit("b", `line ${round}\n`, `right ${round}\n`)])],
      );
      assertEquals(errorsOf(said), []);
      const answers = said.map((one) => one.status === "fulfilled" && one.value);
      assertEquals(answers.filter((one) => one && one.moved === true).length, 1);
    }
    await app.readAnew((path) => {
      assertEquals(git(path, "rev-list", "--count", "main"), "11");
      assertMatch(git(path, "show", "main:a"), /^(left \d\n){5}line 5/);
      assertMatch(git(path, "show", "main:b"), /^(right \d\n){5}line 5/);
    });
  });

  it("commit edits of one file, and both land where they fit", async ({ app, left, right }) => {
    await app.commit(left, [{ path: "a", content: nineLines }]);
    const said = await atOnce(
      PUT,
      [left, () => app.commit(left, [edit("a", "line 1", "left 1")])],
      [right, () => app.commit(right, [edit("a", "line 8", "right 8")])],
    );
    assertEquals(errorsOf(said), []);
    const again = await atOnce(
      PUT,
      [left, () => app.commit(left, [edit("a", "line 5", "left 5")])],
      [right, () => app.commit(right, [edit("a", "line 5", "right 5")])],
    );
    assertEquals(errorsOf(again).length, 1);
    await app.readAnew((path) => {
      assertMatch(git(path, "show", "main:a"), /left 1\n.*(left|right) 5\n.*right 8/s);
    });
  });

  it("commit content of one file, and one is told so and leaves nothing", async ({ app, left, right }) => {
    await app.commit(left, [{ path: "a", content: "before\n" }]);
    const bytes = [noise(30_000).toBase64(), noise(30_000).toBase64()];
    const said = await atOnce(
      PUT,
      [left, () => app.commit(left, [{ path: "a", base64: bytes[0] }])],
      [right, () => app.commit(right, [{ path: "a", base64: bytes[1] }])],
    );
    const [error, ...more] = errorsOf(said);
    assertEquals([error?.exit, more.length], [6, 0]);
    assertMatch(error?.message ?? "", /^a changed between [0-9a-f]{40} and [0-9a-f]{40}$/);
    assertEquals(await app.orphans(), []);
    assertEquals(await app.readAnew((path) => git(path, "rev-list", "--count", "main")), "2");
  });

  it("seal the tail of what the other has added to: no record but the last stays", async ({ app, left, right }) => {
    await app.commit(left, [{ path: "a", content: "before\n" }]);
    const late = await overtaken(
      left,
      PUT,
      () => app.commit(left, [{ path: "b", base64: noise(30_000).toBase64() }]),
      () => app.commit(right, [{ path: "c", content: "right\n" }]),
    );
    // The commit is made anew on the other's, and its first pack taken back.
    assertEquals(late.status, "fulfilled");
    await createBranch(await left.open("write"), app.named, { name: "other" });
    await app.commit(left, [{ path: "a", content: "for the tail\n" }]);
    const again = await overtaken(
      left,
      PUT,
      () => app.commit(left, [{ path: "d", base64: noise(30_000).toBase64() }]),
      () => app.commit(right, [{ path: "e", content: "right\n" }], "other"),
    );
    assertEquals(again.status, "fulfilled");
    assertEquals(await app.orphans(), []);
    assertEquals((await app.manifest()).packs.length, 4);
  });

  it("make the first commit, and neither writes over the other's file", async ({ app, left, right, start }) => {
    const said = await atOnce(
      PUT,
      [left, () => app.commit(left, [{ path: "a", content: "left\n" }])],
      [right, () => app.commit(right, [{ path: "b", content: "right\n" }])],
    );
    assertEquals(errorsOf(said), []);
    assertEquals(await app.readAnew((path) => git(path, "ls-tree", "--name-only", "main")), "a\nb");

    const other = await start();
    const [error] = errorsOf(
      await atOnce(
        PUT,
        [left, () => other.commit(left, [{ path: "a", content: "left\n" }])],
        [right, () => other.commit(right, [{ path: "a", content: "right\n" }])],
      ),
    );
    assertEquals(error?.exit, 6);
    assertEquals(await other.readAnew((path) => git(path, "rev-list", "--count", "main")), "1");
  });

  it("commit to two branches, and both land", async ({ app, left, right }) => {
    await app.commit(left, [{ path: "a", content: "before\n" }]);
    await createBranch(await left.open("write"), app.named, { name: "other" });
    const said = await atOnce(
      PUT,
      [left, () => app.commit(left, [{ path: "a", content: "left\n" }], "main")],
      [right, () => app.commit(right, [{ path: "a", content: "right\n" }], "other")],
    );
    assertEquals(errorsOf(said), []);
    await app.readAnew((path) => {
      assertEquals(git(path, "show", "main:a"), "left");
      assertEquals(git(path, "show", "other:a"), "right");
    });
  });
});
