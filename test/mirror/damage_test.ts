import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { existsSync } from "node:fs";
import { cp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AnyCommand, call } from "../../core/command.ts";
import mirrorCommands from "../../core/commands/mirror.ts";
import findCommands from "../../core/commands/repo_find.ts";
import readCommands from "../../core/commands/repo_read.ts";
import { CorruptError, KnotlessError } from "../../core/errors.ts";
import { commitChanges } from "../../core/forge/commit.ts";
import { createRepository } from "../../core/forge/create.ts";
import { CommitGraph } from "../../core/git/graph.ts";
import { compactGraph } from "../../core/git/graph_compact.ts";
import { growGraph } from "../../core/git/graph_grow.ts";
import { openStore } from "../../core/git/store.ts";
import { saveGraph } from "../../core/mirror/graph_file.ts";
import { fsck, git } from "../support/git.ts";
import { type GitHome, openGitHome } from "../support/git_home.ts";
import { type Network, openNetwork } from "../support/network.ts";

const commands: AnyCommand[] = [...readCommands, ...findCommands, ...mirrorCommands];
const DAMAGED = /^the copy of at:.* on this machine was damaged: it is made again$/;

describe("a copy that is damaged on this machine", () => {
  let network: Network;
  let home: GitHome;
  let path: string;
  let url: string;
  let repo: string;
  let good: string;
  const notes: string[] = [];

  beforeAll(async () => {
    network = await openNetwork();
    home = await openGitHome(network);
    const context = await home.open("write");
    const repository = await createRepository(context, { name: "app" });
    repo = repository.spelled;
    path = repository.mirror.path;
    url = `knotless://${repo}`;
    for (const [at, content] of ["one\n", "two\n", "three\n".repeat(500)].entries()) {
      await commitChanges(context, { owner: home.account.did, name: "app" }, {
        message: `commit ${at}`,
        changes: [{ path: `dir/file${at}.txt`, content }],
      });
    }
    await ask("repo mirror");
    good = join(home.dir, "good");
    await cp(path, good, { recursive: true });
  });

  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
  });

  /** Asks as a new process would. */
  async function ask(name: string, args: object = {}, globals: object = {}): Promise<unknown> {
    notes.splice(0);
    const command = commands.find((one) => one.name === name);
    assert(command);
    const { openContexts } = await import("../../core/open.ts");
    const open = openContexts(globals, home.env, {
      signal: new AbortController().signal,
      note: (text) => void notes.push(text),
      progress: () => {},
    });
    return await call(command, { repo, ...args }, open);
  }

  async function restore(): Promise<void> {
    await rm(path, { recursive: true, force: true });
    await cp(good, path, { recursive: true });
  }

  async function packFiles(): Promise<string[]> {
    const dir = join(good, "objects", "pack");
    return (await readdir(dir)).sort().map((name) => join("objects", "pack", name));
  }

  async function flip(file: string, at: number): Promise<void> {
    const bytes = await readFile(join(path, file));
    bytes[at] = (bytes[at] ?? 0) ^ 0x55;
    await writeFile(join(path, file), bytes);
  }

  /** What commands answer, in an order in which each may be the first to notice. */
  const questions = [
    ["repo log", {}],
    ["repo read", { path: "dir/file0.txt" }],
    ["repo read", { path: "dir/file1.txt" }],
    ["repo read", { path: "dir/file2.txt" }],
    ["repo search", { text: "two" }],
    ["repo log", { path: "dir/file1.txt" }],
    ["repo blame", { path: "dir/file2.txt" }],
  ] as const;

  async function answers(globals: object = {}): Promise<unknown[]> {
    const said: unknown[] = [];
    for (const [name, args] of questions) said.push(await ask(name, args, globals));
    return said;
  }

  it("answers right wherever a byte of a pack or an index is another, and repo mirror heals it", async () => {
    const right = await answers();
    for (const file of await packFiles()) {
      const { length } = await readFile(join(good, file));
      const places = [5, 9, 13, 0.3 * length, 0.5 * length, 0.7 * length, length - 45, length - 1];
      for (const place of places.map(Math.floor)) {
        await restore();
        await flip(file, place);
        for (const globals of [{}, { refresh: true }]) {
          assertEquals(await answers(globals), right, `${file} at ${place}`);
        }
        await ask("repo mirror");
        fsck(path);
      }
    }
  });

  it("says once that it was damaged, and is then whole", async () => {
    await restore();
    for (const file of await packFiles()) await truncate(join(path, file), 100);
    await ask("repo log");
    assertEquals(notes.length, 1, notes.join("\n"));
    assertMatch(notes[0] ?? "", DAMAGED);
    fsck(path);
    await ask("repo log");
    assertEquals(notes, []);
  });

  it("is made again when files are gone, empty or garbage", async () => {
    const right = await answers();
    const [anIdx = "", aPack = ""] = await packFiles();
    const others = ["knotless.json", "packed-refs", "HEAD", "graph.msgpack", "search.msgpack"];
    for (const file of [anIdx, aPack, ...others]) {
      for (const bytes of [undefined, "", "garbage\n".repeat(100)]) {
        await restore();
        await (bytes === undefined
          ? rm(join(path, file), { force: true })
          : writeFile(join(path, file), bytes));
        assertEquals(await answers({ refresh: true }), right, file);
        fsck(path);
      }
    }
  });

  it("answers right beside an index that is damaged, and takes that away", async () => {
    await restore();
    const right = await answers();
    const store = openStore(path);
    const graph = new CommitGraph(store);
    for (const _ of growGraph(graph, [git(path, "rev-parse", "main")]));
    await saveGraph(path, compactGraph(graph));
    store.close();
    const { length } = await readFile(join(path, "graph.msgpack"));
    // The dates of the commits: without a checksum they would only be in another order.
    await flip("graph.msgpack", length - 160);
    assertEquals(await answers(), right);
    assertEquals(existsSync(join(path, "graph.msgpack")), false);
    assertEquals(notes, []);
  });

  it("does not believe a state whose text was changed", async () => {
    const right = await answers();
    await restore();
    const file = join(path, "knotless.json");
    const state = JSON.parse(await readFile(file, "utf8"));
    const parent = git(path, "rev-parse", "main~1");
    state.refs[0][1] = parent;
    await writeFile(file, JSON.stringify(state));
    assertEquals(await answers(), right);
  });

  it("takes a commit", async () => {
    for (const file of (await packFiles()).filter((name) => name.endsWith(".idx"))) {
      await restore();
      await flip(file, 20);
      const context = await home.open("write");
      await commitChanges(context, { owner: home.account.did, name: "app" }, {
        message: "on a damaged copy",
        changes: [{ path: "again.txt", content: file }],
      });
      fsck(path);
    }
    await rm(good, { recursive: true });
    await cp(path, good, { recursive: true });
  });

  it("is an error offline that names the folder, which stays", async () => {
    await restore();
    for (const file of await packFiles()) if (file.endsWith(".idx")) await flip(file, 20);
    const error = await assertRejects(() => ask("repo log", {}, { offline: true }), CorruptError);
    assertEquals(error.code, "corrupt.copy");
    assert(String(error.hint).includes(path));
    assert(existsSync(join(path, "knotless.json")));
  });

  it("fails one git fetch and no second", async () => {
    for (const file of await packFiles()) {
      await restore();
      await flip(file, Math.floor((await readFile(join(good, file))).length / 2));
      const first = await home.git(".", "clone", "-q", url, "first");
      const { status, err } = first.status === 0
        ? first
        : await home.git(".", "clone", url, "first");
      assertEquals(status, 0, `${first.err}${err}`);
      assertEquals((await home.git("first", "fsck", "--full", "--strict")).status, 0);
      await rm(join(home.dir, "first"), { recursive: true });
    }
  });

  it("is not blamed for what is wrong elsewhere", async () => {
    await restore();
    const error = await assertRejects(() => ask("repo read", { path: "none" }), KnotlessError);
    assertEquals(error.code, "not_found.path");
    assertEquals(notes, []);
  });
});
