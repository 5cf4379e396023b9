import { assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { openTwins, type Twins } from "../support/both.ts";
import type { Home } from "../support/home.ts";
import { openNetwork } from "../support/network.ts";

describe("branches and tags", () => {
  let twins: Twins;
  let commit = "";
  const mine = (more: object = {}) => (home: Home) => ({
    repo: `${home.account.handle}/app`,
    ...more,
  });

  beforeAll(async () => {
    twins = await openTwins(await openNetwork());
    await twins.both("repo create", { name: "app" });
    ({ commit } = await twins.both(
      "repo commit",
      mine({ message: "Begin", changes: [{ path: "a", content: "a\n" }] }),
    ));
  });
  afterAll(async () => {
    await twins[Symbol.asyncDispose]();
  });

  it("are made at a rev", async () => {
    assertEquals(await twins.both("branch create", mine({ name: "topic/x" })), {
      branch: "topic/x",
      commit,
    });
    assertEquals(await twins.both("tag create", mine({ name: "v1", rev: "topic/x" })), {
      tag: "v1",
      sha: commit,
      commit,
    });
    const annotated = await twins.both("tag create", mine({ name: "v2", message: "Two" }));
    assertEquals([annotated.commit, annotated.sha === commit], [commit, false]);
    assertEquals(await twins.both("repo refs", mine()), {
      defaultBranch: "main",
      branches: [{ name: "main", sha: commit }, { name: "topic/x", sha: commit }],
      tags: [{ name: "v1", sha: commit }, { name: "v2", sha: annotated.sha, commit }],
      other: [],
    });
  });

  it("that exist are never moved", async () => {
    for (
      const [name, args] of [["branch create", { name: "main" }], ["tag create", {
        name: "v1",
      }]] as const
    ) {
      const { message, exit } = await twins.refuse(name, mine(args));
      assertEquals(exit, 6);
      assertMatch(message, /exists: it is at [0-9a-f]{40}$/);
    }
  });

  it("have names that git takes, and none below another", async () => {
    for (const name of ["-x", "HEAD", "a..b", "a b", "a~1", "x.lock", "/a", "a/", commit]) {
      assertEquals((await twins.refuse("branch create", mine({ name }))).exit, 2, name);
      assertEquals((await twins.refuse("tag create", mine({ name }))).exit, 2, name);
    }
    assertEquals((await twins.refuse("branch create", mine({ name: "topic" }))).exit, 6);
    assertEquals((await twins.refuse("branch create", mine({ name: "main/x" }))).exit, 6);
  });

  it("are renamed, the default one with HEAD", async () => {
    assertEquals(await twins.both("branch rename", mine({ branch: "main", name: "trunk" })), {
      branch: "trunk",
      was: "main",
      commit,
      pulls: [],
    });
    assertEquals((await twins.both("repo refs", mine())).defaultBranch, "trunk");
    assertEquals((await twins.refuse("branch rename", mine({ branch: "no", name: "x" }))).exit, 5);
    const taken = mine({ branch: "trunk", name: "topic/x" });
    assertEquals((await twins.refuse("branch rename", taken)).exit, 6);
  });

  it("are deleted, but not the default branch", async () => {
    const refused = await twins.refuse("branch delete", mine({ name: "trunk" }));
    assertEquals([refused.message, refused.exit], [
      "refusing to delete the current branch: refs/heads/trunk",
      1,
    ]);
    assertEquals(await twins.both("branch delete", mine({ name: "topic/x" })), {
      branch: "topic/x",
      commit,
    });
    assertEquals(await twins.both("tag delete", mine({ name: "v1" })), { tag: "v1", sha: commit });
    assertEquals((await twins.refuse("branch delete", mine({ name: "topic/x" }))).exit, 5);
    assertEquals((await twins.refuse("tag delete", mine({ name: "v1" }))).exit, 5);
  });
});
