import { afterAll, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { WriteContext } from "../../core/context.ts";
import { KnotlessError } from "../../core/errors.ts";
import { type AskedChange, commitChanges } from "../../core/forge/commit.ts";
import { compactRepository } from "../../core/forge/compact.ts";
import { createRepository } from "../../core/forge/create.ts";
import { createBranch, createTag, deleteBranch, renameBranch } from "../../core/forge/refs.ts";
import { deleteRepository } from "../../core/forge/remove.ts";
import { findRepository, type Repository } from "../../core/forge/repository.ts";
import { renameRepository } from "../../core/forge/settings.ts";
import { git, tryGit } from "../support/git.ts";
import { binary } from "../support/binary.ts";
import { run } from "../support/home.ts";
import { type Machine, openMachine } from "../support/machine.ts";
import type { Network } from "../support/network.ts";
import { type Json, noise, type Owner } from "../support/owner.ts";
import { openProxied, type Proxied } from "../support/proxied.ts";
import type { NetworkProxies } from "../support/proxy.ts";

const PUT = "com.atproto.repo.putRecord";
const APPLY = "com.atproto.repo.applyWrites";
const GET_BLOB = "com.atproto.sync.getBlob";
const ONLINE = { offline: false, maxAge: 0 };

describe("two machines of one account at once", () => {
  let world: Proxied;
  let network: Network;
  let proxies: NetworkProxies;
  let left: Machine;
  let right: Machine;
  let owner: Owner;
  let number = 0;
  let name: string;
  let repository: Repository;

  beforeAll(async () => {
    world = await openProxied("racer");
    ({ network, proxies, owner } = world);
    left = await world.open();
    right = await world.open();
  });

  afterAll(async () => {
    await left[Symbol.asyncDispose]();
    await right[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    name = `app${number++}`;
    repository = await createRepository(await left.open("write"), { name });
  });

  const named = () => ({ owner: left.account.did, name });

  async function write(machine: Machine, changes: AskedChange[], branch?: string) {
    const context = await machine.open("write");
    return await commitChanges(context, named(), { message: "a change", changes, branch });
  }

  async function manifest(): Promise<Json> {
    return (await owner.get("dev.knotless.refs", repository.rkey)).value;
  }

  async function refs(): Promise<Record<string, string>> {
    return Object.fromEntries((await manifest()).refs.map(({ name, oid }: Json) => [name, oid]));
  }

  /** The pack records of the repository that its manifest does not list. */
  async function orphans(): Promise<string[]> {
    const { packs } = await manifest();
    const listed = new Set(packs.map(({ rkey }: Json) => rkey));
    const all = await owner.list("dev.knotless.pack");
    return all.filter(({ uri, value }) =>
      value.repo === repository.uri && !listed.has(uri.split("/").at(-1))
    ).map(({ uri }) => uri);
  }

  /** Reads the repository as a machine that never saw it, checks all of it, and gives its path. */
  async function readAnew<T>(look: (path: string) => T): Promise<T> {
    await using fresh = await openMachine(network, { account: left.account, login: false });
    const { mirror } = await findRepository(await fresh.open("read"), named());
    await mirror.latest();
    const { status, err } = tryGit(mirror.path, undefined, "fsck", "--full", "--strict");
    assertEquals(status, 0, err);
    return look(mirror.path);
  }

  /** Runs both so that each has decided before either's request of this method is passed on. */
  async function atOnce<A, B>(
    nsid: string,
    one: () => Promise<A>,
    other: () => Promise<B>,
  ): Promise<[PromiseSettledResult<A>, PromiseSettledResult<B>]> {
    proxies.pds.forget();
    let isOver = false;
    const both = (async () => {
      while (proxies.pds.count({ nsid }) < 2 && !isOver) {
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    })();
    using _ = proxies.pds.inject({ nsid, times: 2 }, { kind: "hold", until: both });
    const watch = <T>(work: Promise<T>) => work.finally(() => isOver = true);
    return await Promise.allSettled([watch(one()), watch(other())]);
  }

  /** Holds one's first request of this method until the other is done. */
  async function overtaken<A>(
    nsid: string,
    one: () => Promise<A>,
    other: () => Promise<unknown>,
  ): Promise<PromiseSettledResult<A>> {
    let release = () => {};
    const until = new Promise<void>((resolve) => release = resolve);
    using rule = proxies.pds.inject({ nsid, times: 1 }, { kind: "hold", until });
    const late = Promise.allSettled([one()]);
    while (rule.hits === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    await other();
    release();
    return (await late)[0];
  }

  function reasonOf(result: PromiseSettledResult<unknown>): KnotlessError {
    assertEquals(result.status, "rejected", JSON.stringify(result));
    const { reason } = result as PromiseRejectedResult;
    assert(reason instanceof KnotlessError, `${reason?.stack}`);
    return reason;
  }

  function failures(results: readonly PromiseSettledResult<unknown>[]): KnotlessError[] {
    return results.filter(({ status }) => status === "rejected").map(reasonOf);
  }

  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  const lines = Array.from({ length: 9 }, (_, i) => `line ${i}\n`).join("");
  const edit = (path: string, old: string, to: string): AskedChange => ({
    path,
    edits: [{ old, new: to }],
  });

  it("commit edits of two files, and both land", async () => {
    await write(left, [{ path: "a", content: lines }, { path: "b", content: lines }]);
    for (let round = 0; round < 5; round++) {
      const said = await atOnce(
        PUT,
        () => write(left, [edit("a", `line ${round}\n`, `left ${round}\n`)]),
        () => write(right, [edit("b", `line ${round}\n`, `right ${round}\n`)]),
      );
      assertEquals(failures(said), []);
      const answers = said.map((one) => one.status === "fulfilled" && one.value);
      assertEquals(answers.filter((one) => one && one.moved === true).length, 1);
    }
    await readAnew((path) => {
      assertEquals(git(path, "rev-list", "--count", "main"), "11");
      assertMatch(git(path, "show", "main:a"), /^(left \d\n){5}line 5/);
      assertMatch(git(path, "show", "main:b"), /^(right \d\n){5}line 5/);
    });
  });

  it("commit edits of one file, and both land where they fit", async () => {
    await write(left, [{ path: "a", content: lines }]);
    const said = await atOnce(
      PUT,
      () => write(left, [edit("a", "line 1", "left 1")]),
      () => write(right, [edit("a", "line 8", "right 8")]),
    );
    assertEquals(failures(said), []);
    const again = await atOnce(
      PUT,
      () => write(left, [edit("a", "line 5", "left 5")]),
      () => write(right, [edit("a", "line 5", "right 5")]),
    );
    assertEquals(failures(again).length, 1);
    await readAnew((path) => {
      assertMatch(git(path, "show", "main:a"), /left 1\n.*(left|right) 5\n.*right 8/s);
    });
  });

  it("commit content of one file, and one is told so and leaves nothing", async () => {
    await write(left, [{ path: "a", content: "before\n" }]);
    const bytes = [base64(noise(30_000)), base64(noise(30_000))];
    const said = await atOnce(
      PUT,
      () => write(left, [{ path: "a", base64: bytes[0] }]),
      () => write(right, [{ path: "a", base64: bytes[1] }]),
    );
    const [error, ...more] = failures(said);
    assertEquals([error?.exit, more.length], [6, 0]);
    assertMatch(error?.message ?? "", /^a changed between [0-9a-f]{40} and [0-9a-f]{40}$/);
    assertEquals(await orphans(), []);
    assertEquals(await readAnew((path) => git(path, "rev-list", "--count", "main")), "2");
  });

  it("seal the tail of what the other has added to: no record but the last stays", async () => {
    await write(left, [{ path: "a", content: "before\n" }]);
    const late = await overtaken(
      PUT,
      () => write(left, [{ path: "b", base64: base64(noise(30_000)) }]),
      () => write(right, [{ path: "c", content: "right\n" }]),
    );
    // The commit is made anew on the other's, and its first pack taken back.
    assertEquals(late.status, "fulfilled");
    await createBranch(await left.open("write"), named(), { name: "other" });
    await write(left, [{ path: "a", content: "for the tail\n" }]);
    const again = await overtaken(
      PUT,
      () => write(left, [{ path: "d", base64: base64(noise(30_000)) }]),
      () => write(right, [{ path: "e", content: "right\n" }], "other"),
    );
    assertEquals(again.status, "fulfilled");
    assertEquals(await orphans(), []);
    assertEquals((await manifest()).packs.length, 4);
  });

  it("make the first commit, and neither writes over the other's file", async () => {
    const said = await atOnce(
      PUT,
      () => write(left, [{ path: "a", content: "left\n" }]),
      () => write(right, [{ path: "b", content: "right\n" }]),
    );
    assertEquals(failures(said), []);
    assertEquals(await readAnew((path) => git(path, "ls-tree", "--name-only", "main")), "a\nb");

    name = `app${number++}`;
    repository = await createRepository(await left.open("write"), { name });
    const [error] = failures(
      await atOnce(
        PUT,
        () => write(left, [{ path: "a", content: "left\n" }]),
        () => write(right, [{ path: "a", content: "right\n" }]),
      ),
    );
    assertEquals(error?.exit, 6);
    assertEquals(await readAnew((path) => git(path, "rev-list", "--count", "main")), "1");
  });

  it("commit to two branches, and both land", async () => {
    await write(left, [{ path: "a", content: "before\n" }]);
    await createBranch(await left.open("write"), named(), { name: "other" });
    const said = await atOnce(
      PUT,
      () => write(left, [{ path: "a", content: "left\n" }], "main"),
      () => write(right, [{ path: "a", content: "right\n" }], "other"),
    );
    assertEquals(failures(said), []);
    await readAnew((path) => {
      assertEquals(git(path, "show", "main:a"), "left");
      assertEquals(git(path, "show", "other:a"), "right");
    });
  });

  it("delete a branch and commit to it: one of the two", async () => {
    await write(left, [{ path: "a", content: "before\n" }]);
    await createBranch(await left.open("write"), named(), { name: "other" });
    const late = await overtaken(
      PUT,
      () => write(left, [{ path: "a", content: "left\n" }], "other"),
      async () => void await deleteBranch(await right.open("write"), named(), "other"),
    );
    assertMatch(reasonOf(late).message, /there is no branch other/);
    assertEquals(Object.keys(await refs()), ["refs/heads/main"]);

    await createBranch(await left.open("write"), named(), { name: "other" });
    const removal = await overtaken(
      PUT,
      async () => await deleteBranch(await right.open("write"), named(), "other"),
      () => write(left, [{ path: "a", content: "left\n" }], "other"),
    );
    assertMatch(reasonOf(removal).message, /^other moved: it was \w{7}, it is now \w{7}$/);
    assertEquals(reasonOf(removal).exit, 6);
    assertEquals(await readAnew((path) => git(path, "show", "other:a")), "left");
  });

  it("rename the branch that the other commits to by default, which follows", async () => {
    await write(left, [{ path: "a", content: "before\n" }]);
    const late = await overtaken(
      PUT,
      () => write(left, [{ path: "a", content: "left\n" }]),
      async () =>
        void await renameBranch(await right.open("write"), named(), {
          branch: "main",
          name: "trunk",
        }),
    );
    assertEquals(late.status === "fulfilled" && late.value.branch, "trunk");
    assertEquals(Object.keys(await refs()), ["refs/heads/trunk"]);
    assertEquals(await readAnew((path) => git(path, "show", "HEAD:a")), "left");
  });

  it("rename the repository and commit to it, and both are done", async () => {
    const was = name;
    const late = await overtaken(
      PUT,
      () => write(left, [{ path: "a", content: "left\n" }]),
      async () => void await renameRepository(await right.open("write"), named(), `${was}-new`),
    );
    assertEquals(late.status, "fulfilled");
    for (const one of [was, `${was}-new`]) {
      name = one;
      assertEquals(await readAnew((path) => git(path, "show", "main:a")), "left");
    }
  });

  it("delete the repository and commit to it: nothing but what a sweep takes is left", async () => {
    const late = await overtaken(
      PUT,
      () =>
        write(left, [{
          path: "a",
          base64: base64(noise(30_000)),
        }]),
      async () => void await deleteRepository(await right.open("write"), named(), name),
    );
    assertEquals(reasonOf(late).exit, 5);
    for (const collection of ["repo", "refs", "name", "pack"]) {
      const left = await owner.list(`dev.knotless.${collection}`);
      const ours = left.filter(({ uri, value }) =>
        uri.endsWith(repository.rkey) || value.repo === repository.uri
      );
      assertEquals(ours, [], collection);
    }
  });

  describe("take one name", () => {
    /** The repositories of a name, and the one that the name leads to. */
    async function holders(name: string) {
      const all = await owner.list("dev.knotless.repo");
      const { value } = await owner.get("dev.knotless.name", name);
      return {
        uris: all.filter(({ value }) => value.name === name).map(({ uri }) => uri),
        leadsTo: value.repo,
      };
    }

    async function oneOf(taken: string, said: PromiseSettledResult<unknown>[]): Promise<void> {
      const errors = failures(said);
      assertEquals(errors.map(({ exit, code }) => [exit, code]), [[6, "conflict.exists"]]);
      assertMatch(errors[0]?.message ?? "", new RegExp(`/${taken} exists$`));
      const { uris, leadsTo } = await holders(taken);
      assertEquals(uris, [leadsTo]);
      const refs = (await owner.list("dev.knotless.refs")).length;
      assertEquals(refs, (await owner.list("dev.knotless.repo")).length);
    }

    const create = (machine: Machine, name: string) => async () =>
      await createRepository(await machine.open("write"), { name });
    const rename = (machine: Machine, from: string, to: string) => async () =>
      await renameRepository(
        await machine.open("write"),
        { owner: left.account.did, name: from },
        to,
      );

    it("that is free, by creating", async () => {
      const taken = `${name}-free`;
      await oneOf(taken, await atOnce(APPLY, create(left, taken), create(right, taken)));
    });

    it("that led elsewhere, by creating", async () => {
      await rename(left, name, `${name}-moved`)();
      await oneOf(name, await atOnce(APPLY, create(left, name), create(right, name)));
    });

    it("that led elsewhere, by creating and renaming", async () => {
      const second = `${name}-second`;
      await create(left, second)();
      await rename(left, name, `${name}-moved`)();
      await oneOf(name, await atOnce(APPLY, create(left, name), rename(right, second, name)));
    });

    it("that is free, by renaming", async () => {
      const second = `${name}-second`;
      await create(left, second)();
      const taken = `${name}-free`;
      await oneOf(
        taken,
        await atOnce(APPLY, rename(left, name, taken), rename(right, second, taken)),
      );
    });

    it("while the account writes elsewhere, which is no matter", async () => {
      const late = await overtaken(
        APPLY,
        create(left, `${name}-new`),
        () => write(right, [{ path: "a", content: "right\n" }]),
      );
      assertEquals(late.status, "fulfilled");
      assertEquals((await holders(`${name}-new`)).uris.length, 1);
    });
  });

  describe("compact", () => {
    /** Commits so much to a branch that it is a pack of its own. */
    async function fill(machine: Machine, path: string, branch?: string) {
      return await write(machine, [{ path, base64: base64(noise(20_000)) }], branch);
    }

    it("and sweep what a write of yesterday is about to name: the write sends it again", async () => {
      await fill(left, "a");
      const late = await overtaken(PUT, () => fill(left, "b"), async () => {
        const tomorrow = new Date(Date.now() + 25 * 60 * 60 * 1000);
        const context = { ...await right.open("write"), now: () => tomorrow };
        await compactRepository(context, named());
        assertEquals(await orphans(), []);
      });
      assertEquals(late.status, "fulfilled");
      assertEquals(await readAnew((path) => git(path, "ls-tree", "--name-only", "main")), "a\nb");
    });

    it("at once: one folds, the other is told so and leaves nothing", async () => {
      await fill(left, "a");
      await fill(left, "b");
      const compact = async (machine: Machine) =>
        await compactRepository(await machine.open("write"), named());
      const errors = failures(await atOnce(PUT, () => compact(left), () => compact(right)));
      assertEquals(errors.map(({ exit, code }) => [exit, code]), [[6, "conflict.folded"]]);
      const { retired } = await manifest();
      assertEquals((await orphans()).length, retired.length);
      assertEquals(await readAnew((path) => git(path, "ls-tree", "--name-only", "main")), "a\nb");
    });

    it("and seal a tail that leans on what no ref reaches: it stays whole", async () => {
      const text = Buffer.from(noise(9_000)).toString("hex");
      const content = `${text}\n`;
      await write(left, [{ path: "start", content: "start\n" }]);
      await createBranch(await left.open("write"), named(), { name: "x" });
      await fill(left, "pad", "x");
      await write(left, [{ path: "f", content }], "x");
      await fill(left, "more", "x");
      await write(left, [edit("f", text.slice(0, 20), "changed")], "x");
      await write(left, [{ path: "f", content: content.replace(text.slice(0, 20), "changed") }]);
      await deleteBranch(await left.open("write"), named(), "x");
      const { tail } = await manifest();
      assert(tail.some(({ needs }: Json) => needs.length > 0), "nothing is thin");
      const compact = async () => await compactRepository(await left.open("write"), named());
      const late = await overtaken(PUT, compact, async () => {
        await write(right, [{ path: "g", content: Buffer.from(noise(7_000)).toString("hex") }]);
        await write(right, [{ path: "h", content: Buffer.from(noise(7_000)).toString("hex") }]);
      });
      assert(late.status === "fulfilled" || reasonOf(late).code === "conflict.folded");
      const files = () => readAnew((path) => git(path, "ls-tree", "--name-only", "main"));
      assertEquals(await files(), "f\ng\nh\nstart");
      await compact();
      assertEquals(await files(), "f\ng\nh\nstart");
    });

    it("and commit: the commit lands on top of the fold", async () => {
      await fill(left, "a");
      await fill(left, "b");
      const late = await overtaken(
        PUT,
        () => write(left, [{ path: "c", content: "late\n" }]),
        async () => void await compactRepository(await right.open("write"), named()),
      );
      assertEquals(late.status, "fulfilled");
      assertEquals(
        await readAnew((path) => git(path, "ls-tree", "--name-only", "main")),
        "a\nb\nc",
      );
    });

    it("and branch off or tag what the fold has left out: it is decided again, and whole", async () => {
      await fill(left, "a");
      await createBranch(await left.open("write"), named(), { name: "gone" });
      const { commit } = await fill(left, "b", "gone");
      const context = await left.open("write");
      const ways: Record<string, () => Promise<unknown>> = {
        x: () => createBranch(context, named(), { name: "x", rev: commit }),
        v1: () => createTag(context, named(), { name: "v1", rev: commit }),
      };
      for (const [name, make] of Object.entries(ways)) {
        await write(right, [{ path: "c", content: `right ${name}\n` }]);
        const late = await overtaken(PUT, make, async () => {
          await deleteBranch(await right.open("write"), named(), "gone");
          await compactRepository(await right.open("write"), named());
        });
        assertEquals(late.status, "fulfilled", JSON.stringify(late));
        assertEquals(await readAnew((path) => git(path, "rev-parse", name)), commit);
        await createBranch(await left.open("write"), named(), { name: "gone", rev: commit });
        if (name === "x") await deleteBranch(await left.open("write"), named(), "x");
      }
    });

    it("and a rename of a branch that is pushed to: it has the newer commit", async () => {
      await fill(left, "a");
      await createBranch(await left.open("write"), named(), { name: "was" });
      const renaming = async () =>
        await renameBranch(await left.open("write"), named(), { branch: "was", name: "is" });
      let commit = "";
      const late = await overtaken(PUT, renaming, async () => {
        ({ commit } = await write(right, [{ path: "c", content: "right\n" }], "was"));
      });
      assertEquals(late.status, "fulfilled", JSON.stringify(late));
      const refs = await readAnew((path) => git(path, "for-each-ref", "--format=%(refname)"));
      assertEquals(refs, "refs/heads/is\nrefs/heads/main");
      assertEquals(await readAnew((path) => git(path, "rev-parse", "is")), commit);
    });

    it("and two who make one branch: the other is told that it exists", async () => {
      await fill(left, "a");
      const make = async (machine: typeof left) =>
        await createBranch(await machine.open("write"), named(), { name: "one" });
      const late = await overtaken(PUT, () => make(left), () => make(right));
      assertEquals([reasonOf(late).exit, reasonOf(late).code], [6, "conflict.exists"]);
    });

    it("and make again what only one copy still holds: it is sent again", async () => {
      await fill(left, "a");
      await createBranch(await left.open("write"), named(), { name: "gone" });
      await write(left, [{ path: "dir/b", content: lines }], "gone");
      await deleteBranch(await left.open("write"), named(), "gone");
      await compactRepository(await right.open("write"), named());
      await write(left, [{ path: "dir/b", content: lines }]);
      assertEquals(await readAnew((path) => git(path, "show", "main:dir/b")), lines.trimEnd());
    });

    it("while another reads what is folded and deleted: it reads the newer", async () => {
      await fill(left, "a");
      await fill(left, "b");
      await using reader = await world.open({ login: false });
      const read = async () => {
        const { mirror } = await findRepository(await reader.open("read"), named());
        return { path: mirror.path, ...await mirror.latest() };
      };
      const late = await overtaken("com.atproto.sync.getBlocks", read, async () => {
        const later = (hours: number, context: WriteContext) => ({
          ...context,
          now: () => new Date(Date.now() + hours * 60 * 60 * 1000),
        });
        await compactRepository(await right.open("write"), named());
        await compactRepository(later(25, await right.open("write")), named());
        assertEquals(await orphans(), []);
      });
      assert(late.status === "fulfilled", JSON.stringify(late));
      assertEquals(late.value.manifest.record.packs.length, 1);
      assertEquals(git(late.value.path, "ls-tree", "--name-only", "main"), "a\nb");
    });

    it("by themselves the newest packs when there are many, whoever made them", async () => {
      await write(left, [{ path: "large", base64: base64(noise(1_500_000)) }]);
      const [first] = (await manifest()).packs;
      assert(first);
      for (let i = 0; i < 24; i++) await fill(left, `file${i % 3}`);
      const { packs } = await manifest();
      assertEquals(packs[0], first);
      assert(packs.length < 6, `${packs.length} packs`);
      assertEquals(await readAnew((path) => git(path, "rev-list", "--count", "main")), "25");
    });
  });

  describe("of one machine", () => {
    it("sync one mirror, and fetch each pack once", async () => {
      await write(left, [{ path: "a", base64: base64(noise(200_000)) }]);
      await using reader = await world.open({ login: false });
      proxies.pds.forget();
      const views = await Promise.all(Array.from({ length: 4 }, async () => {
        const { mirror } = await findRepository(await reader.open("read"), named());
        return await mirror.view(ONLINE);
      }));
      for (const { refs, cid } of views) {
        assertEquals([refs.size, cid], [1, views[0]?.cid]);
      }
      assertEquals(proxies.pds.count({ nsid: GET_BLOB }), 1);
    });

    it("are eight that read a cold mirror, and all answer", async () => {
      await write(left, [{ path: "a", base64: base64(noise(200_000)) }, {
        path: "b",
        content: "text\n",
      }]);
      const program = await binary();
      await using reader = await world.open({ login: false });
      proxies.pds.forget();
      const repo = `${left.account.handle}/${name}`;
      const ended = await Promise.all(
        Array.from(
          { length: 8 },
          () => run(program, ["repo", "read", repo, "b"], { env: reader.env, cwd: reader.dir }),
        ),
      );
      for (const { status, out, err } of ended) assertEquals([status, out], [0, "text\n"], err);
      assertEquals(proxies.pds.count({ nsid: GET_BLOB }), 1);
    });
  });
});
