import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { commitChanges } from "../../core/forge/commit.ts";
import { compactRepository } from "../../core/forge/compact.ts";
import { createRepository } from "../../core/forge/create.ts";
import { fold } from "../../core/forge/fold.ts";
import { forkRepository } from "../../core/forge/fork.ts";
import { MovedError } from "../../core/forge/moved.ts";
import { createBranch, createTag, deleteBranch } from "../../core/forge/refs.ts";
import { deleteRepository } from "../../core/forge/remove.ts";
import { findRepository, type Repository } from "../../core/forge/repository.ts";
import { sweep } from "../../core/forge/sweep.ts";
import type { Manifest } from "../../core/mirror/manifest.ts";
import { git, tryGit } from "../support/git.ts";
import { openGitHome } from "../support/git_home.ts";
import { openMachine } from "../support/machine.ts";
import { type Network, openNetwork } from "../support/network.ts";
import { noise } from "../support/owner.ts";
import { proxyNetwork } from "../support/proxy.ts";
import {
  APPLY,
  atOnce,
  errorOf,
  holdAt,
  openRacer,
  overtaken,
  push,
  type Pushing,
  PUT,
  type Racer,
  valueOf,
} from "../support/racer.ts";
import type { Account } from "../../scripts/sandbox/state.ts";

const RACES = Number(Deno.env.get("KNOTLESS_TEST_RACES") ?? 20);
const FEW = Math.max(3, Math.ceil(RACES / 10));
const CHECKED_EVERY = 20;
const DAY_MS = 24 * 60 * 60 * 1000;
const MAIN = "refs/heads/main";
const GET_BLOCKS = "com.atproto.sync.getBlocks";
const GET_BLOB = "com.atproto.sync.getBlob";

/** Text that takes so many bytes in a pack. */
const dense = (bytes: number) => noise(bytes).toHex();

