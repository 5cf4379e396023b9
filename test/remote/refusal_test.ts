import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assertEquals, assertMatch } from "@std/assert";
import { archiveRepository } from "../../core/forge/settings.ts";
import { type GitHome, openGitHome } from "../support/git_home.ts";
import { type Network, openNetwork } from "../support/network.ts";
import { type NetworkProxies, proxyNetwork } from "../support/proxy.ts";

describe("a push that may not be", () => {
  let network: Network;
  let proxies: NetworkProxies;
  let home: GitHome;
  let url: string;

  beforeAll(async () => {
    network = await openNetwork();
    proxies = await proxyNetwork(network);
    home = await openGitHome(network, { name: "owner", env: { ...proxies.env } });
    url = (await home.create({ name: "app" })).url;
    await home.ok(".", "init", "-q", "work");
    for (const count of [1, 2, 3, 4]) {
      await home.ok("work", "commit", "-q", "--allow-empty", "-m", `commit ${count}`);
    }
    await home.ok("work", "push", "-q", url, "main~1:refs/heads/main");
  });

  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await proxies[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
  });

  /** Runs a push that must end with `fatal`, a hint, and nothing sent. */
  async function refuse(where: string, args: string[], fatal: RegExp, hint: RegExp, by = home) {
    proxies.pds.forget();
    const { status, err } = await by.git(where, "push", ...args);
    assertEquals(status, 128, err);
    assertMatch(err, fatal);
    assertMatch(err, hint);
    assertEquals(err.trim().split("\n").length, 2, err);
    assertEquals(proxies.pds.writes().requests, 0);
  }

  it("is one to a repository that was not made first", async () => {
    await refuse(
      "work",
      [`${url}-none`, "main"],
      /^fatal: no such repository: \S+\/app-none$/m,
      /^hint: run knotless repo create app-none$/m,
    );
  });

  it("is one to another's repository", async () => {
    await using other = await openGitHome(network, { name: "other", env: { ...proxies.env } });
    await other.ok(".", "clone", "-q", url, "clone");
    await other.ok("clone", "commit", "-q", "--allow-empty", "-m", "theirs");
    await refuse(
      "clone",
      ["origin", "main"],
      /^fatal: \S+\/app is not yours: only its owner writes to it$/m,
      /^hint: run knotless repo fork \S+\/app$/m,
      other,
    );
  });

  it("is one without a login", async () => {
    await using other = await openGitHome(network, { login: false, env: { ...proxies.env } });
    await other.ok(".", "clone", "-q", url, "clone");
    await other.ok("clone", "commit", "-q", "--allow-empty", "-m", "theirs");
    await refuse(
      "clone",
      ["origin", "main"],
      /^fatal: no one is logged in$/m,
      /^hint: run knotless login \S+\.\S+$/m,
      other,
    );
  });

  it("is one to an archived repository, until it is none", async () => {
    const { url } = await home.create({ name: "old" });
    const named = { owner: home.account.did, name: "old" };
    await archiveRepository(await home.open("write"), named, false);
    await refuse(
      "work",
      [url, "main"],
      /^fatal: \S+\/old is archived$/m,
      /^hint: run knotless repo archive \S+\/old --undo$/m,
    );
    await archiveRepository(await home.open("write"), named, true);
    await home.ok("work", "push", "-q", url, "main");
  });

  it("is one of a SHA-256 repository", async () => {
    await home.ok(".", "init", "-q", "--object-format=sha256", "sha256");
    await home.ok("sha256", "commit", "-q", "--allow-empty", "-m", "x");
    await refuse(
      "sha256",
      [url, "main"],
      /^fatal: mismatched algorithms: client sha256; server sha1$/m,
      /^hint: knotless keeps SHA-1 repositories only$/m,
    );
  });

  it("is one that would cut history off at a shallow boundary", async () => {
    const { url: empty } = await home.create({ name: "empty" });
    await home.ok(".", "clone", "-q", "--depth=1", url, "shallow");
    await home.ok("shallow", "commit", "-q", "--allow-empty", "-m", "on top");
    proxies.pds.forget();
    const { status, err } = await home.git("shallow", "push", empty, "main");
    assertEquals(status, 1);
    assertMatch(err, /! \[remote rejected\] main -> main \(shallow update not allowed\)/);
    assertEquals(proxies.pds.writes().requests, 0);
    await home.ok("shallow", "push", "-q", url, "main:refs/heads/on-top");
    await home.ok(".", "clone", "-q", "--mirror", url, "whole");
    assertEquals(await home.ok("whole", "rev-list", "--count", "on-top"), "4");
    await home.ok("shallow", "fetch", "-q", "--unshallow");
    await home.ok("shallow", "push", "-q", empty, "main");
  });

  it("is one of a repository that lacks an object", async () => {
    await home.ok(".", "clone", "-q", url, "broken");
    await Deno.writeTextFile(`${home.dir}/broken/file`, "lost\n");
    await home.ok("broken", "add", "file");
    await home.ok("broken", "commit", "-q", "-m", "add a file");
    const blob = await home.ok("broken", "rev-parse", "HEAD:file");
    await Deno.remove(`${home.dir}/broken/.git/objects/${blob.slice(0, 2)}/${blob.slice(2)}`);
    proxies.pds.forget();
    const { status, err } = await home.git("broken", "push", "origin", "main");
    assertEquals(status, 1);
    assertMatch(err, new RegExp(`^fatal: git pack-objects ended with 128: .*${blob}`, "m"));
    assertEquals(proxies.pds.writes().requests, 0);
  });

  it("is none from a clone without blobs", async () => {
    const { url } = await home.create({ name: "blobs" });
    await Deno.writeTextFile(`${home.dir}/work/file`, "text\n");
    await home.ok("work", "add", "file");
    await home.ok("work", "commit", "-q", "-m", "add a file");
    await home.ok("work", "push", "-q", url, "main");
    await home.ok(".", "clone", "-q", "--filter=blob:none", "--no-checkout", url, "partial");
    await home.ok("partial", "reset", "-q");
    await Deno.writeTextFile(`${home.dir}/partial/other`, "other\n");
    await home.ok("partial", "add", "other");
    await home.ok("partial", "commit", "-q", "-m", "add another");
    await home.ok("partial", "push", "-q", "origin", "main");
    await home.ok(".", "clone", "-q", "--mirror", url, "blobs");
    await home.ok("blobs", "fsck", "--strict");
    assertEquals(await home.ok("blobs", "ls-tree", "--name-only", "main"), "file\nother");
  });

  it("is none by the owner when another account is the one at hand", async () => {
    const other = await network.createAccount("other");
    await home.login(other);
    assertEquals((await home.open("write")).account.did, other.did);
    await home.ok("work", "push", "-q", url, "main:refs/heads/by-owner");
    const { status, err } = await home.gitWith(
      { KNOTLESS_ACCOUNT: other.handle },
      "work",
      "push",
      url,
      "main:refs/heads/by-other",
    );
    assertEquals(status, 128);
    assertMatch(err, /is not yours/);
  });
});
