import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { call } from "../../core/command.ts";
import { commitChanges } from "../../core/forge/commit.ts";
import { createRepository } from "../../core/forge/create.ts";
import { ByteCache } from "../../core/git/cache.ts";
import { MultiPackIndex } from "../../core/git/midx.ts";
import { openContexts } from "../../core/open.ts";
import { midxOf } from "../../core/mirror/cover.ts";
import { packsOf } from "../../core/mirror/place.ts";
import { loadCommand } from "../../core/table.ts";
import { fsck, git } from "../support/git.ts";
import { type GitHome, openGitHome } from "../support/git_home.ts";
import { type Network, openNetwork } from "../support/network.ts";

describe("a copy of many small packs", () => {
  let network: Network;
  let home: GitHome;
  let path: string;
  let repo: string;
  const commits: string[] = [];
  const notes: string[] = [];

  beforeAll(async () => {
    network = await openNetwork();
    home = await openGitHome(network);
    const repository = await createRepository(await home.open("write"), { name: "app" });
    repo = repository.spelled;
    path = repository.mirror.path;
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
  });

  async function commit(count: number): Promise<void> {
    for (let left = count; left > 0; left--) {
      const number = commits.length;
      const made = await commitChanges(
        await home.open("write"),
        { owner: home.account.did, name: "app" },
        {
          message: `commit ${number}`,
          changes: [{ path: `file${number}`, content: `text ${number}\n`.repeat(9) }],
        },
      );
      commits.push(made.commit ?? "");
    }
  }

  /** Asks as a new process would, from the copy alone. */
  async function ask(name: string, args: object): Promise<unknown> {
    notes.splice(0);
    const open = openContexts({ maxAge: 3_600_000 }, home.env, {
      signal: new AbortController().signal,
      note: (text) => void notes.push(text),
      progress: () => {},
    });
    return await call(await loadCommand(name), { repo, ...args }, open);
  }

  async function assertAllRead(): Promise<void> {
    for (const [number, rev] of commits.entries()) {
      const read = await ask("repo read", { path: `file${number}`, rev }) as { text: string };
      assertEquals(read.text, `text ${number}\n`.repeat(9));
    }
  }

  function packs(): string[] {
    return readdirSync(packsOf(path)).filter((name) => name.endsWith(".idx"))
      .map((name) => name.slice(0, -4));
  }

  function covered(): readonly string[] {
    const index = new MultiPackIndex(midxOf(path), new ByteCache(0), 0);
    index.close();
    return index.packs;
  }

  it("gets one index over them, which git takes as its own", async () => {
    await commit(8);
    assert(!existsSync(midxOf(path)));
    await commit(4);
    assertEquals(covered().length, 9);
    assertEquals(packs().length, 12);
    git(path, "multi-pack-index", "verify");
    fsck(path);
    await assertAllRead();
    assertEquals(readdirSync(path).filter((name) => name.endsWith(".tmp")), []);
  });

  it("gets another when as many have come again", async () => {
    await commit(8);
    assertEquals(covered().length, 18);
    git(path, "multi-pack-index", "verify");
    await assertAllRead();
  });

  it("gives its answers without it where that is damaged", async () => {
    const whole = readFileSync(midxOf(path));
    for (let at = 12; at < whole.length; at += 61) {
      writeFileSync(midxOf(path), whole.with(at, (whole[at] ?? 0) ^ 0x15));
      const number = at % commits.length;
      const read = await ask("repo read", { path: `file${number}` }) as { text: string };
      assertEquals(read.text, `text ${number}\n`.repeat(9));
      assertEquals(notes, []);
    }
    rmSync(midxOf(path), { force: true });
    await assertAllRead();
    await commit(1);
    assertEquals(covered().length, packs().length);
  });

  it("is made anew, for git reads it too, when it names a pack that is not there or cannot be read", async () => {
    const whole = readFileSync(midxOf(path));
    const [name = ""] = covered();
    const other = name.replace(/.$/, (digit) => digit === "0" ? "1" : "0");
    const broken = [
      Uint8Array.from(whole.toString("latin1").replace(name, other), (c) => c.charCodeAt(0)),
      whole.subarray(0, 100),
    ];
    for (const bytes of broken) {
      writeFileSync(midxOf(path), bytes);
      await commit(1);
      git(path, "multi-pack-index", "verify");
      fsck(path);
      await assertAllRead();
    }
    assertEquals(covered().length, packs().length);
  });

  it("loses it with the packs that are joined, and git finds all the same", async () => {
    await commit(52 - packs().length);
    assert(packs().length <= 10, `${packs().length} packs`);
    for (const name of existsSync(midxOf(path)) ? covered() : []) assert(packs().includes(name));
    fsck(path);
    await assertAllRead();
  });
});