describe("writers of one repository at once", () => {
  let network: Network;
  let account: Account;
  let left: Racer;
  let right: Racer;
  let third: Racer;
  let named: { owner: string; name: string };
  let repository: Repository;
  /** Commits that were reported as landed and that a ref must lead to. */
  let landed: Set<string>;
  let number = 0;

  beforeAll(async () => {
    network = await openNetwork();
    account = await network.createAccount("racer");
    left = await openRacer(network, account);
    right = await openRacer(network, account);
    third = await openRacer(network, account);
  });

  afterAll(async () => {
    for (const racer of [left, right, third]) await racer[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    named = { owner: account.did, name: `app${number++}` };
    repository = await createRepository(left.context, { name: named.name });
    landed = new Set();
    await lands(left, { ref: MAIN, files: { f: lines(0), g: lines(1) } });
  });

  // A sweep looks at every pack of the account.
  afterEach(async () => void await deleteRepository(left.context, named, named.name));

  const lines = (seed: number) => Array.from({ length: 90 }, (_, i) => `${seed} ${i}\n`).join("");

  async function manifest(): Promise<Manifest> {
    return await repository.mirror.manifest();
  }

  async function head(ref = MAIN): Promise<string | undefined> {
    return (await manifest()).refs.get(ref)?.oid;
  }

  async function lands(racer: Racer, pushing: Pushing): Promise<string> {
    const commit = await push(racer, named, pushing);
    landed.add(commit);
    return commit;
  }

  /** Reads all as a machine that has seen nothing: each ref is where it was left, what landed is there, and git finds no fault. */
  async function check(): Promise<void> {
    await using fresh = await openMachine(network, { account, login: false });
    const { mirror } = await findRepository(await fresh.open("read"), named);
    const { manifest: { refs } } = await mirror.latest();
    const { status, out, err } = tryGit(
      mirror.path,
      undefined,
      "fsck",
      "--strict",
      "--no-dangling",
    );
    assertEquals([status, new TextDecoder().decode(out), err], [0, "", ""]);
    const there = git(mirror.path, "for-each-ref", "--format=%(refname) %(objectname)");
    assertEquals(there, [...refs].map(([name, { oid }]) => `${name} ${oid}`).join("\n"));
    const reached = new Set(git(mirror.path, "rev-list", "--all").split("\n"));
    assertEquals([...landed].filter((commit) => !reached.has(commit)), []);
  }

  /** Runs the rounds of a race on one repository that goes on, and checks the whole of it every so often. */
  async function race(rounds: number, round: (at: number) => Promise<void>): Promise<void> {
    for (let at = 0; at < rounds; at++) {
      await round(at);
      if ((at + 1) % CHECKED_EVERY === 0 || at + 1 === rounds) await check();
    }
  }

  /** Some kB now and then, so that tails are sealed and packs of their own come between. */
  const weight = (at: number) => at % 4 === 0 ? dense(20_000) : at % 4 === 2 ? dense(6_000) : "";

  /** A change of one line, which makes a delta on what the branch has. */
  const change = (who: string, at: number) => ({
    f: lines(0).replace("0 7\n", `${who} ${at}\n`),
    ...(weight(at) && { [`${who} large`]: weight(at) }),
  });

  function assertMoved(error: Error, was: string | undefined, now: string | undefined): void {
    assert(error instanceof MovedError, `${error.stack}`);
    const { message, code, facts } = error;
    const said = `main moved: it was ${was?.slice(0, 7)}, it is now ${now?.slice(0, 7)}`;
    assertEquals([message, code], [said, "conflict.branch_moved"]);
    assertEquals(facts, { ref: MAIN, old: was, now });
  }

  /** The records of packs that the manifest neither lists nor has retired. */
  async function orphans(): Promise<string[]> {
    const { record: { packs, retired } } = await manifest();
    const known = new Set([...packs, ...retired].map(({ rkey }) => rkey));
    return (await packRecords()).filter((rkey) => !known.has(rkey));
  }

  async function packRecords(): Promise<string[]> {
    const rkeys: string[] = [];
    const { records } = left.context;
    for await (const { uri, value } of records.list(left.context.account, "dev.knotless.pack")) {
      const isOurs = (value as { repo?: unknown }).repo === repository.uri;
      if (isOurs) rkeys.push(uri.slice(uri.lastIndexOf("/") + 1));
    }
    return rkeys;
  }

  /** The repository at hand as it is on a machine. */
  const repositoryOf = ({ context }: Racer): Repository => ({
    ...repository,
    owner: context.account,
    mirror: context.mirrors.at(context.account, repository.rkey),
  });

  const compact = (racer: Racer) => compactRepository(racer.context, named);

  const inTwoDays = ({ context }: Racer) => ({
    ...context,
    now: () => new Date(Date.now() + 2 * DAY_MS),
  });

  it(`two pushers of one branch: one wins, the other is told the new head, ${RACES} times`, async () => {
    await race(RACES, async (at) => {
      const was = await head();
      const pushers = at % 2 === 0 ? [left, right] : [right, left];
      const ended = await atOnce(
        PUT,
        ...pushers.map((racer, who) =>
          [racer, () => push(racer, named, { ref: MAIN, files: change(`${who}`, at) })] as const
        ),
      );
      const [winner, ...others] = ended.filter(({ status }) => status === "fulfilled");
      assertEquals(others, []);
      const now = await head();
      assertEquals(valueOf(winner), now);
      landed.add(valueOf(winner));
      assertMoved(errorOf(ended.find(({ status }) => status === "rejected")), was, now);
    });
    assertEquals(await orphans(), []);
  });

  it("two pushers of two branches with the same new file: both land, and a fold keeps it once", async () => {
    for (const name of ["l", "r"]) await createBranch(left.context, named, { name });
    await race(RACES / 2, async (at) => {
      const shared = { shared: `${lines(2)}${at}\n`, ...(weight(at) && { large: weight(at) }) };
      const ended = await atOnce(
        PUT,
        [left, () => lands(left, { ref: "refs/heads/l", files: { ...shared, f: `l ${at}\n` } })],
        [right, () => lands(right, { ref: "refs/heads/r", files: { ...shared, f: `r ${at}\n` } })],
      );
      assertEquals(ended.map(valueOf), [await head("refs/heads/l"), await head("refs/heads/r")]);
      // Each goes on from a file that the other's pack has too, while one of the two is dropped.
      if (at % 5 !== 4) return;
      const { record: { packs } } = await manifest();
      const next = { ref: "refs/heads/r", files: { shared: `${lines(2)}${at}\nmore\n` } };
      const late = await overtaken(
        right,
        PUT,
        () => lands(right, next),
        () => fold(third.context, repositoryOf(third), at % 10 === 4 ? 0 : packs.length - 1),
      );
      assertEquals(valueOf(late), await head("refs/heads/r"));
    });
    assertEquals(await orphans(), []);
  });

  it(`a push and a commit without a working tree, ${RACES} times`, async () => {
    const commit = (changes: Parameters<typeof commitChanges>[2]["changes"]) =>
      commitChanges(left.context, named, { message: "edit", changes });
    const edit = (at: number) =>
      commit([{
        path: "g",
        edits: [{ old: `1 ${at % 90}\n`, new: `1 ${at % 90}\n` + "again\n" }],
      }]);
    const pushed = (at: number) => push(right, named, { ref: MAIN, files: change("r", at) });
    await race(RACES, async (at) => {
      const was = await head();
      if (at % 4 === 0) {
        let between = "";
        const late = await overtaken(left, PUT, () => edit(at), async () => {
          between = await pushed(at);
        });
        const { commit, moved } = valueOf(late);
        assertEquals([commit, moved], [await head(), true]);
        landed.add(between).add(commit);
      } else if (at % 4 === 1) {
        const late = await overtaken(right, PUT, () => pushed(at), async () => {
          landed.add((await edit(at)).commit);
        });
        assertMoved(errorOf(late), was, await head());
      } else if (at % 4 === 2) {
        const [edited, late] = await atOnce<string>(
          PUT,
          [left, async () => (await edit(at)).commit],
          [right, () => pushed(at)],
        );
        assertEquals(valueOf(edited), await head());
        landed.add(valueOf(edited));
        if (late?.status === "fulfilled") landed.add(late.value);
        else assertMoved(errorOf(late), was, await head());
      } else {
        const whole = () => commit([{ path: "f", content: `mine ${at}\n` }]);
        const late = await overtaken(left, PUT, whole, async () => {
          landed.add(await pushed(at));
        });
        assertEquals(errorOf(late).message, `f changed between ${was} and ${await head()}`);
      }
    });
    assertEquals(await orphans(), []);
  });

  it(`a push against compact: both stand, whoever is first, ${RACES} times`, async () => {
    await race(RACES, async (at) => {
      const pushing = () => lands(left, { ref: MAIN, files: change("l", at) });
      if (at % 3 === 0) {
        // The thin pack's base is in packs that are no longer listed.
        const late = await overtaken(left, PUT, pushing, () => compact(right));
        assertEquals(valueOf(late), await head());
      } else if (at % 3 === 1) {
        const late = await overtaken(right, PUT, () => compact(right), pushing);
        if (late.status === "rejected") assertEquals(errorOf(late).code, "conflict.folded");
      } else {
        const [pushed, folded] = await atOnce<unknown>(
          PUT,
          [left, pushing],
          [right, () => compact(right)],
        );
        assertEquals(valueOf(pushed), await head());
        if (folded?.status === "rejected") assertEquals(errorOf(folded).code, "conflict.folded");
      }
    });
    assertEquals(await orphans(), []);
  });

  it(`a clone against compact, and against a sweep two days later: it is whole, ${RACES} times`, async () => {
    // So much that the fold of it is in blobs.
    await lands(left, { ref: MAIN, files: { large: dense(60_000) } });
    await race(RACES, async (at) => {
      await lands(left, { ref: MAIN, files: change("l", at * 4 + 1) });
      const { mirror } = repositoryOf(third);
      await mirror.remove();
      const late = await overtaken(
        third,
        at % 4 < 2 ? GET_BLOCKS : GET_BLOB,
        () => mirror.latest(),
        async () => {
          await compact(right);
          if (at % 2) await sweep(inTwoDays(right), repositoryOf(right));
        },
      );
      const { view } = valueOf(late);
      assertEquals(view.refs.get(MAIN)?.oid, await head());
      assertEquals(git(mirror.path, "fsck", "--strict", "--no-dangling"), "");
    });
    assertEquals(await orphans(), []);
  });

  it("a sweep two days later against pushes that were cut off, or are about to name what it deletes", async () => {
    await race(FEW, async (at) => {
      const large = { ref: MAIN, files: { large: dense(20_000), f: `${at}\n` } };
      const late = inTwoDays(third);
      const ours = repositoryOf(third);
      if (at % 3 === 0) {
        // Its pack is there and nothing names it.
        const pushed = await overtaken(left, PUT, () => lands(left, large), async () => {
          assertEquals((await orphans()).length > 0, true);
          await compactRepository(late, named);
          assertEquals(await orphans(), []);
        });
        assertEquals(valueOf(pushed), await head());
      } else if (at % 3 === 1) {
        // The sweep has decided before the push lists the pack.
        const pushing = await holdAt(left, PUT, () => lands(left, large));
        await compact(right);
        const sweeping = await holdAt(third, APPLY, () => sweep(late, ours));
        const pushed = await pushing.finish();
        await sweeping.finish().then(valueOf);
        assertEquals(valueOf(pushed), await head());
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
        const died = await Promise.allSettled([push({ context: dying }, named, large)]);
        assertEquals(died.map(({ status }) => status), ["rejected"]);
        assertEquals((await orphans()).length > 0, true);
        assertEquals((await sweep(late, ours)).packs > 0, true);
        assertEquals(await orphans(), []);
        const [arrived] = await Promise.allSettled([arrive()]);
        assertEquals(errorOf(arrived).code, "conflict.swap");
        await lands(left, large);
      }
      const there = new Set(await packRecords());
      const { record: { packs } } = await manifest();
      assertEquals(packs.filter(({ rkey }) => !there.has(rkey)), []);
    });
  });

  it("two compacts at once: one folds, the other is told so and leaves nothing", async () => {
    await race(FEW, async (at) => {
      for (const who of ["l", "r"]) await lands(left, { ref: MAIN, files: change(who, at * 4) });
      const ended = await atOnce(
        PUT,
        [left, () => compact(left)],
        [right, () => compact(right)],
      );
      const errors = ended.filter(({ status }) => status === "rejected").map(errorOf);
      assertEquals(errors.map(({ code }) => code), ["conflict.folded"]);
      assertEquals((await manifest()).record.packs.length, 1);
      assertEquals(await orphans(), []);
    });
  });

  it("compact against the deletion of a branch: both are done", async () => {
    await race(FEW, async (at) => {
      await createBranch(left.context, named, { name: "side" });
      await push(left, named, { ref: "refs/heads/side", files: change("side", at) });
      await lands(left, { ref: MAIN, files: change("main", at) });
      const remove = async () => await deleteBranch(left.context, named, "side");
      const ended = at % 2 === 0
        ? await overtaken(left, PUT, remove, () => compact(right))
        : await overtaken<unknown>(right, PUT, () => compact(right), remove);
      valueOf(ended);
      assertEquals(await head("refs/heads/side"), undefined);
      await check();
    });
  });

  it("compact and a sweep against a fork: it is whole", async () => {
    await race(FEW, async (at) => {
      for (const who of ["l", "r"]) await lands(left, { ref: MAIN, files: change(who, at * 4) });
      const name = `fork${at}`;
      await repositoryOf(third).mirror.remove();
      const late = await overtaken(
        third,
        GET_BLOCKS,
        () => forkRepository(third.context, named, name),
        async () => {
          await compact(right);
          await sweep(inTwoDays(right), repositoryOf(right));
        },
      );
      assertEquals(valueOf(late).branches, 1);
      const ours = { repository, named };
      ({ repository, named } = {
        repository: await findRepository(left.context, { ...named, name }),
        named: { ...named, name },
      });
      await check();
      ({ repository, named } = ours);
    });
  });

  it("git, whose push leans on what is deleted and folded meanwhile: it is made anew, and whole", async () => {
    await using proxies = await proxyNetwork(network);
    await using home = await openGitHome(network, { account, env: { ...proxies.env } });
    const url = `knotless://${account.handle}/${named.name}`;
    await home.ok(".", "clone", "-q", url, "work");
    await race(Math.ceil(FEW / 3), async (at) => {
      await createBranch(left.context, named, { name: "side" });
      landed.add(await push(left, named, { ref: "refs/heads/side", files: change("side", at) }));
      await home.ok("work", "fetch", "-q", url, "side");
      await home.ok("work", "checkout", "-q", "FETCH_HEAD");
      await home.ok("work", "commit", "-q", "--allow-empty", "-m", `topic ${at}`);
      const pushing = () => home.git("work", "push", url, `HEAD:refs/heads/topic${at}`);
      const pushed = await overtaken({ proxies }, PUT, pushing, async () => {
        await deleteBranch(right.context, named, "side");
        await compact(third);
      });
      assertEquals(valueOf(pushed).status, 0, valueOf(pushed).err);
      landed.add(await home.ok("work", "rev-parse", "HEAD"));
      await check();
      await Deno.remove(join(home.dir, "cache"), { recursive: true });
      const cloning = () => home.git(".", "clone", "-q", url, `clone${at}`);
      const cloned = await overtaken({ proxies }, GET_BLOCKS, cloning, async () => {
        await compact(right);
        await sweep(inTwoDays(right), repositoryOf(right));
      });
      assertEquals(valueOf(cloned).status, 0, valueOf(cloned).err);
      assertEquals(await home.ok(`clone${at}`, "rev-parse", "HEAD"), await head());
      assertEquals(await home.ok(`clone${at}`, "fsck", "--strict", "--no-dangling"), "");
    });
  });

  it("a fold of a tail alone is seen by who leaned on what it left out", async () => {
    await createBranch(left.context, named, { name: "side" });
    await push(left, named, { ref: "refs/heads/side", files: { f: lines(2) } });
    const late = await overtaken(
      left,
      PUT,
      () =>
        push(left, named, {
          ref: "refs/heads/topic",
          from: "refs/heads/side",
          files: { f: `${lines(2)}more\n` },
        }),
      async () => {
        await deleteBranch(right.context, named, "side");
        await compactRepository(third.context, named);
      },
    );
    assertEquals(errorOf(late).code, "conflict.unled");
  });

  it("a fold that did not see the branch does not come over a push that did", async () => {
    await createBranch(left.context, named, { name: "side" });
    await push(left, named, { ref: "refs/heads/side", files: { f: lines(2), h: dense(20_000) } });
    const topic = { ref: "refs/heads/topic", from: "refs/heads/side", files: { f: "topic\n" } };
    const late = await holdAt(left, PUT, () => push(left, named, topic));
    await deleteBranch(right.context, named, "side");
    const folding = await holdAt(third, PUT, () => compactRepository(third.context, named));
    const pushed = await late.finish();
    const folded = await folding.finish();
    assertEquals([pushed.status, folded.status], ["rejected", "fulfilled"]);
    assertEquals(errorOf(pushed).code, "conflict.unled");
  });

  it("a fold that did not see the branch does not come over a tag of it", async () => {
    await createBranch(left.context, named, { name: "side" });
    const side = await push(left, named, { ref: "refs/heads/side", files: { h: dense(20_000) } });
    const tag = { name: "v1", rev: side };
    const late = await holdAt(left, PUT, () => createTag(left.context, named, tag));
    await deleteBranch(right.context, named, "side");
    const folding = await holdAt(third, PUT, () => compactRepository(third.context, named));
    await late.finish();
    await folding.finish();
    await check();
  });
});
