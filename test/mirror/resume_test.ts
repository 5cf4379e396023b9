import { afterAll, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KnotlessError, RemoteError } from "../../core/errors.ts";
import { commitChanges } from "../../core/forge/commit.ts";
import { createRepository } from "../../core/forge/create.ts";
import { deleteRepository } from "../../core/forge/remove.ts";
import { findRepository, type Repository } from "../../core/forge/repository.ts";
import type { Mirror } from "../../core/mirror/mirror.ts";
import { openMirrors } from "../../core/mirror/mirrors.ts";
import { binary } from "../support/binary.ts";
import { git, tryGit } from "../support/git.ts";
import { type GitHome, openGitHome } from "../support/git_home.ts";
import { run } from "../support/run.ts";
import { killAt, type KillOptions } from "../support/kill.ts";
import { type Machine, openMachine } from "../support/machine.ts";
import { type Network, openNetwork } from "../support/network.ts";
import {
  commit,
  freshTid,
  handmade,
  type Json,
  noise,
  openOwner,
  type Owner,
  packOf,
  sha256,
  tree,
} from "../support/owner.ts";
import { type NetworkProxies, proxyNetwork } from "../support/proxy.ts";

const GET_BLOB = "com.atproto.sync.getBlob";
const UPLOAD = "com.atproto.repo.uploadBlob";
const ONLINE = { offline: false, maxAge: 0 };
const PIECE = 50_000;
/** So many pieces are asked for at once, of two packs. */
const AT_ONCE = 6;

