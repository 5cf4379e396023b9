import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assertEquals, assertMatch } from "@std/assert";
import { type GitHome, openGitHome } from "../support/git_home.ts";
import { type Network, openNetwork } from "../support/network.ts";
import { type NetworkProxies, proxyNetwork } from "../support/proxy.ts";

describe("a PDS that cannot be reached", () => {
  let network: Network;
  let proxies: NetworkProxies;
  let home: GitHome;
  let url: string;

  beforeAll(async () => {
    network = await openNetwork();
    proxies = await proxyNetwork(network);
    home = await openGitHome(network, { env: { ...proxies.env } });
    url = (await home.create({ name: "app" })).url;
    await home.ok(".", "init", "-q", "work");
    await home.ok("work", "commit", "-q", "--allow-empty", "-m", "one");
    await home.ok("work", "push", "-q", url, "main");
    await home.ok(".", "clone", "-q", url, "clone");
    await home.ok("work", "commit", "-q", "--allow-empty", "-m", "two");
  });

  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await proxies[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
  });

  it("is an error for clone, which leaves no folder, and for fetch, ls-remote and push", async () => {
    using _ = proxies.pds.inject({}, { kind: "drop", when: "before" });
    for (
      const [where, ...args] of [
        [".", "clone", url, "other"],
        ["clone", "fetch"],
        [".", "ls-remote", url],
        ["work", "push", url, "main"],
      ] as const
    ) {
      const { status, out, err } = await home.git(where, ...args);
      assertEquals({ status, out }, { status: 128, out: "" });
      assertMatch(err, /^fatal: .*localhost/m);
      assertEquals(err.match(/^fatal:/gm)?.length, 1, err);
      assertMatch(err, /^hint: /m);
    }
    const names = (await Array.fromAsync(Deno.readDir(home.dir))).map(({ name }) => name);
    assertEquals(names.includes("other"), false);
  });

  it("is an error for a repository that this machine never saw", async () => {
    using _ = proxies.pds.inject({}, { kind: "drop", when: "before" });
    const { status, err } = await home.gitWith(
      { KNOTLESS_CACHE_DIR: `${home.dir}/cache-of-none` },
      ".",
      "clone",
      url,
      "other",
    );
    assertEquals(status, 128);
    assertMatch(err, /^fatal: /m);
  });

  it("does not matter with KNOTLESS_OFFLINE, which reads from the copy and says its age", async () => {
    using rule = proxies.pds.inject({}, { kind: "drop", when: "before" });
    const offline = { KNOTLESS_OFFLINE: "1" };
    const { status, err } = await home.gitWith(offline, ".", "clone", url, "offline");
    assertEquals(status, 0, err);
    assertMatch(err, /^note: offline: this is the copy of .+ ago$/m);
    assertEquals((await home.gitWith(offline, "offline", "fetch")).status, 0);
    assertEquals(rule.hits, 0);
  });

  it("fails a push with KNOTLESS_OFFLINE too", async () => {
    using _ = proxies.pds.inject({}, { kind: "drop", when: "before" });
    const offline = { KNOTLESS_OFFLINE: "1" };
    const { status, err } = await home.gitWith(offline, "work", "push", url, "main");
    assertEquals(status, 128);
    assertMatch(err, /^hint: unset KNOTLESS_OFFLINE$/m);
  });

  it("gives a push that was cut off a second try, which lands", async () => {
    {
      const match = { nsid: "com.atproto.repo.putRecord" };
      using _ = proxies.pds.inject(match, { kind: "drop", when: "before" });
      const { status, err } = await home.git("work", "push", url, "main");
      assertEquals(status, 1);
      assertMatch(err, /^fatal: .*localhost.* was lost/m);
      assertMatch(err, /^hint: push again/m);
    }
    const { status, err } = await home.git("work", "push", url, "main");
    assertEquals(status, 0, err);
    assertMatch(err, /main -> main/);
  });
});
