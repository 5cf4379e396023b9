import { assert, assertEquals, assertRejects } from "@std/assert";
import { afterAll, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { never } from "../../core/background.ts";
import { readBlame } from "../../core/forge/blame.ts";
import { readDiff } from "../../core/forge/diff.ts";
import { type Reading, treeOf } from "../../core/forge/reading.ts";
import { quotePath } from "../../core/git/path.ts";
import { countLines } from "../../core/git/text.ts";
import { isGitlink } from "../../core/git/tree.ts";
import { readObject, walkTree } from "../../core/git/walk.ts";
import { indexesOf } from "../../core/mirror/indexes.ts";
import {
  buildLongRepo,
  git,
  gitBytes,
  gitLines,
  initRepo,
  type TempDir,
  tempDir,
} from "../support/git.ts";
import { makeHistory } from "../support/history.ts";
import { localPath, openLocal } from "../support/reading.ts";

const signal = new AbortController().signal;
const notes: string[] = [];
const context = {
  signal,
  now: () => new Date(),
  note: (text: string) => void notes.push(text),
  later: never,
};

/** One question. */
type Ask = (reading: Reading) => Promise<unknown>;

const answersIn = (cacheDir: string) => join(localPath(cacheDir), "answers");

describe("answers that were kept", () => {
  let temp: TempDir;

  beforeAll(() => {
    temp = tempDir();
  });
  afterAll(() => temp[Symbol.dispose]());
  beforeEach(() => void notes.splice(0));

  const filesIn = async (cacheDir: string) => await readdir(answersIn(cacheDir)).catch(() => []);

  /**
   * Asks each question of a process that has nothing, twice of one that keeps answers for the next question, and of one
   * that finds them in files; `between` is run before that.
   */
  async function checkEqual(
    cacheDir: string,
    asked: readonly Ask[],
    between = () => Promise.resolve(),
  ): Promise<void> {
    const folder = answersIn(cacheDir);
    const expected: unknown[] = [];
    for (const ask of asked) {
      await rm(folder, { recursive: true, force: true });
      using reading = openLocal(cacheDir);
      expected.push(await ask(reading));
    }
    await rm(folder, { recursive: true, force: true });
    using warm = openLocal(cacheDir);
    for (let times = 0; times < 2; times++) {
      for (const [at, ask] of asked.entries()) assertEquals(await ask(warm), expected[at]);
    }
    await between();
    for (const [at, ask] of asked.entries()) {
      using cold = openLocal(cacheDir);
      assertEquals(await ask(cold), expected[at]);
    }
  }

  function blames(rev: string, path: string, lines: number): Ask[] {
    const ask =
      (more: { start?: number; end?: number; cursor?: string; limit?: number }): Ask => (reading) =>
        readBlame(context, reading, { rev, path, limit: 1000, ...more });
    const middle = Math.ceil(lines / 2);
    return [
      ask({ start: 1, end: 1 }),
      ask({ start: middle }),
      ask({ start: middle, end: lines + 9 }),
      ask({}),
      ask({ start: 1, end: middle }),
      ask({ limit: 1 }),
      ask({ limit: 2, cursor: `${rev}.${middle}` }),
    ];
  }

  it("are to the byte what is found out anew, of a history with all that git has", async () => {
    const cacheDir = join(temp.path, "odd");
    const dir = localPath(cacheDir);
    await mkdir(dir, { recursive: true });
    makeHistory(dir, 11, 160);
    const tips = gitLines(dir, "rev-list", "--all").filter((_, at) => at % 20 === 0);
    using reading = openLocal(cacheDir);
    const { objects } = reading;
    const asked: Ask[] = [];
    for (const [at, head] of tips.entries()) {
      const base = tips[(at * 3 + 1) % tips.length] ?? head;
      const files = [...walkTree(objects, treeOf(objects, head))].filter(({ mode }) =>
        !isGitlink(mode)
      )
        .map(({ path, oid }) => ({
          path: quotePath(path),
          lines: countLines(readObject(objects, oid, "blob")),
        }));
      const some = files.slice(0, 2).map(({ path }) => path);
      for (const paths of [undefined, ["."], ["src"], ["src", "doc/"], some, ["none"]]) {
        asked.push((reading) => readDiff(context, reading, { base, head, paths }));
      }
      for (const { path, lines } of files.slice(0, 4)) {
        if (lines > 0) asked.push(...blames(head, path, lines));
      }
    }
    await checkEqual(cacheDir, asked);
  });

  it("are to the byte what is found out anew, from files that hold them, as the index grows", async () => {
    const cacheDir = join(temp.path, "long");
    const dir = localPath(cacheDir);
    await mkdir(dir, { recursive: true });
    buildLongRepo(dir, { commits: 600, files: 60 });
    git(dir, "branch", "side", "main~120");
    git(dir, "tag", "old", "main~500");
    const diff = (base: string, head?: string, paths?: string[]): Ask => (reading) =>
      readDiff(context, reading, { base, head, paths });
    const path = "dir3/sub3/file3.ts";
    const tip = git(dir, "rev-parse", "main");
    const asked = [
      diff("old"),
      diff("old", "main", ["."]),
      diff("old", "side", ["dir1", "dir2"]),
      diff("main", "side"),
      diff("side", "main", ["."]),
      diff("side", "main", ["dir2", "dir1"]),
      diff("main"),
      ...blames(tip, path, 40),
      ...blames(git(dir, "rev-parse", "main~30"), path, 40),
      ...blames(git(dir, "rev-parse", "side"), "dir4/sub4/file4.ts", 20),
    ];
    await checkEqual(cacheDir, asked, async () => {
      const kept = (await filesIn(cacheDir)).length;
      assert(kept >= 10, `${kept} files`);
      using reading = openLocal(cacheDir);
      await indexesOf(dir, reading.objects).build(reading.view, undefined, signal);
    });
  });

  it("read no file of the repository but the commits they name", async () => {
    const cacheDir = join(temp.path, "long");
    const ask = (reading: Reading) =>
      readDiff(context, reading, { base: "old", head: "main", paths: ["."] });
    using first = openLocal(cacheDir);
    const expected = await ask(first);
    using reading = openLocal(cacheDir);
    const read: string[] = [];
    const { objects } = reading;
    const counted = {
      ...objects,
      has: objects.has.bind(objects),
      info: objects.info.bind(objects),
      find: objects.find.bind(objects),
      read(oid: string) {
        read.push(oid);
        return objects.read(oid);
      },
    };
    assertEquals(await ask({ ...reading, objects: counted }), expected);
    assert(read.length <= 3, `${read.length} objects`);
  });

  it("are not those that were cut short or given up", async () => {
    const cacheDir = join(temp.path, "far");
    const dir = localPath(cacheDir);
    await mkdir(dir, { recursive: true });
    initRepo(dir, { bare: true });
    const stream: string[] = [];
    for (let mark = 1; mark <= 21_200; mark++) {
      stream.push(`commit refs/heads/main\nmark :${mark}\ncommitter A <a@a> ${1e9 + mark} +0000\n`);
      stream.push("data 1\nm\n", mark > 1 ? `from :${mark - 1}\n` : "");
      stream.push(
        `M 100644 inline ${mark === 1 ? "a" : "b"}\ndata 6\n${String(mark).padStart(5, "0")}\n\n`,
      );
    }
    gitBytes(dir, stream.join(""), "fast-import", "--quiet");
    const root = git(dir, "rev-list", "--max-parents=0", "main");
    const stopped = { ...context, signal: AbortSignal.abort() };
    using reading = openLocal(cacheDir);
    await assertRejects(() => readBlame(stopped, reading, { path: "a", limit: 1 }), DOMException);
    assertEquals(await filesIn(cacheDir), []);
    // Each answer indexes a thousand commits more, and looks at 20,000 that are not indexed.
    const blamed: boolean[] = [];
    for (let times = 0; times < 3; times++) {
      const { runs: [run] } = await readBlame(context, reading, { path: "a", limit: 1 });
      blamed.push(run?.sha === root);
      assertEquals((await filesIn(cacheDir)).length, times < 2 ? 0 : 1);
    }
    assertEquals(blamed, [false, false, true]);
    assertEquals(notes.length, 2);
  });
});
