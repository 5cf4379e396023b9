import { assertEquals } from "@std/assert";
import { compactRepository } from "../../core/forge/compact.ts";
import { forkRepository } from "../../core/forge/fork.ts";
import { sweep } from "../../core/forge/sweep.ts";
import { git } from "../support/git.ts";
import { APPLY, errorOf, holdAt, overtaken, push, PUT, valueOf } from "../support/racer.ts";
import {
  change,
  dense,
  describeRaces,
  FEW,
  GET_BLOB,
  GET_BLOCKS,
  inTwoDays,
  MAIN,
  RACES,
} from "../support/races.ts";

describeRaces("a compact and a sweep while others read or push", (it) => {
  it(`a clone against compact, and against a sweep two days later: it is whole, ${RACES} times`, async ({ app, left, right, third }) => {
    // So much that the fold of it is in blobs.
    await app.lands(left, { ref: MAIN, files: { large: dense(60_000) } });
    await app.race(RACES, async (at) => {
      await app.lands(left, { ref: MAIN, files: change("l", at * 4 + 1) });
      const { mirror } = app.at(third);
      await mirror.remove();
      const late = await overtaken(
        third,
        at % 4 < 2 ? GET_BLOCKS : GET_BLOB,
        () => mirror.latest(),
        async () => {
          await app.compact(right);
          if (at % 2) await sweep(inTwoDays(right), app.at(right));
        },
      );
      const { view } = valueOf(late);
      assertEquals(view.refs.get(MAIN)?.oid, await app.head());
      assertEquals(git(mirror.path, "fsck", "--strict", "--no-dangling"), "");
    });
    assertEquals(await app.orphans(), []);
  });

  it("a sweep two days later against pushes that were cut off, or are about to name what it deletes", async ({ app, left, right, third }) => {
    await app.race(FEW, async (at) => {
      const large = { ref: MAIN, files: { large: dense(20_000), f: `${at}\n` } };
      const late = inTwoDays(third);
      const ours = app.at(third);
      if (at % 3 === 0) {
        // Its pack is there and nothing names it.
        const pushed = await overtaken(left, PUT, () => app.lands(left, large), async () => {
          assertEquals((await app.orphans()).length > 0, true);
          await compactRepository(late, app.named);
          assertEquals(await app.orphans(), []);
        });
        assertEquals(valueOf(pushed), await app.head());
      } else if (at % 3 === 1) {
        // The sweep has decided before the push lists the pack.
        const pushing = await holdAt(left, PUT, () => app.lands(left, large));
        await app.compact(right);
        const sweeping = await holdAt(third, APPLY, () => sweep(late, ours));
        const pushed = await pushing.finish();
        await sweeping.finish().then(valueOf);
        assertEquals(valueOf(pushed), await app.head());
      } else {
        // The process ends before its write, which arrives once the pack is gone.
        let arrive: () => Promise<unknown> = () => Promise.resolve();
        const { context } = left;
        const ends = () => Promise.reject(new Error("the process ended"));
        const dying = {
          ...context,
          writer: {
            ...context.writer,
            put: (...args: Parameters<typeof context.writer.put>) => {
              arrive = () => context.writer.put(...args);
              return ends();
            },
            delete: ends,
          },
        };
        const died = await Promise.allSettled([push({ context: dying }, app.named, large)]);
        assertEquals(died.map(({ status }) => status), ["rejected"]);
        assertEquals((await app.orphans()).length > 0, true);
        assertEquals((await sweep(late, ours)).packs > 0, true);
        assertEquals(await app.orphans(), []);
        const [arrived] = await Promise.allSettled([arrive()]);
        assertEquals(errorOf(arrived).code, "conflict.swap");
        await app.lands(left, large);
      }
      const there = new Set(await app.packRecords());
      const { record: { packs } } = await app.manifest();
      assertEquals(packs.filter(({ rkey }) => !there.has(rkey)), []);
    });
  });

  it("compact and a sweep against a fork: it is whole", async ({ app, left, right, third }) => {
    await app.race(FEW, async (at) => {
      for (const who of ["l", "r"]) {
        await app.lands(left, { ref: MAIN, files: change(who, at * 4) });
      }
      const name = `fork${at}`;
      await app.at(third).mirror.remove();
      const late = await overtaken(
        third,
        GET_BLOCKS,
        () => forkRepository(third.context, app.named, name),
        async () => {
          await app.compact(right);
          await sweep(inTwoDays(right), app.at(right));
        },
      );
      assertEquals(valueOf(late).branches, 1);
      await app.check({ ...app.named, name });
    });
  });
});
