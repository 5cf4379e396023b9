import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { createBranch, createTag, deleteBranch } from "../../core/forge/refs.ts";
import { sweep } from "../../core/forge/sweep.ts";
import { openGitHome } from "../support/git_home.ts";
import { proxyNetwork } from "../support/proxy.ts";
import {
  atOnce,
  errorOf,
  errorsOf,
  holdAt,
  overtaken,
  push,
  PUT,
  valueOf,
} from "../support/racer.ts";
import {
  change,
  dense,
  describeRaces,
  FEW,
  GET_BLOCKS,
  inTwoDays,
  lines,
  MAIN,
  RACES,
} from "../support/races.ts";

describeRaces("a compact while others write", (it) => {
  it(`a push against compact: both stand, whoever is first, ${RACES} times`, async ({ app, left, right }) => {
    await app.race(RACES, async (at) => {
      const pushing = () => app.lands(left, { ref: MAIN, files: change("l", at) });
      if (at % 3 === 0) {
        // The thin pack's base is in packs that are no longer listed.
        const late = await overtaken(left, PUT, pushing, () => app.compact(right));
        assertEquals(valueOf(late), await app.head());
      } else if (at % 3 === 1) {
        const late = await overtaken(right, PUT, () => app.compact(right), pushing);
        if (late.status === "rejected") assertEquals(errorOf(late).code, "conflict.folded");
      } else {
        const [pushed, folded] = await atOnce<unknown>(
          PUT,
          [left, pushing],
          [right, () => app.compact(right)],
        );
        assertEquals(valueOf(pushed), await app.head());
        if (folded?.status === "rejected") assertEquals(errorOf(folded).code, "conflict.folded");
      }
    });
    assertEquals(await app.orphans(), []);
  });

  it("two compacts at once: one folds, the other is told so and leaves nothing", async ({ app, left, right }) => {
    await app.race(FEW, async (at) => {
      for (const who of ["l", "r"]) {
        await app.lands(left, { ref: MAIN, files: change(who, at * 4) });
      }
      const ended = await atOnce(
        PUT,
        [left, () => app.compact(left)],
        [right, () => app.compact(right)],
      );
      assertEquals(errorsOf(ended).map(({ code }) => code), ["conflict.folded"]);
      assertEquals((await app.manifest()).record.packs.length, 1);
      assertEquals(await app.orphans(), []);
    });
  });

  it("compact against the deletion of a branch: both are done", async ({ app, left, right }) => {
    await app.race(FEW, async (at) => {
      await createBranch(left.context, app.named, { name: "side" });
      await push(left, app.named, { ref: "refs/heads/side", files: change("side", at) });
      await app.lands(left, { ref: MAIN, files: change("main", at) });
      const remove = async () => await deleteBranch(left.context, app.named, "side");
      const ended = at % 2 === 0
        ? await overtaken(left, PUT, remove, () => app.compact(right))
        : await overtaken<unknown>(right, PUT, () => app.compact(right), remove);
      valueOf(ended);
      assertEquals(await app.head("refs/heads/side"), undefined);
      await app.check();
    });
  });

  it("git, whose push leans on what is deleted and folded meanwhile: it is made anew, and whole", async ({ app, left, right, third, network, account }) => {
    await using proxies = await proxyNetwork(network);
    await using home = await openGitHome(network, {
      account,
      env: { ...proxies.env },
    });
    const url = `knotless://${account.handle}/${app.named.name}`;
    await home.ok(".", "clone", "-q", url, "work");
    await app.race(Math.ceil(FEW / 3), async (at) => {
      await createBranch(left.context, app.named, { name: "side" });
      app.landed.add(
        await push(left, app.named, { ref: "refs/heads/side", files: change("side", at) }),
      );
      await home.ok("work", "fetch", "-q", url, "side");
      await home.ok("work", "checkout", "-q", "FETCH_HEAD");
      await home.ok("work", "commit", "-q", "--allow-empty", "-m", `topic ${at}`);
      const pushing = () => home.git("work", "push", url, `HEAD:refs/heads/topic${at}`);
      const pushed = await overtaken({ proxies }, PUT, pushing, async () => {
        await deleteBranch(right.context, app.named, "side");
        await app.compact(third);
      });
      assertEquals(valueOf(pushed).status, 0, valueOf(pushed).err);
      app.landed.add(await home.ok("work", "rev-parse", "HEAD"));
      await app.check();
      await Deno.remove(join(home.dir, "cache"), { recursive: true });
      const cloning = () => home.git(".", "clone", "-q", url, `clone${at}`);
      const cloned = await overtaken({ proxies }, GET_BLOCKS, cloning, async () => {
        await app.compact(right);
        await sweep(inTwoDays(right), app.at(right));
      });
      assertEquals(valueOf(cloned).status, 0, valueOf(cloned).err);
      assertEquals(await home.ok(`clone${at}`, "rev-parse", "HEAD"), await app.head());
      assertEquals(await home.ok(`clone${at}`, "fsck", "--strict", "--no-dangling"), "");
    });
  });

  it("a fold of a tail alone is seen by who leaned on what it left out", async ({ app, left, right, third }) => {
    await createBranch(left.context, app.named, { name: "side" });
    await push(left, app.named, { ref: "refs/heads/side", files: { f: lines(2) } });
    const late = await overtaken(
      left,
      PUT,
      () =>
        push(left, app.named, {
          ref: "refs/heads/topic",
          from: "refs/heads/side",
          files: { f: `${lines(2)}more\n` },
        }),
      async () => {
        await deleteBranch(right.context, app.named, "side");
        await app.compact(third);
      },
    );
    assertEquals(errorOf(late).code, "conflict.unled");
  });

  it("a fold that did not see the branch does not come over a push that did", async ({ app, left, right, third }) => {
    await createBranch(left.context, app.named, { name: "side" });
    await push(left, app.named, {
      ref: "refs/heads/side",
      files: { f: lines(2), h: dense(20_000) },
    });
    const topic = { ref: "refs/heads/topic", from: "refs/heads/side", files: { f: "topic\n" } };
    const late = await holdAt(left, PUT, () => push(left, app.named, topic));
    await deleteBranch(right.context, app.named, "side");
    const folding = await holdAt(third, PUT, () => app.compact(third));
    const pushed = await late.finish();
    const folded = await folding.finish();
    assertEquals([pushed.status, folded.status], ["rejected", "fulfilled"]);
    assertEquals(errorOf(pushed).code, "conflict.unled");
  });

  it("a fold that did not see the branch does not come over a tag of it", async ({ app, left, right, third }) => {
    await createBranch(left.context, app.named, { name: "side" });
    const side = await push(left, app.named, {
      ref: "refs/heads/side",
      files: { h: dense(20_000) },
    });
    const tag = { name: "v1", rev: side };
    const late = await holdAt(left, PUT, () => createTag(left.context, app.named, tag));
    await deleteBranch(right.context, app.named, "side");
    const folding = await holdAt(third, PUT, () => app.compact(third));
    await late.finish();
    await folding.finish();
    await app.check();
  });
});
