import { assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { openTwins, type Twins } from "../support/both.ts";
import { type Home, openHome } from "../support/home.ts";
import { type Network, openNetwork } from "../support/network.ts";

describe("stars, follows and status", () => {
  let network: Network;
  let twins: Twins;
  let carol: Home;

  beforeAll(async () => {
    network = await openNetwork();
    twins = await openTwins(network);
    carol = await openHome(network, { name: "carol" });
    await carol.cli(["repo", "create", "app"]);
  });
  afterAll(async () => {
    await twins[Symbol.asyncDispose]();
    await carol[Symbol.asyncDispose]();
  });

  it("star a repository once, and take it back", async () => {
    const repo = `${carol.account.handle}/app`;
    const starred = await twins.both("repo star", { repo });
    assertEquals(starred.starred, true);
    assertEquals(await twins.both("repo star", { repo }), starred);
    const { stars } = await twins.both("repo stars");
    assertEquals(stars, [{ repo, uri: starred.uri, createdAt: stars[0].createdAt }]);
    assertEquals(await twins.both("repo star", { repo, undo: true }), {
      starred: false,
      uri: starred.uri,
    });
    assertEquals(await twins.both("repo star", { repo, undo: true }), {
      starred: false,
      uri: null,
    });
    assertEquals(await twins.both("repo stars"), { stars: [] });
  });

  it("show a starred repository that is gone as null", async () => {
    await carol.cli(["repo", "create", "brief"]);
    await twins.both("repo star", { repo: `${carol.account.handle}/brief` });
    await carol.cli(["repo", "delete", `${carol.account.handle}/brief`, "--confirm", "brief"]);
    const { stars } = await twins.both("repo stars", { handle: twins.left.account.did });
    assertEquals(stars.map(({ repo }: { repo: string | null }) => repo), [null]);
  });

  it("follow an account once, and stop", async () => {
    const { handle, did } = carol.account;
    const following = await twins.both("account follow", { handle });
    assertEquals(following.following, true);
    assertEquals(await twins.both("account follow", { handle: did }), following);
    const { follows } = await twins.both("account follows");
    assertEquals(follows, [{ handle, did, uri: following.uri, createdAt: follows[0].createdAt }]);
    assertEquals(await twins.both("account follow", { handle, undo: true }), {
      following: false,
      uri: following.uri,
    });
    assertEquals(await twins.both("account follows", { handle: twins.left.account.handle }), {
      follows: [],
    });
    const self = await twins.refuse("account follow", (home: Home) => ({
      handle: home.account.handle,
    }));
    assertEquals(self.exit, 1);
    assertEquals((await twins.refuse("account follow", { handle: "nobody-here.test" })).exit, 5);
  });

  it("tell the status of this machine and of a repository's copy on it", async () => {
    const status = await twins.both("status");
    const { did, handle } = twins.left.account;
    assertEquals(status, { version: status.version, account: { did, handle }, server: null });
    const { mirror } = await twins.both("status", { repo: `${carol.account.handle}/app` });
    assertEquals([mirror.repo, mirror.generation, mirror.stale], [
      `${carol.account.handle}/app`,
      1,
      false,
    ]);
    const dead = await twins.refuse("status", { server: "http://127.0.0.1:9" });
    assertEquals(dead.exit, 7);
    assertMatch(dead.message, /127\.0\.0\.1:9/);
    assertEquals((await twins.refuse("status", { server: "http://example.com" })).exit, 2);
    assertEquals((await twins.refuse("status", { server: "nonsense" })).exit, 2);
  });

  it("ask and write nothing offline, and say so", async () => {
    const offline = async (...line: string[]) => {
      const { status, err } = await twins.left.cli([...line, "--offline"]);
      assertEquals(status, 7, err);
      return err;
    };
    assertMatch(await offline("repo", "create", "never"), /nothing was sent/);
    assertMatch(await offline("repo", "list"), /was not asked/);
    assertMatch(await offline("repo", "refs", "nobody-here.test/app"), /on this machine/);
    const { repos } = await twins.both("repo list");
    assertEquals(repos, []);
    const known = `${carol.account.handle}/app`;
    assertEquals((await twins.left.cli(["repo", "refs", known, "--offline"])).status, 0);
  });

  it("need no login to read, and say who to log in for the rest", async () => {
    await using stranger = await openHome(network, { login: false });
    const read = await stranger.cli(["repo", "refs", `${carol.account.handle}/app`, "--json"]);
    assertEquals([read.status, read.err], [0, ""]);
    const list = await stranger.cli(["repo", "list"]);
    assertEquals(list.status, 2);
    assertMatch(list.err, /handle is missing/);
    const write = await stranger.cli(["repo", "create", "x"]);
    assertEquals(write.status, 4);
    assertMatch(write.err, /no one is logged in[\s\S]*knotless login/);
    const tool = await stranger.tool("repo_create", { name: "x" });
    assertEquals(tool.isError, true);
    assertMatch(tool.texts[0] ?? "", /knotless login/);
  });
});
