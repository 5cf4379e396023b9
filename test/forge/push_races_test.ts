import { assertEquals } from "@std/assert";
import { commitChanges } from "../../core/forge/commit.ts";
import { fold } from "../../core/forge/fold.ts";
import { createBranch } from "../../core/forge/refs.ts";
import { atOnce, errorOf, overtaken, push, PUT, valueOf } from "../support/racer.ts";
import {
  assertMoved,
  change,
  describeRaces,
  lines,
  MAIN,
  RACES,
  weight,
} from "../support/races.ts";

describeRaces("pushes and commits at once", (it) => {
  it(`two pushers of one branch: one wins, the other is told the new head, ${RACES} times`, async ({ app, left, right }) => {
    await app.race(RACES, async (at) => {
      const was = await app.head();
      const pushers = at % 2 === 0 ? [left, right] : [right, left];
      const ended = await atOnce(
        PUT,
        ...pushers.map((racer, who) =>
          [racer, () => push(racer, app.named, { ref: MAIN, files: change(`${who}`, at) })] as const
        ),
      );
      const [winner, ...others] = ended.filter(({ status }) => status === "fulfilled");
      assertEquals(others, []);
      const now = await app.head();
      assertEquals(valueOf(winner), now);
      app.landed.add(valueOf(winner));
      assertMoved(errorOf(ended.find(({ status }) => status === "rejected")), was, now);
    });
    assertEquals(await app.orphans(), []);
  });

  it("two pushers of two branches with the same new file: both land, and a fold keeps it once", async ({ app, left, right, third }) => {
    for (const name of ["l", "r"]) await createBranch(left.context, app.named, { name });
    await app.race(RACES / 2, async (at) => {
      const shared = { shared: `${lines(2)}${at}\n`, ...(weight(at) && { large: weight(at) }) };
      const ended = await atOnce(
        PUT,
        [
          left,
          () => app.lands(left, { ref: "refs/heads/l", files: { ...shared, f: `l ${at}\n` } }),
        ],
        [
          right,
          () => app.lands(right, { ref: "refs/heads/r", files: { ...shared, f: `r ${at}\n` } }),
        ],
      );
      assertEquals(ended.map(valueOf), [
        await app.head("refs/heads/l"),
        await app.head("refs/heads/r"),
      ]);
      // Each goes on from a file that the other's pack has too, while one of the two is dropped.
      if (at % 5 !== 4) return;
      const { record: { packs } } = await app.manifest();
      const next = { ref: "refs/heads/r", files: { shared: `${lines(2)}${at}\nmore\n` } };
      const late = await overtaken(
        right,
        PUT,
        () => app.lands(right, next),
        () => fold(third.context, app.at(third), at % 10 === 4 ? 0 : packs.length - 1),
      );
      assertEquals(valueOf(late), await app.head("refs/heads/r"));
    });
    assertEquals(await app.orphans(), []);
  });

  it(`a push and a commit without a working tree, ${RACES} times`, async ({ app, left, right }) => {
    const commit = (changes: Parameters<typeof commitChanges>[2]["changes"]) =>
      commitChanges(left.context, app.named, { message: "edit", changes });
    const edit = (at: number) =>
      commit([{
        path: "g",
        edits: [{ old: `1 ${at % 90}\n`, new: `1 ${at % 90}\n` + "again\n" }],
      }]);
    const pushed = (at: number) => push(right, app.named, { ref: MAIN, files: change("r", at) });
    await app.race(RACES, async (at) => {
      const was = await app.head();
      if (at % 4 === 0) {
        let between = "";
        const late = await overtaken(left, PUT, () => edit(at), async () => {
          between = await pushed(at);
        });
        const { commit, moved } = valueOf(late);
        assertEquals([commit, moved], [await app.head(), true]);
        app.landed.add(between).add(commit);
      } else if (at % 4 === 1) {
        const late = await overtaken(right, PUT, () => pushed(at), async () => {
          app.landed.add((await edit(at)).commit);
        });
        assertMoved(errorOf(late), was, await app.head());
      } else if (at % 4 === 2) {
        const [edited, late] = await atOnce<string>(
          PUT,
          [left, async () => (await edit(at)).commit],
          [right, () => pushed(at)],
        );
        assertEquals(valueOf(edited), await app.head());
        app.landed.add(valueOf(edited));
        if (late?.status === "fulfilled") app.landed.add(late.value);
        else assertMoved(errorOf(late), was, await app.head());
      } else {
        const whole = () => commit([{ path: "f", content: `mine ${at}\n` }]);
        const late = await overtaken(left, PUT, whole, async () => {
          app.landed.add(await pushed(at));
        });
        assertEquals(errorOf(late).message, `f changed between ${was} and ${await app.head()}`);
      }
    });
    assertEquals(await app.orphans(), []);
  });
});
