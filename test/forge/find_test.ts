import { assert, assertEquals, assertRejects } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { NotFoundError, UsageError } from "../../core/errors.ts";
import { never } from "../../core/background.ts";
import { readBlame } from "../../core/forge/blame.ts";
import { commitChanges } from "../../core/forge/commit.ts";
import { createRepository } from "../../core/forge/create.ts";
import { openReading, type Reading } from "../../core/forge/reading.ts";
import { searchText } from "../../core/forge/search.ts";
import { utf8 } from "../../core/git/bytes.ts";
import { git, sampleText } from "../support/git.ts";
import { type Machine, openMachine } from "../support/machine.ts";
import { type Network, openNetwork } from "../support/network.ts";

describe("finding in a repository", () => {
  let network: Network;
  let machine: Machine;
  let reading: Reading;
  const commits: string[] = [];
  const context = {
    signal: new AbortController().signal,
    note: (text: string) => void notes.push(text),
    now: () => new Date(),
    later: never,
  };
  const notes: string[] = [];
  const long = sampleText(138_000).split("\n");

  beforeAll(async () => {
    network = await openNetwork();
    machine = await openMachine(network, { name: "finder" });
    const named = { owner: machine.account.did, name: "app" };
    await createRepository(await machine.open("write"), { name: "app" });
    long[2000] = "  return findNeedle(haystack);";
    const commit = async (message: string, changes: { path: string; content: string }[]) => {
      const made = await commitChanges(await machine.open("write"), named, { message, changes });
      commits.push(made.commit);
    };
    await commit("start\n\nwith a body", [
      { path: "long.ts", content: long.join("\n") },
      { path: "src/a.ts", content: "one\ntwo\nthree\nfour\nfive\n" },
      { path: "src/b.md", content: `é ${"x".repeat(5000)} Two ${"y".repeat(5000)}\r\n` },
    ]);
    await commit("change two", [{ path: "src/a.ts", content: "one\nTWO\nthree\nfour\nfive\n" }]);
    await commit("add six", [{ path: "src/a.ts", content: "one\nTWO\nthree\nfour\nfive\nsix\n" }]);
    reading = await openReading(await machine.open("read"), named);
  });
  afterAll(async () => {
    await machine[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
  });

  it("costs few bytes for one line of a long file", async () => {
    const asked = { text: "FINDneedle", path: "long.ts", limit: 100 };
    const lines = await searchText(context, reading, asked);
    assertEquals(lines, {
      commit: commits[2] ?? "",
      matches: [{ path: "long.ts", line: 2001, text: "  return findNeedle(haystack);" }],
    });
    const runs = await searchText(context, reading, { ...asked, context: 2 });
    assertEquals(runs, {
      commit: commits[2] ?? "",
      runs: [{
        path: "long.ts",
        start: 1999,
        end: 2003,
        matches: [2001],
        text: long.slice(1998, 2003).join("\n"),
      }],
    });
    const bytes = utf8(JSON.stringify(runs)).length;
    Deno.stderr.writeSync(utf8(`    one line of a 138 KB file: ${bytes} bytes\n`));
    assert(bytes <= 500, `${bytes} bytes`);
    assertEquals(notes, []);
  });

  it("cuts a long line around what was found", async () => {
    const found = await searchText(context, reading, { text: "two", path: "*.md", limit: 9 });
    const [{ text = "", ...rest } = {}] = found.matches ?? [];
    assertEquals(rest, { path: "src/b.md", line: 1 });
    assert(/^…x+ Two y+…$/.test(text) && text.length === 302, text);
  });

  it("goes on where a page ended, at the commit it began at", async () => {
    const asked = { text: "o", path: "src/a.ts", limit: 2 };
    const first = await searchText(context, reading, asked);
    assertEquals(first.matches?.map(({ line }) => line), [1, 2]);
    const { cursor } = first;
    const second = await searchText(context, reading, { ...asked, rev: "no-such", cursor });
    assertEquals(second.matches?.map(({ line }) => line), [4]);
    assertEquals([second.commit, second.more], [first.commit, undefined]);
    const runs = await searchText(context, reading, { ...asked, context: 1 });
    assertEquals(runs.runs?.map(({ start, end, matches }) => ({ start, end, matches })), [
      { start: 1, end: 3, matches: [1, 2] },
    ]);
  });

  it("says what cannot be searched", async () => {
    const refused = (asked: { text: string; path?: string; cursor?: string }) =>
      searchText(context, reading, { limit: 10, ...asked });
    await assertRejects(() => refused({ text: "a\nb" }), UsageError, "one line");
    await assertRejects(() => refused({ text: "a", path: "none" }), NotFoundError, "no none");
    await assertRejects(() => refused({ text: "a", cursor: "x" }), UsageError, "cursor");
    assertEquals((await refused({ text: "a", path: "none/*" })).matches, []);
  });

  it("blames the lines of a file as git does, in runs", async () => {
    const asked = { path: "src/a.ts", limit: 100 };
    const { commit, path, runs } = await readBlame(context, reading, asked);
    assertEquals([commit, path], [commits[2], "src/a.ts"]);
    const told = (at: number, parent?: number) => ({
      sha: commits[at],
      summary: ["start", "change two", "add six"][at],
      previous: parent === undefined ? undefined : { sha: commits[parent], path: "src/a.ts" },
    });
    assertEquals(
      runs.map(({ start, count, sha, summary, previous }) => ({
        start,
        count,
        sha,
        summary,
        previous,
      })),
      [
        { start: 1, count: 1, ...told(0) },
        { start: 2, count: 1, ...told(1, 0) },
        { start: 3, count: 3, ...told(0) },
        { start: 6, count: 1, ...told(2, 1) },
      ],
    );
    const shown = git(
      reading.repository.mirror.path,
      "blame",
      "--porcelain",
      "main",
      "--",
      "src/a.ts",
    );
    assertEquals(shown.match(/^author .*/m)?.[0], `author ${runs[0]?.author.name}`);
    assert(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(runs[0]?.author.date ?? ""));
  });

  it("blames only the lines asked for, and page by page", async () => {
    const blame = (
      asked: { start?: number; end?: number; cursor?: string | undefined },
      limit = 100,
    ) => readBlame(context, reading, { path: "src/a.ts", limit, ...asked });
    const linesOf = async (asked: { start?: number; end?: number }) =>
      (await blame(asked)).runs.map(({ start, count }) => [start, count]);
    assertEquals(await linesOf({ start: 2 }), [[2, 1]]);
    assertEquals(await linesOf({ start: 4, end: 6 }), [[4, 2], [6, 1]]);
    assertEquals(await linesOf({ start: 5, end: 900 }), [[5, 1], [6, 1]]);
    const first = await blame({}, 3);
    assertEquals([first.runs.length, first.more], [3, true]);
    const second = await blame({ cursor: first.cursor }, 3);
    assertEquals(second.runs.map(({ start }) => start), [6]);
    assertEquals(second.more, undefined);
    await assertRejects(() => blame({ start: 7 }), UsageError, "has 6 lines");
    await assertRejects(() => blame({ start: 3, end: 2 }), UsageError, "before start");
    await assertRejects(
      () => readBlame(context, reading, { path: "src", limit: 1 }),
      NotFoundError,
      "is a directory",
    );
  });
});