describe("work that is cut off", () => {
  let network: Network;
  let proxies: NetworkProxies;
  let home: GitHome;
  let owner: Owner;
  let program: string;
  let number = 0;

  beforeAll(async () => {
    program = await binary();
    network = await openNetwork();
    proxies = await proxyNetwork(network);
    home = await openGitHome(network, { name: "cut", env: { ...proxies.env } });
    owner = await openOwner(network, home.account);
    // A PDS that takes small pieces makes many of a small pack.
    proxies.pds.inject({ nsid: "com.atproto.server.describeServer" }, {
      kind: "answer",
      status: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ did: "did:web:localhost", blobUploadLimit: PIECE }),
    });
  });

  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await proxies[Symbol.asyncDispose]();
    await network[Symbol.asyncDispose]();
  });

  const killedAt = (at: number, command: string[], options: KillOptions) =>
    killAt(proxies.pds, at, command, options);

  function fsck(path: string): void {
    const { status, out, err } = tryGit(path, undefined, "fsck", "--full", "--strict");
    assertEquals(status, 0, new TextDecoder().decode(out) + err);
  }

  async function tip({ rkey }: Repository): Promise<string | undefined> {
    const { value } = await owner.get("dev.knotless.refs", rkey);
    return value.refs.find(({ name }: Json) => name === "refs/heads/main")?.oid;
  }

  /** Reads the repository on a machine that never saw it. */
  async function readAnew({ rkey }: Repository): Promise<string | undefined> {
    await using fresh = await openMachine(network, { account: home.account, login: false });
    const { identity, mirrors } = await fresh.open("read");
    const mirror = mirrors.at(await identity.resolve(home.account.did), rkey);
    const { refs } = await mirror.view(ONLINE);
    fsck(mirror.path);
    return refs.get("refs/heads/main")?.oid;
  }

  it("leaves a push at any request whole, and the next one lands", async () => {
    const { url, repository } = await home.create({ name: `push${number++}` });
    await home.ok(".", "init", "-q", "work");
    const cwd = join(home.dir, "work");
    let kills = 0;
    for (let at = 0;; at++) {
      await writeFile(join(cwd, "file"), noise(3 * PIECE));
      await home.ok("work", "add", "file");
      await home.ok("work", "commit", "-q", "-m", `number ${at}`);
      const before = await tip(repository);
      const next = await home.ok("work", "rev-parse", "HEAD");
      const isKilled = await killedAt(at, ["git", "push", "-q", url, "HEAD:main"], {
        cwd,
        env: home.env,
      });
      const now = await tip(repository);
      assert([before, next].includes(now ?? before), `${at}: ${now}`);
      if (existsSync(join(repository.mirror.path, "HEAD"))) fsck(repository.mirror.path);
      await home.ok("work", "push", "-q", url, "HEAD:main");
      assertEquals(await tip(repository), next, `${at}`);
      fsck(repository.mirror.path);
      if (!isKilled) break;
      kills++;
    }
    assert(kills >= 8, `${kills} requests`);
    assertEquals(await readAnew(repository), await tip(repository));
    // Uploads that no record names are not kept; what a killed push made may stay for a sweep.
    const { value } = await owner.get("dev.knotless.refs", repository.rkey);
    assertEquals(value.log.length, kills + 1);
  });

  it("leaves a commit at any request whole, and the next one lands", async () => {
    const { repository } = await home.create({ name: `commit${number++}` });
    const repo = `${home.account.handle}/${repository.name}`;
    const args = [program, "repo", "commit", "--input", "-"];
    const options = (at: number) => ({
      cwd: home.dir,
      env: home.env,
      stdin: JSON.stringify({
        repo,
        message: `number ${at}`,
        changes: [{ path: "file", content: Buffer.from(noise(20_000)).toString("hex") }],
      }),
    });
    let kills = 0;
    for (let at = 0;; at++) {
      const given = options(at);
      const isKilled = await killedAt(at, args, given);
      const { status, err, out } = await run(program, args.slice(1), given);
      // What was killed may have landed: then the same changes nothing.
      assert(status === 0 || /nothing changes/.test(err), err);
      if (status === 0) assertMatch(out, new RegExp(await tip(repository) ?? ""));
      fsck(repository.mirror.path);
      if (!isKilled) break;
      kills++;
    }
    assert(kills >= 5, `${kills} requests`);
    assertEquals(await readAnew(repository), await tip(repository));
    assertEquals(
      git(repository.mirror.path, "rev-list", "--count", "main"),
      String(kills + 1),
    );
  });

  it("leaves a deletion at any request, and the name can be taken again", async () => {
    let kills = 0;
    for (let at = 0;; at++) {
      const { repository } = await home.create({ name: "doomed" });
      const named = { owner: home.account.did, name: "doomed" };
      await commitChanges(await home.open("write"), named, {
        message: "one",
        changes: [{ path: "a", base64: Buffer.from(noise(2 * PIECE)).toString("base64") }],
      });
      const repo = `${home.account.handle}/doomed`;
      const args = [program, "repo", "delete", repo, "--confirm", "doomed"];
      const isKilled = await killedAt(at, args, { cwd: home.dir, env: home.env });
      const there = async (collection: string) =>
        (await owner.list(`dev.knotless.${collection}`)).some(({ uri, value }) =>
          uri.endsWith(repository.rkey) || value.repo === repository.uri
        );
      const [repos, refs, names] = await Promise.all(["repo", "refs", "name"].map(there));
      assertEquals([refs, names], [repos, repos], `${at}`);
      if (repos) {
        assertEquals(await readAnew(repository), await tip(repository));
        await deleteRepository(await home.open("write"), named, "doomed");
        assertEquals(await there("pack"), false);
      }
      if (!isKilled) break;
      kills++;
    }
    assert(kills >= 8, `${kills} requests`);
  });

  it("leaves a fetch at any request, and the next one takes up where it was", async () => {
    const { repository } = await home.create({ name: `fetch${number++}` });
    const writing = await home.open("write");
    const named = { owner: home.account.did, name: repository.name };
    for (const path of ["a", "b"]) {
      await commitChanges(writing, named, {
        message: path,
        changes: [{ path, base64: Buffer.from(noise(3 * PIECE)).toString("base64") }],
      });
    }
    const { value } = await owner.get("dev.knotless.refs", repository.rkey);
    assertEquals(value.packs.length, 2);
    const pieces = 8;
    const repo = `${home.account.handle}/${repository.name}`;
    let kills = 0;
    for (let at = 0;; at++) {
      await using reader = await openMachine({ ...network, env: proxies.env }, {
        account: home.account,
        login: false,
      });
      const args = ["repo", "mirror", repo];
      const options = { cwd: reader.dir, env: reader.env };
      const isKilled = await killedAt(at, [program, ...args], options);
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
      assertEquals(git(path, "rev-parse", "main"), await tip(repository));
      assertEquals((await readdir(path)).filter((name) => /^(push-|incoming)|tmp$/.test(name)), []);
      if (!isKilled) break;
      kills++;
    }
    assertEquals(kills, 4 + pieces, "name, repository, manifest, pack records and pieces");
  });

  describe("while a push sends its pieces", () => {
    const pieces = 7;
    let folder: string;
    let url: string;
    let repository: Repository;

    beforeEach(async () => {
      folder = `again${number++}`;
      ({ url, repository } = await home.create({ name: folder }));
      await home.ok(".", "init", "-q", folder);
      await writeFile(join(home.dir, folder, "file"), noise(6.5 * PIECE));
      await home.ok(folder, "add", "file");
      await home.ok(folder, "commit", "-q", "-m", "one");
      proxies.pds.forget();
    });

    /** The next push sends so many pieces, and then the repository is whole and nothing of it waits here. */
    async function goesOn(sent: number): Promise<void> {
      proxies.pds.forget();
      await home.ok(folder, "push", "-q", url, "HEAD:main");
      assertEquals(proxies.pds.count({ nsid: UPLOAD }), sent);
      assertEquals(await readAnew(repository), await home.ok(folder, "rev-parse", "HEAD"));
      // What a killed process had indexed is swept after a day.
      const left = (await readdir(repository.mirror.path, { recursive: true })).filter((name) =>
        /^(push-[^/]*\/pack|uploaded)$/.test(name)
      );
      assertEquals(left, []);
    }

    it("sends only the others after an error", async () => {
      {
        using _ = proxies.pds.inject({ nsid: UPLOAD, skip: 3 }, { kind: "drop", when: "before" });
        assertEquals((await home.git(folder, "push", url, "HEAD:main")).status, 1);
      }
      await goesOn(pieces - 3);
    });

    it("sends only the others after a kill", async () => {
      const options = { cwd: join(home.dir, folder), env: home.env, nsid: UPLOAD };
      assert(await killedAt(4, ["git", "push", "-q", url, "HEAD:main"], options));
      // The fifth was on its way and its answer was not heard.
      await goesOn(pieces - 4);
    });

    it("sends all again when the PDS has them no more", async () => {
      {
        using _ = proxies.pds.inject({ nsid: UPLOAD, skip: 6 }, { kind: "drop", when: "before" });
        assertEquals((await home.git(folder, "push", url, "HEAD:main")).status, 1);
      }
      const gone = {
        kind: "answer",
        status: 400,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ error: "BlobNotFound", message: "says the test" }),
      } as const;
      using _ = proxies.pds.inject(
        { nsid: "com.atproto.repo.createRecord", times: 1 },
        gone,
      );
      await goesOn(1 + pieces);
    });
  });

  describe("in a mirror", () => {
    let repository: Repository;
    let machine: Machine;
    let mirror: Mirror;
    const named = () => ({ owner: home.account.did, name: repository.name });

    beforeAll(async () => {
      machine = await openMachine({ ...network, env: proxies.env }, { account: home.account });
      repository = await createRepository(await machine.open("write"), { name: "mirrored" });
      const context = await machine.open("write");
      await commitChanges(context, named(), {
        message: "one",
        changes: [{ path: "a", base64: Buffer.from(noise(3 * PIECE)).toString("base64") }],
      });
      await commitChanges(context, named(), {
        message: "two",
        changes: [{ path: "b", content: "small\n" }],
      });
    });
    afterAll(async () => {
      await machine[Symbol.asyncDispose]();
    });

    /** A synced copy on a machine that never saw the repository, as each process finds it. */
    async function copyAnew() {
      const reader = await openMachine({ ...network, env: proxies.env }, {
        account: home.account,
        login: false,
      });
      const open = async () => {
        const { identity, mirrors } = await reader.open("read");
        return mirrors.at(await identity.resolve(home.account.did), repository.rkey);
      };
      mirror = await open();
      await mirror.latest();
      return Object.assign(reader, { mirror: open });
    }

    /** The state file's packs: SHA-256 and name. */
    async function packsOf({ path }: Mirror): Promise<[string, string][]> {
      return JSON.parse(await readFile(join(path, "knotless.json"), "utf8")).packs;
    }

    /** Puts the copy back to where it was when a first sync was moving its packs. */
    async function backToMoving(packs: readonly [string, string][], endings: string[]) {
      const waiting = join(mirror.path, "incoming", "objects", "pack");
      await mkdir(waiting, { recursive: true });
      for (const [sha256, name] of packs) {
        await writeFile(join(mirror.path, "incoming", `${sha256}.name`), name);
      }
      for (const name of new Set(packs.map(([, name]) => name))) {
        for (const ending of endings) {
          const file = `${name}.${ending}`;
          await rename(join(mirror.path, "objects", "pack", file), join(waiting, file));
        }
      }
      await rm(join(mirror.path, "knotless.json"));
    }

    it("is taken up again wherever the packs were while they were moved", async () => {
      for (const endings of [[], ["idx"], ["idx", "pack"]]) {
        await using reader = await copyAnew();
        await backToMoving(await packsOf(mirror), endings);
        proxies.pds.forget();
        const again = await reader.mirror();
        assertEquals(
          (await again.view(ONLINE)).refs.get("refs/heads/main")?.oid,
          await tip(repository),
        );
        fsck(again.path);
        // Half a pack is fetched anew, a whole one is not.
        assertEquals(proxies.pds.count({ nsid: GET_BLOB }) > 0, endings.length === 1);
        assertEquals(existsSync(join(again.path, "incoming")), false);
      }
    });

    it("is made again when the state is lost or is no state", async () => {
      await using reader = await copyAnew();
      for (const text of [undefined, "", "{", "[]", '{"format":99}', "null"]) {
        const file = join(mirror.path, "knotless.json");
        await (text === undefined ? rm(file) : writeFile(file, text));
        const again = await reader.mirror();
        assertEquals((await again.view(ONLINE)).refs.size, 1, text);
        fsck(again.path);
      }
    });

    it("is whole again when files are gone that the state tells of", async () => {
      await using reader = await copyAnew();
      for (const gone of ["HEAD", "config", "packed-refs", "refs", "unverified", "objects"]) {
        await rm(join(mirror.path, gone), { recursive: true });
        const again = await reader.mirror();
        const { view: { objects, refs } } = await again.latest();
        assert(objects.read(refs.get("refs/heads/main")?.oid ?? ""), gone);
        assertEquals(git(again.path, "rev-parse", "HEAD"), await tip(repository), gone);
        fsck(again.path);
      }
    });

    it("does not count on packs that were moved while others they lead to were not", async () => {
      await using reader = await copyAnew();
      const blob = handmade("blob", crypto.randomUUID());
      const root = tree(["100644", "x", blob.oid]);
      // Small packs would be made one.
      const large = handmade("blob", noise(4_500_000));
      const second = packOf(root.entry, blob.entry, large.entry);
      const nameOf = (pack: Uint8Array) => `pack-${pack.subarray(-20).toHex()}`;
      let first: Uint8Array;
      let tip: ReturnType<typeof commit>;
      // Packs are moved in the order of their names: the commit's is to be the first.
      for (let salt = 0;; salt++) {
        const pad = handmade("blob", `${salt}`);
        tip = commit(root.oid);
        first = packOf(tip.entry, pad.entry, large.entry);
        if (nameOf(first) < nameOf(second)) break;
      }
      const { value } = await owner.get("dev.knotless.refs", repository.rkey);
      const refs = [{ name: "refs/heads/evil", oid: tip.oid }, ...value.refs];
      const listed = [...value.packs];
      for (const pack of [first, second]) {
        const fields = { bytes: pack.length, objects: 3 };
        const { rkey, cid } = await owner.create("dev.knotless.pack", {
          ...fields,
          repo: repository.uri,
          sha256: sha256(pack),
          needs: [],
          folds: [],
          blobs: [await owner.upload(pack)],
        });
        listed.push({ rkey, cid, ...fields });
      }
      const block = join(mirror.path, "objects", "pack", `${nameOf(second)}.pack`);
      await mkdir(join(block, "x"), { recursive: true });
      try {
        await owner.publish(repository.rkey, { refs, packs: listed });
        await assertRejects(() => mirror.latest(), Error);
        assert(existsSync(join(mirror.path, "objects", "pack", `${nameOf(first)}.idx`)));
        await rm(block, { recursive: true });
        await owner.publish(repository.rkey, { refs, packs: listed.slice(0, -1) });
        const again = await reader.mirror();
        const error = await assertRejects(() => again.latest(), KnotlessError);
        assertMatch(error.message, new RegExp(`${root.oid}.* is missing`));
        await owner.publish(repository.rkey, { refs, packs: listed });
        assertEquals((await (await reader.mirror()).latest()).view.refs.size, 2);
        fsck(mirror.path);
      } finally {
        await owner.publish(repository.rkey, { refs: value.refs, packs: value.packs });
      }
    });

    it("is swept of what was left over a day ago by the next sync", async () => {
      await using reader = await copyAnew();
      const old = new Date(Date.now() - 25 * 60 * 60 * 1000);
      for (const name of ["push-3kaaaaaaaaaaa", "push-3kbbbbbbbbbbb"]) {
        await mkdir(join(mirror.path, name, "objects"), { recursive: true });
      }
      await writeFile(join(mirror.path, "packed-refs.3kaaaaaaaaaaa.tmp"), "x");
      for (const name of ["push-3kaaaaaaaaaaa", "packed-refs.3kaaaaaaaaaaa.tmp"]) {
        await utimes(join(mirror.path, name), old, old);
      }
      await commitChanges(await machine.open("write"), named(), {
        message: "three",
        changes: [{ path: "b", content: crypto.randomUUID() }],
      });
      await (await reader.mirror()).latest();
      const left = (await readdir(mirror.path)).filter((name) => /^push-|tmp$/.test(name));
      assertEquals(left, ["push-3kbbbbbbbbbbb"]);
    });

    it("asks nothing offline, and says what to do without a copy", async () => {
      await using reader = await copyAnew();
      proxies.pds.forget();
      proxies.plc.forget();
      const offline = await reader.open("read", { offline: true });
      const error = await assertRejects(
        () => findRepository(offline, { owner: home.account.handle, name: repository.name }),
        RemoteError,
      );
      assertEquals([error.exit, error.code], [7, "remote.offline"]);
      await findRepository(await reader.open("read"), named());
      proxies.pds.forget();
      proxies.plc.forget();
      const found = await findRepository(await reader.open("read", { offline: true }), named());
      const view = await found.mirror.view({ offline: true, maxAge: 0 });
      assertEquals(view.refs.get("refs/heads/main")?.oid, await tip(repository));
      assertEquals(proxies.pds.count() + proxies.plc.count(), 0);
      assertEquals(reader.notes, []);
    });

    it("is as old as the clock says, forwards and backwards", async () => {
      await using reader = await copyAnew();
      const context = await reader.open("read");
      let time = Date.now();
      const notes: string[] = [];
      const mirrors = openMirrors({
        cacheDir: reader.env["KNOTLESS_CACHE_DIR"] ?? "",
        records: context.records,
        signal: context.signal,
        stores: new Map(),
        now: () => new Date(time),
        unique: freshTid,
        note: (text) => void notes.push(text),
        progress: () => {},
      });
      const clocked = mirrors.at(mirror.account, repository.rkey);
      await clocked.latest();
      const asks = async (later: number, maxAge: number) => {
        time += later;
        proxies.pds.forget();
        await clocked.view({ offline: false, maxAge });
        return proxies.pds.count();
      };
      assertEquals(await asks(29_999, 30_000), 0);
      assertEquals(await asks(1, 30_000), 1, "too old");
      assertEquals(await asks(0, 0), 1, "no age will do");
      assertEquals(await asks(-60 * 60_000, 30_000), 1, "from the future");
      assertEquals(await asks(10_000, 30_000), 0);
      assertEquals(await asks(50 * 24 * 60 * 60_000, 60 * 24 * 60 * 60_000), 0);
      using _ = proxies.pds.inject({}, { kind: "drop", when: "before" });
      const says = async (later: number) => {
        notes.splice(0);
        await asks(later, 30_000);
        return notes.map((note) => note.replace(/^.*; /, ""));
      };
      assertEquals(await says(0), ["this is the copy of 50 days ago"]);
      assertEquals(await says(-49 * 24 * 60 * 60_000), ["this is the copy of 24 h ago"]);
      assertEquals(await says(-23 * 60 * 60_000), ["this is the copy of 60 min ago"]);
      assertEquals(await says(-2 * 60 * 60_000), ["this is the copy of less than a minute ago"]);
    });
  });
});
