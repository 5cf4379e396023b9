import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Repository } from "../../core/forge/repository.ts";
import { type GitHome, openGitHome } from "../support/git_home.ts";
import { type Network, openNetwork } from "../support/network.ts";
import { type NetworkProxies, proxyNetwork } from "../support/proxy.ts";
import { atOnce, overtaken, PUT, valueOf } from "../support/racer.ts";

const RACES = Number(Deno.env.get("KNOTLESS_TEST_RACES") ?? 100);

/** A machine with git behind proxies of its own. */
type Pusher = GitHome & { readonly proxies: NetworkProxies };

describe("two pushers at once", () => {
  let network: Network;
  /** One account on two machines, each with a clone and a cache of its own. */
  let homes: [Pusher, Pusher];
  let url: string;
  let repository: Repository;

  beforeAll(async () => {
    network = await openNetwork();
    const account = await network.createAccount("racer");
    const open = async () => {
      const proxies = await proxyNetwork(network);
      return { ...await openGitHome(network, { account, env: { ...proxies.env } }), proxies };
    };
    homes = [await open(), await open()];
    ({ url, repository } = await homes[0].create({ name: "app" }));
    await homes[0].ok(".", "init", "-q", "first");
    await homes[0].ok("first", "commit", "-q", "--allow-empty", "-m", "base");
    await homes[0].ok("first", "push", "-q", url, "main");
    for (const home of homes) await home.ok(".", "clone", "-q", url, "clone");
  });

  afterAll(async () => {
    for (const home of homes) {
      await home[Symbol.asyncDispose]();
      await home.proxies[Symbol.asyncDispose]();
    }
    await network[Symbol.asyncDispose]();
  });

  async function head(): Promise<string> {
    const { refs } = await repository.mirror.manifest();
    return refs.get("refs/heads/main")?.oid ?? "";
  }

  /** Makes the same commit on both machines and gives its oid. */
  async function commit(parent: string, message: string): Promise<string> {
    const [oid = ""] = await Promise.all(homes.map(async (home) => {
      const tree = await home.ok("clone", "rev-parse", `${parent}^{tree}`);
      const dates = { GIT_AUTHOR_DATE: "1700000000 +0000", GIT_COMMITTER_DATE: "1700000000 +0000" };
      const made = await home.gitWith(
        dates,
        "clone",
        "commit-tree",
        tree,
        "-p",
        parent,
        "-m",
        message,
      );
      return made.out.trim();
    }));
    return oid;
  }

  /** Runs both pushes so that both have decided before either's write is taken. */
  async function race(refspecs: [string, string], ...flags: string[]) {
    const pushes = homes.map((home, at) =>
      [home, () => home.git("clone", "push", ...flags, url, refspecs[at] ?? "")] as const
    );
    return (await atOnce(PUT, ...pushes)).map(valueOf);
  }

  it(`let exactly one win on one branch and tell the other the new head, ${RACES} times`, async () => {
    let base = await head();
    for (let number = 0; number < RACES; number++) {
      const commits = [await commit(base, `left ${number}`), await commit(base, `right ${number}`)];
      const ended = await race([`${commits[0]}:refs/heads/main`, `${commits[1]}:refs/heads/main`]);
      const winner = ended.findIndex(({ status }) => status === 0);
      const said = ended.map(({ err }) => err).join("\n");
      assertEquals(ended.map(({ status }) => status).sort(), [0, 1], said);
      const now = await head();
      assertEquals(now, commits[winner]);
      const { err = "" } = ended[1 - winner] ?? {};
      assertMatch(err, /! \[rejected\] +\w+ -> main \(fetch first\)/);
      assert(err.includes(`refs/heads/main moved: it was ${base}, it is now ${now}`), err);
      base = now;
    }
    assertEquals(await homes[0].ok("clone", "rev-list", "--count", base), String(RACES + 1));
  });

  it("call it stale under a lease", async () => {
    const base = await head();
    const [left, right] = [await commit(base, "left lease"), await commit(base, "right lease")];
    const ended = await race(
      [`${left}:refs/heads/main`, `${right}:refs/heads/main`],
      `--force-with-lease=main:${base}`,
    );
    assertEquals(ended.map(({ status }) => status).sort(), [0, 1]);
    const said = ended.map(({ err }) => err).join("\n");
    assertMatch(said, /! \[rejected\] +\w+ -> main \(stale info\)/);
    assert(said.includes(`it was ${base}, it is now ${await head()}`), said);
  });

  it("both succeed on two branches", async () => {
    const base = await head();
    for (let number = 0; number < Math.ceil(RACES / 10); number++) {
      const [left, right] = [await commit(base, `l ${number}`), await commit(base, `r ${number}`)];
      const ended = await race([
        `${left}:refs/heads/left${number}`,
        `${right}:refs/heads/right${number}`,
      ]);
      assertEquals(ended.map(({ status }) => status), [0, 0], JSON.stringify(ended));
      const { refs } = await repository.mirror.manifest();
      assertEquals(refs.get(`refs/heads/left${number}`)?.oid, left);
      assertEquals(refs.get(`refs/heads/right${number}`)?.oid, right);
    }
  });

  it("lose one branch of two without losing the other, unless the push is atomic", async () => {
    for (const [flags, isThere] of [[[], true], [["--atomic"], false]] as const) {
      const base = await head();
      const [winner, loser] = [await commit(base, "w"), await commit(base, "l")];
      const other = `refs/heads/other-${isThere}`;
      const refspecs = [`${loser}:refs/heads/main`, `${loser}:${other}`];
      const late = await overtaken(
        homes[1],
        PUT,
        () => homes[1].git("clone", "push", ...flags, url, ...refspecs),
        () => homes[0].ok("clone", "push", "-q", url, `${winner}:refs/heads/main`),
      );
      const { status, err } = valueOf(late);
      assertEquals(status, 1);
      assertMatch(err, /! \[rejected\] +\w+ -> main \(fetch first\)/);
      const { refs } = await repository.mirror.manifest();
      assertEquals(refs.get("refs/heads/main")?.oid, winner);
      assertEquals(refs.get(other)?.oid, isThere ? loser : undefined);
      assertEquals(/atomic push failure/.test(err), !isThere, err);
    }
  });

  it("give an empty repository one default branch", async () => {
    const { url, repository } = await homes[0].create({ name: "empty" });
    const base = await homes[0].ok("first", "rev-parse", "main");
    const late = await overtaken(
      homes[1],
      PUT,
      () => homes[1].git("clone", "push", url, `${base}:refs/heads/late`),
      () => homes[0].ok("clone", "push", "-q", url, `${base}:refs/heads/main`),
    );
    const { status, err } = valueOf(late);
    assertEquals(status, 0);
    assertEquals(/note:/.test(err), false, err);
    const { record, refs } = await repository.mirror.manifest();
    assertEquals([...refs.keys()], ["refs/heads/late", "refs/heads/main"]);
    assertEquals(record.head, "refs/heads/main");
  });

  it("find that a write landed though its answer was lost", async () => {
    const base = await head();
    const next = await commit(base, "in doubt");
    const before = (await repository.mirror.manifest()).record;
    const { proxies } = homes[0];
    proxies.pds.forget();
    using rule = proxies.pds.inject({ nsid: PUT, times: 1 }, { kind: "drop", when: "after" });
    const { status, err } = await homes[0].git("clone", "push", url, `${next}:refs/heads/main`);
    assertEquals(status, 0, err);
    assertEquals(rule.hits, 1);
    assertEquals(proxies.pds.count({ nsid: PUT }), 1);
    const { record } = await repository.mirror.manifest();
    assertEquals(await head(), next);
    assertEquals(record.generation, before.generation + 1);
    assertEquals(
      record.log.filter(({ updates }) => updates.some((one) => one.new === next)).length,
      1,
    );
    await homes[1].ok("clone", "fetch", "-q", url, "main");
    assertEquals(await homes[1].ok("clone", "rev-parse", "FETCH_HEAD"), next);
  });
});
