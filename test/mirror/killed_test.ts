import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deleteRepository } from "../../core/forge/remove.ts";
import { type App, appOf } from "../support/app.ts";
import { binary } from "../support/binary.ts";
import { fsck, git } from "../support/git.ts";
import { type GitHome, openGitHome } from "../support/git_home.ts";
import { run } from "../support/run.ts";
import { killAt } from "../support/kill.ts";
import { noise, type Owner } from "../support/owner.ts";
import { limitPieces, PIECE } from "../support/pieces.ts";
import { openProxied, type Proxied } from "../support/proxied.ts";
import type { NetworkProxies } from "../support/proxy.ts";
import { GET_BLOB } from "../support/races.ts";

/** So many pieces are asked for at once, of two packs. */
const AT_ONCE = 6;

describe("work that is killed", () => {
  let world: Proxied;
  let proxies: NetworkProxies;
  let home: GitHome;
  let owner: Owner;
  let program: string;

  beforeAll(async () => {
    program = await binary();
    world = await openProxied("cut");
    ({ proxies, owner } = world);
    limitPieces(proxies);
    home = await openGitHome(world.network, {
      account: world.owner.account,
      env: { ...proxies.env },
    });
  });

  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  /** Makes a repository, and what looks at it. */
  async function create(name: string): Promise<App & { url: string }> {
    const { url, repository } = await home.create({ name });
    return { ...appOf(world, repository), url };
  }

  const mainOf = (path: string) => git(path, "rev-parse", "main");

  it("leaves a push at any request whole, and the next one lands", async () => {
    const { url, repository, ...app } = await create("push");
    await home.ok(".", "init", "-q", "work");
    const cwd = join(home.dir, "work");
    let kills = 0;
    for (let at = 0;; at++) {
      await writeFile(join(cwd, "file"), noise(3 * PIECE));
      await home.ok("work", "add", "file");
      await home.ok("work", "commit", "-q", "-m", `number ${at}`);
      const before = await app.tip();
      const next = await home.ok("work", "rev-parse", "HEAD");
      const isKilled = await killAt(proxies.pds, at, ["git", "push", "-q", url, "HEAD:main"], {
        cwd,
        env: home.env,
      });
      const now = await app.tip();
      assert([before, next].includes(now ?? before), `${at}: ${now}`);
      if (existsSync(join(repository.mirror.path, "HEAD"))) fsck(repository.mirror.path);
      await home.ok("work", "push", "-q", url, "HEAD:main");
      assertEquals(await app.tip(), next, `${at}`);
      fsck(repository.mirror.path);
      if (!isKilled) break;
      kills++;
    }
    assert(kills >= 8, `${kills} requests`);
    assertEquals(await app.readAnew(mainOf), await app.tip());
    // Uploads that no record names are not kept; what a killed push made may stay for a sweep.
    assertEquals((await app.manifest()).log.length, kills + 1);
  });

  it("leaves a commit at any request whole, and the next one lands", async () => {
    const { repository, ...app } = await create("commit");
    const repo = `${home.account.handle}/${repository.name}`;
    const args = [program, "repo", "commit", "--input", "-"];
    const options = (at: number) => ({
      cwd: home.dir,
      env: home.env,
      stdin: JSON.stringify({
        repo,
        message: `number ${at}`,
        changes: [{ path: "file", content: noise(20_000).toHex() }],
      }),
    });
    let kills = 0;
    for (let at = 0;; at++) {
      const given = options(at);
      const isKilled = await killAt(proxies.pds, at, args, given);
      const { status, err, out } = await run(program, args.slice(1), given);
      // What was killed may have landed: then the same changes nothing.
      assert(status === 0 || /nothing changes/.test(err), err);
      if (status === 0) assertMatch(out, new RegExp(await app.tip() ?? ""));
      fsck(repository.mirror.path);
      if (!isKilled) break;
      kills++;
    }
    assert(kills >= 5, `${kills} requests`);
    assertEquals(await app.readAnew(mainOf), await app.tip());
    assertEquals(
      git(repository.mirror.path, "rev-list", "--count", "main"),
      String(kills + 1),
    );
  });

  it("leaves a deletion at any request, and the name can be taken again", async () => {
    let kills = 0;
    for (let at = 0;; at++) {
      const { repository, named, ...app } = await create("doomed");
      await app.commit(home, [{ path: "a", base64: noise(2 * PIECE).toBase64() }]);
      const repo = `${home.account.handle}/doomed`;
      const args = [program, "repo", "delete", repo, "--confirm", "doomed"];
      const isKilled = await killAt(proxies.pds, at, args, { cwd: home.dir, env: home.env });
      const there = async (collection: string) =>
        (await owner.list(`dev.knotless.${collection}`)).some(({ uri, value }) =>
          uri.endsWith(repository.rkey) || value.repo === repository.uri
        );
      const [repos, refs, names] = await Promise.all(["repo", "refs", "name"].map(there));
      assertEquals([refs, names], [repos, repos], `${at}`);
      if (repos) {
        assertEquals(await app.readAnew(mainOf), await app.tip());
        await deleteRepository(await home.open("write"), named, "doomed");
        assertEquals(await there("pack"), false);
      }
      if (!isKilled) break;
      kills++;
    }
    assert(kills >= 8, `${kills} requests`);
  });

  it("leaves a fetch at any request, and the next one takes up where it was", async () => {
    const { repository, ...app } = await create("fetch");
    for (const path of ["a", "b"]) {
      await app.commit(home, [{ path, base64: noise(3 * PIECE).toBase64() }]);
    }
    assertEquals((await app.manifest()).packs.length, 2);
    const pieces = 8;
    const repo = `${home.account.handle}/${repository.name}`;
    let kills = 0;
    for (let at = 0;; at++) {
      await using reader = await world.open({ login: false });
      const args = ["repo", "mirror", repo];
      const options = { cwd: reader.dir, env: reader.env };
      const isKilled = await killAt(proxies.pds, at, [program, ...args], options);
      const whole = proxies.pds.count({ nsid: GET_BLOB });
      proxies.pds.forget();
      const { status, out, err } = await run(program, args, options);
      assertEquals(status, 0, err);
      // Of those asked for the last few may still have been to come.
      const again = proxies.pds.count({ nsid: GET_BLOB });
      const most = isKilled ? pieces - Math.max(0, whole - AT_ONCE) : 0;
      assert(again <= most && again >= (isKilled ? pieces - whole : 0), `${at}: ${again}`);
      const path = out.trim();
      fsck(path);
      assertEquals(git(path, "rev-parse", "main"), await app.tip());
      assertEquals((await readdir(path)).filter((name) => /^(push-|incoming)|tmp$/.test(name)), []);
      if (!isKilled) break;
      kills++;
    }
    assertEquals(kills, 4 + pieces, "name, repository, manifest, pack records and pieces");
  });
});
