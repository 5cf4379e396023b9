import { assert, assertEquals, assertRejects } from "@std/assert";
import { afterAll, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { never } from "../../core/background.ts";
import type { ReadContext } from "../../core/context.ts";
import { readBlame } from "../../core/forge/blame.ts";
import { readDiff } from "../../core/forge/diff.ts";
import { readLog } from "../../core/forge/log.ts";
import { searchText } from "../../core/forge/search.ts";
import { indexesOf } from "../../core/mirror/indexes.ts";
import { git, gitBytes, initRepo, type TempDir, tempDir } from "../support/git.ts";
import { localPath, openLocal } from "../support/reading.ts";

const COMMITS = 3000;
const FILES = 200;

/** A server whose clock goes on by a millisecond each time it is looked at, and whose indexes are never on their way. */
function openServer(signal = new AbortController().signal) {
  let time = 0;
  const notes: string[] = [];
  const context: Pick<ReadContext, "later" | "note" | "now" | "signal"> = {
    signal,
    now: () => new Date(time++),
    note: (text) => void notes.push(text),
    later: () => true,
  };
  return { context, notes };
}

describe("a long answer", () => {
  let temp: TempDir;
  let cacheDir: string;

  beforeAll(async () => {
    temp = tempDir();
    cacheDir = join(temp.path, "long");
    const dir = localPath(cacheDir);
    await mkdir(dir, { recursive: true });
    initRepo(dir, { bare: true });
    const data = (text: string) => `data ${text.length}\n${text}\n`;
    const file = (path: string, text: string) => `M 100644 inline ${path}\n${data(text)}`;
    const stream: string[] = [];
    for (let mark = 1; mark <= COMMITS; mark++) {
      stream.push(`commit refs/heads/main\nmark :${mark}\ncommitter N <n@e> ${mark} +0000\n`);
      stream.push(data(`m${mark}`), mark > 1 ? `from :${mark - 1}\n` : "");
      if (mark % 900 === 3) stream.push(file("rare", `${mark}`));
      stream.push(file(`d/hot${mark % FILES}`, `text ${mark}\n`));
    }
    gitBytes(dir, stream.join(""), "fast-import", "--quiet");
  });
  afterAll(() => temp[Symbol.dispose]());
  beforeEach(async () => {
    for (const name of ["graph.msgpack", "search.msgpack", "answers"]) {
      await rm(join(localPath(cacheDir), name), { recursive: true, force: true });
    }
  });

  it("is cut while the index is on its way, says so, and goes on to all that git has", async () => {
    using reading = openLocal(cacheDir);
    const { context, notes } = openServer();
    const first = await readLog(context, reading, { path: "rare", limit: 50 });
    assertEquals(notes.length, 1);
    assert(notes[0]?.includes("go on with the cursor"));
    assertEquals(first.more, true);
    const { mirror: { path } } = reading.repository;
    await indexesOf(path, reading.objects).build(reading.view, undefined, context.signal);
    const rest = await readLog(context, reading, {
      path: "rare",
      limit: 50,
      cursor: first.cursor ?? "",
    });
    assertEquals(notes.length, 1);
    assertEquals(rest.more, undefined);
    assertEquals(
      [...first.commits, ...rest.commits].map(({ sha }) => sha),
      git(path, "rev-list", "main", "--", "rare").split("\n"),
    );
  });

  it("says of nothing why it is nothing: a path that never was, or a glob", async () => {
    using reading = openLocal(cacheDir);
    const { mirror: { path } } = reading.repository;
    const { context, notes } = openServer();
    await indexesOf(path, reading.objects).build(reading.view, undefined, context.signal);
    await readLog(context, reading, { path: "*.ts", limit: 5 });
    await searchText(context, reading, { text: "text", path: "none/*", limit: 5 });
    assertEquals(notes, [
      "no commit has changed *.ts: a path is a file or a directory, no glob",
      "no file that can be searched is at none/*",
    ]);
    await readLog(context, reading, { path: "d", limit: 5 });
    await searchText(context, reading, { text: "nowhere", path: "d/*", limit: 5 });
    assertEquals(notes.length, 2);
  });

  it("is whole where nobody else waits", async () => {
    const { context, notes } = openServer();
    using reading = openLocal(cacheDir);
    const { commits, more } = await readLog({ ...context, later: never }, reading, {
      path: "rare",
      limit: 50,
    });
    assertEquals([commits.length, more, notes], [4, undefined, []]);
  });

  for (
    const [what, ask] of [
      ["a log", (context, reading) => readLog(context, reading, { path: "rare", limit: 50 })],
      ["a blame", (context, reading) => readBlame(context, reading, { path: "rare", limit: 50 })],
      ["a search", (context, reading) => searchText(context, reading, { text: "no", limit: 50 })],
      ["a diff", (context, reading) => readDiff(context, reading, { base: "main~1000" })],
    ] as const satisfies readonly [
      string,
      (
        context: ReturnType<typeof openServer>["context"],
        reading: ReturnType<typeof openLocal>,
      ) => Promise<unknown>,
    ][]
  ) {
    it(`lets others be answered: ${what}`, async () => {
      using reading = openLocal(cacheDir);
      const { context } = openServer();
      const ended: string[] = [];
      await Promise.all([
        ask(context, reading).then(() => ended.push("long")),
        readLog(context, reading, { limit: 5 }).then(() => ended.push("short")),
      ]);
      assertEquals(ended, ["short", "long"]);
    });

    it(`ends when nobody waits for it: ${what}`, async () => {
      using reading = openLocal(cacheDir);
      const controller = new AbortController();
      const { context } = openServer(controller.signal);
      const answer = ask(context, reading);
      controller.abort(new Error("gone"));
      await assertRejects(() => answer, Error, "gone");
    });
  }
});
