import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assertEquals, assertMatch } from "@std/assert";
import { type Home, openHome } from "../support/home.ts";
import { type Network, openNetwork } from "../support/network.ts";

describe("knotless over MCP, on a network", () => {
  let network: Network;
  let alice: Home;
  let stranger: Home;

  beforeAll(async () => {
    network = await openNetwork();
    alice = await openHome(network, { name: "alice" });
    stranger = await openHome(network, { name: "stranger", login: false });
  });
  afterAll(async () => {
    await alice?.[Symbol.asyncDispose]();
    await stranger?.[Symbol.asyncDispose]();
    await network?.[Symbol.asyncDispose]();
  });

  it("makes a repository, commits to it by edits and reads it, in one session", async () => {
    const repo = `${alice.account.handle}/notes`;
    assertEquals((await alice.tool("repo_create", { name: "notes" })).isError, false);
    const changes = [{ path: "a.txt", content: "one\r\ntwo \u202etricky\n" }];
    await alice.tool("repo_commit", { repo, message: "first", changes });
    const edits = [{ old: "one\r\n", new: "1\r\n" }];
    const edited = await alice.tool("repo_commit", {
      repo,
      message: "second",
      // As some clients send what is not text.
      changes: JSON.stringify([{ path: "a.txt", edits }]),
      base: null,
    });
    assertEquals(edited.isError, false, edited.texts.join());
    assertEquals(await alice.tool("repo_read", { repo, path: "a.txt" }), {
      texts: ["1\r\ntwo \uFFFDtricky\n"],
      isError: false,
    });
    const log = await stranger.tool("repo_log", { repo });
    const summaries = JSON.parse(log.texts[0] ?? "").commits
      .map(({ summary }: { summary: string }) => summary);
    assertEquals(summaries, ["second", "first"]);
  });

  it("gives a file by its own size, and says which line is too long", async () => {
    const repo = `${alice.account.handle}/notes`;
    const changes = [
      { path: "line", content: "x".repeat(1_100_000) },
      { path: "binary", base64: btoa("\0".repeat(800_000)) },
    ];
    await alice.tool("repo_commit", { repo, message: "large", changes });
    for (const lines of [{}, { start: 1, end: 1 }]) {
      const { texts } = await alice.tool("repo_read", { repo, path: "line", ...lines });
      assertMatch(texts.join(), /^line 1 of line is 1100000 bytes, too long to give\n/);
    }
    const { texts: [text = ""] } = await alice.tool("repo_read", { repo, path: "binary" });
    assertEquals(JSON.parse(text).size, 800_000);
  });

  it("tells an assistant without a login how to get one", async () => {
    const { texts, isError } = await stranger.tool("repo_create", { name: "mine" });
    assertEquals(isError, true);
    assertMatch(texts.join(), /\nsign in: run knotless login/);
  });

  it("writes nothing with --read-only, though there is a login", async () => {
    assertEquals(await alice.tool("repo_create", { name: "other" }, ["--read-only"]), {
      texts: ["repo_create is not offered: this server runs with --read-only"],
      isError: true,
    });
    const { texts: [list = ""] } = await alice.tool("repo_list", {}, ["--read-only"]);
    assertEquals(list.includes("other"), false);
    assertEquals(JSON.parse(list).repos.length, 1);
  });

  it("says which repository is not there", async () => {
    const repo = `${alice.account.handle}/nothing`;
    const { texts: [said = ""], isError } = await stranger.tool("repo_log", { repo });
    assertEquals(isError, true);
    assertMatch(said, /nothing/);
  });
});
