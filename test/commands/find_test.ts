import { assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { openTwins, type Twins } from "../support/both.ts";
import type { Home } from "../support/home.ts";
import { openNetwork } from "../support/network.ts";

describe("finding", () => {
  let twins: Twins;
  let first = "";
  let second = "";
  const mine = (more: object = {}) => (home: Home) => ({
    repo: `${home.account.handle}/app`,
    ...more,
  });

  beforeAll(async () => {
    twins = await openTwins(await openNetwork());
    await twins.both("repo create", { name: "app" });
    const write = async (message: string, content: string) => {
      const changes = [{ path: "src/a.ts", content }, { path: "b.md", content: "# Two\n" }];
      return (await twins.both("repo commit", mine({ message, changes }))).commit;
    };
    first = await write("Begin", "one\ntwo\nthree\nfour\n");
    second = await write("Change two", "one\ntwo and a half\nthree\nfour\n");
  });
  afterAll(async () => {
    await twins[Symbol.asyncDispose]();
  });

  it("gives the lines that hold a string", async () => {
    assertEquals(await twins.both("repo search", mine({ text: "TWO" })), {
      commit: second,
      matches: [
        { path: "b.md", line: 1, text: "# Two" },
        { path: "src/a.ts", line: 2, text: "two and a half" },
      ],
    });
    assertEquals(await twins.both("repo search", mine({ text: "half", rev: first })), {
      commit: first,
      matches: [],
    });
  });

  it("gives the lines around them, and says where to go on", async () => {
    const asked = { text: "o", path: "src/*.ts", context: 1, limit: 1 };
    const page = await twins.both("repo search", mine(asked));
    assertEquals(page, {
      commit: second,
      runs: [{ path: "src/a.ts", start: 1, end: 2, matches: [1], text: "one\ntwo and a half" }],
      more: true,
      cursor: page.cursor,
    });
    const { runs } = await twins.both("repo search", mine({ ...asked, cursor: page.cursor }));
    assertEquals(runs.map(({ matches }: { matches: number[] }) => matches), [[2]]);
    const { out } = await twins.left.cli([
      "repo",
      "search",
      `${twins.left.account.handle}/app`,
      "half",
      "--context=1",
    ]);
    assertEquals(out, "src/a.ts-1-one\nsrc/a.ts:2:two and a half\nsrc/a.ts-3-three\n");
  });

  it("says who changed lines last", async () => {
    const { runs, ...rest } = await twins.both("repo blame", mine({ path: "src/a.ts" }));
    assertEquals(rest, { commit: second, path: "src/a.ts" });
    assertEquals(
      runs.map(({ sha, start, count, summary }: Record<string, unknown>) => [
        sha,
        start,
        count,
        summary,
      ]),
      [[first, 1, 1, "Begin"], [second, 2, 1, "Change two"], [first, 3, 2, "Begin"]],
    );
    assertEquals(runs[1].previous, { sha: first, path: "src/a.ts" });
    const some = await twins.both("repo blame", mine({ path: "src/a.ts", start: 3 }));
    assertEquals(some.runs.length, 1);
  });

  it("refuses what it cannot find in", async () => {
    const wrong = await twins.refuse("repo search", mine({ text: "a\nb" }));
    assertEquals(wrong.exit, 2);
    assertMatch(wrong.message, /one line/);
    assertEquals((await twins.refuse("repo search", mine({ text: "a", path: "no" }))).exit, 5);
    assertEquals((await twins.refuse("repo blame", mine({ path: "src" }))).exit, 5);
    assertEquals((await twins.refuse("repo blame", mine({ path: "b.md", start: 2 }))).exit, 2);
  });
});
