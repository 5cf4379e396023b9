import { afterAll, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { KnotlessError, RemoteError } from "../../core/errors.ts";
import { commitChanges } from "../../core/forge/commit.ts";
import { createRepository } from "../../core/forge/create.ts";
import { createBranch } from "../../core/forge/refs.ts";
import { deleteRepository } from "../../core/forge/remove.ts";
import { findRepository, type Repository } from "../../core/forge/repository.ts";
import { archiveRepository, renameRepository } from "../../core/forge/settings.ts";
import { tryGit } from "../support/git.ts";
import { type Machine, openMachine } from "../support/machine.ts";
import type { Network } from "../support/network.ts";
import { type Json, noise, type Owner } from "../support/owner.ts";
import { openProxied, type Proxied } from "../support/proxied.ts";
import type { Fault, Match, NetworkProxies } from "../support/proxy.ts";

const PUT = "com.atproto.repo.putRecord";
const CREATE = "com.atproto.repo.createRecord";
const APPLY = "com.atproto.repo.applyWrites";
const UPLOAD = "com.atproto.repo.uploadBlob";

const answer = (status: number, error = "Wrong", headers = {}): Fault => ({
  kind: "answer",
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify({ error, message: "says the test" }),
});

describe("a network that fails", () => {
  let world: Proxied;
  let network: Network;
  let proxies: NetworkProxies;
  let machine: Machine;
  let owner: Owner;
  let number = 0;
  let name: string;
  let repository: Repository;

  beforeAll(async () => {
    world = await openProxied("faulty");
    ({ network, proxies, owner } = world);
    machine = await world.open();
  });

  afterAll(async () => {
    await machine[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  const named = () => ({ owner: machine.account.did, name });

  async function freshRepository(): Promise<void> {
    name = `app${number++}`;
    repository = await createRepository(await machine.open("write"), { name });
    await write("start\n");
  }

  /** Commits a file of this content as a new process would. */
  async function write(content: string | Uint8Array): Promise<string> {
    const { commit } = await commitChanges(await machine.open("write"), named(), {
      message: "a change",
      changes: [
        typeof content === "string"
          ? { path: "file.txt", content }
          : { path: "file.bin", base64: Buffer.from(content).toString("base64") },
      ],
    });
    return commit;
  }

  async function manifest(): Promise<Json> {
    return (await owner.get("dev.knotless.refs", repository.rkey)).value;
  }

  async function tip(): Promise<string> {
    return (await manifest()).refs.find((ref: Json) => ref.name === "refs/heads/main")?.oid;
  }

  async function packs(): Promise<string[]> {
    const all = await owner.list("dev.knotless.pack");
    return all.filter(({ value }) => value.repo === repository.uri).map(({ uri }) => uri);
  }

  function fsck(path = repository.mirror.path): void {
    const { status, err } = tryGit(path, undefined, "fsck", "--full", "--strict");
    assertEquals(status, 0, err);
  }

  describe("while a manifest is put", () => {
    beforeEach(freshRepository);

    it("is no matter when the write landed and only its answer was lost", async () => {
      for (
        const fault of [
          { kind: "drop", when: "after" },
          { kind: "cut" },
        ] satisfies Fault[]
      ) {
        const before = await manifest();
        using rule = proxies.pds.inject({ nsid: PUT, times: 1 }, fault);
        const commit = await write(`${fault.kind}\n`);
        const now = await manifest();
        assertEquals([rule.hits, await tip()], [1, commit]);
        assertEquals(now.generation, before.generation + 1);
        assertEquals(now.log.filter(({ updates }: Json) => updates[0].new === commit).length, 1);
        fsck();
      }
    });

    it("is tried again, once, when the write did not land", async () => {
      for (
        const fault of [
          { kind: "drop", when: "before" } as const,
          answer(500),
          answer(502, ""),
          { ...answer(503), body: "<html>nginx</html>", headers: { "content-type": "text/html" } },
        ] as Fault[]
      ) {
        proxies.pds.forget();
        using rule = proxies.pds.inject({ nsid: PUT, times: 1 }, fault);
        const commit = await write(`${JSON.stringify(fault)}\n`);
        assertEquals([rule.hits, proxies.pds.count({ nsid: PUT }), await tip()], [1, 2, commit]);
        const { log } = await manifest();
        assertEquals(log.filter(({ updates }: Json) => updates[0].new === commit).length, 1);
      }
      fsck();
    });

    it("is an error that says the write is in doubt when even the look fails", async () => {
      const before = await tip();
      {
        using _ = proxies.pds.inject({ nsid: PUT, times: 1 }, { kind: "drop", when: "after" });
        using _gone = proxies.pds.inject(
          { nsid: "com.atproto.repo.getRecord", path: /dev\.knotless\.refs/, skip: 1 },
          { kind: "drop", when: "before" },
        );
        const error = await assertRejects(() => write("in doubt\n"), RemoteError);
        assertMatch(error.message, /may have been written/);
        assertEquals([error.exit, error.code], [7, "remote.doubt"]);
      }
      assert(await tip() !== before);
      // The same again changes nothing: it had landed.
      const error = await assertRejects(() => write("in doubt\n"), KnotlessError);
      assertMatch(error.message, /nothing changes/);
      fsck();
    });

    it("is an error, and nothing is left, when it is refused", async () => {
      const before = await manifest();
      const records = await packs();
      for (
        const [fault, code, says] of [
          [
            answer(429, "RateLimitExceeded", { "retry-after": "30" }),
            "remote.rate_limited",
            /too many requests: try again in 30 seconds/,
          ],
          [answer(413, "PayloadTooLarge"), "remote.too_large", /does not take as much/],
          [answer(400, "InvalidRequest"), "remote", /InvalidRequest: says the test/],
          [answer(403, "AccountTakedown"), "remote.taken_down", /taken down/],
        ] as const
      ) {
        using _ = proxies.pds.inject({ nsid: PUT, times: 1 }, fault);
        const error = await assertRejects(() => write(noise(20_000)), KnotlessError);
        assertEquals([error.exit, error.code], [7, code]);
        assertMatch(error.message, says);
        assertEquals(await manifest(), before);
        assertEquals(await packs(), records, "a pack stayed");
        fsck();
      }
      const commit = await write("now\n");
      assertEquals(await tip(), commit);
    });

    it("is given up after some tries, and what may land is not taken back", async () => {
      const before = await manifest();
      {
        using rule = proxies.pds.inject({ nsid: PUT }, { kind: "drop", when: "before" });
        const error = await assertRejects(() => write(noise(20_000)), RemoteError);
        assertEquals([error.exit, error.code], [7, "remote.doubt"]);
        assert(rule.hits <= 6, `${rule.hits} tries`);
      }
      assertEquals(await manifest(), before);
      assertEquals((await packs()).length, before.packs.length + 2, "the sealed tail and the pack");
      const commit = await write(noise(20_000));
      assertEquals(await tip(), commit);
      fsck();
    });
  });

  describe("while a pack is sent", () => {
    beforeEach(freshRepository);

    /** Writes a large file while a step fails once; it must land, or fail plainly and land the next time. */
    async function once(match: Match, fault: Fault, { lands }: { lands: boolean }): Promise<void> {
      const before = await manifest();
      const content = noise(120_000);
      {
        using rule = proxies.pds.inject({ ...match, times: 1 }, fault);
        const said = JSON.stringify([match, fault]);
        if (lands) {
          await write(content);
        } else {
          const error = await assertRejects(() => write(content), KnotlessError);
          assertEquals(error.exit, 7, said);
          assertEquals(await manifest(), before);
          fsck();
          await write(content);
        }
        assertEquals(rule.hits, 1, said);
      }
      const now = await manifest();
      assertEquals(now.generation, before.generation + 1);
      const listed = now.packs.map(({ rkey }: Json) => rkey).sort();
      assertEquals((await packs()).map((uri) => uri.split("/").at(-1)).sort(), listed, "orphans");
      fsck();
    }

    it("is no matter for pieces and pack records whose answers were lost", async () => {
      for (const nsid of [UPLOAD, CREATE]) {
        await once({ nsid }, { kind: "drop", when: "after" }, { lands: true });
        await once({ nsid }, { kind: "drop", when: "before" }, { lands: true });
        await once({ nsid }, { kind: "cut" }, { lands: true });
        await once({ nsid }, answer(500), { lands: true });
        await once({ nsid }, answer(502), { lands: true });
      }
    });

    it("is an error for one that is refused, and the next try lands", async () => {
      for (const nsid of [UPLOAD, CREATE]) {
        await once({ nsid }, answer(429), { lands: false });
        await once({ nsid }, answer(413), { lands: false });
        await once({ nsid }, answer(400), { lands: false });
      }
    });

    it("sends a piece again that the PDS no longer has", async () => {
      proxies.pds.forget();
      // The first record is that of the tail, which is sealed.
      await once({ nsid: CREATE, skip: 1 }, answer(400, "BlobNotFound"), { lands: true });
      assertEquals(proxies.pds.count({ nsid: UPLOAD }), 2);
    });
  });

  describe("while it is read", () => {
    let content: Uint8Array;
    let reader: Machine;

    beforeAll(async () => {
      await freshRepository();
      content = noise(300_000);
      await write(content);
    });

    const steps: [string, Match][] = [
      ["the name", { nsid: "com.atproto.repo.getRecord", path: /dev\.knotless\.name/ }],
      ["the repository", { nsid: "com.atproto.repo.getRecord", path: /dev\.knotless\.repo/ }],
      ["the manifest", { nsid: "com.atproto.repo.getRecord", path: /dev\.knotless\.refs/ }],
      ["pack records", { nsid: "com.atproto.sync.getBlocks" }],
      ["a piece", { nsid: "com.atproto.sync.getBlob" }],
    ];

    async function view(globals?: { maxAge: number }) {
      const context = await reader.open("read", globals);
      const { mirror } = await findRepository(context, named());
      return { mirror, view: await mirror.view(context.freshness) };
    }

    for (const [what, match] of steps) {
      it(`is asked for ${what} again, or fails plainly and makes no half copy`, async () => {
        const down: Fault = { kind: "drop", when: "before" };
        for (
          const [fault, passes, times] of [
            [down, true, 1],
            [answer(500), true, 1],
            [answer(502), true, 1],
            [answer(429), false, 1],
            [{ kind: "cut" }, undefined, 1],
            [down, false, 9],
          ] as [Fault, boolean | undefined, number][]
        ) {
          reader = await world.open({ login: false });
          await using _ = reader;
          const said = `${times} ${JSON.stringify(fault)}`;
          {
            using rule = proxies.pds.inject({ ...match, times }, fault);
            try {
              await view();
              assert(passes !== false, said);
            } catch (error) {
              assert(error instanceof KnotlessError && passes !== true, `${said}: ${error}`);
              assertEquals(error.exit, 7, said);
            }
            assert(rule.hits > 0, said);
          }
          const { mirror, view: { refs } } = await view();
          assertEquals(refs.get("refs/heads/main")?.oid, await tip(), said);
          fsck(mirror.path);
        }
      });
    }

    it("takes no wrong bytes for a piece, and asks for it alone again", async () => {
      reader = await world.open({ login: false });
      await using _ = reader;
      const size = (await manifest()).packs.at(-1).bytes;
      for (const body of ["x".repeat(size), "x".repeat(size - 1), "x".repeat(size + 1), ""]) {
        const match = { nsid: "com.atproto.sync.getBlob", times: 1 };
        using rule = proxies.pds.inject(match, { kind: "answer", status: 200, body });
        const error = await assertRejects(view, KnotlessError);
        assertMatch(error.message, /is not what its CID says|is longer than|has \d+ bytes/);
        assertEquals(rule.hits, 1);
      }
      assertEquals((await view()).view.refs.size, 1);
    });

    it("uses the copy at hand with a note of its age, however it fails", async () => {
      reader = await world.open({ login: false });
      await using _ = reader;
      const { refs } = (await view()).view;
      for (
        const fault of [
          { kind: "drop", when: "before" },
          answer(429),
        ] as Fault[]
      ) {
        reader.notes.splice(0);
        using _ = proxies.pds.inject({}, fault);
        assertEquals((await view({ maxAge: 0 })).view.refs, refs);
        assertEquals(reader.notes.length, 1, reader.notes.join("\n"));
        assertMatch(reader.notes[0] ?? "", /; this is the copy of less than a minute ago$/);
        assertEquals((await assertRejects(() => view(), RemoteError)).exit, 7, "a refresh fails");
        using _quick = proxies.pds.inject({}, { kind: "drop", when: "before" });
        assertEquals((await view({ maxAge: 60_000 })).view.refs, refs);
      }
    });
  });

  describe("while an account's records are written", () => {
    beforeEach(freshRepository);

    it("is no matter for a repository that was made though the answer was lost", async () => {
      for (const fault of [{ kind: "drop", when: "after" }, { kind: "cut" }] as Fault[]) {
        using _ = proxies.pds.inject({ nsid: APPLY, times: 1 }, fault);
        name = `made-${fault.kind}`;
        const made = await createRepository(await machine.open("write"), { name });
        assertEquals((await findRepository(await machine.open("read"), named())).uri, made.uri);
      }
    });

    it("leaves nothing of one that was not made", async () => {
      const before = await owner.list("dev.knotless.repo");
      const old = name;
      await renameRepository(await machine.open("write"), named(), `${old}-b`);
      for (const taken of ["unmade", old]) {
        for (
          const fault of [{ kind: "drop", when: "before" }, answer(500), answer(429)] as Fault[]
        ) {
          using _ = proxies.pds.inject({ nsid: APPLY, times: 1 }, fault);
          const writing = await machine.open("write");
          const error = await assertRejects(
            () => createRepository(writing, { name: taken }),
            KnotlessError,
          );
          assertEquals(error.exit, 7);
        }
        assertEquals((await owner.list("dev.knotless.repo")).length, before.length);
      }
      // The old name leads where it led.
      name = old;
      const found = await findRepository(await machine.open("read"), named());
      assertEquals(found.uri, repository.uri);
      await createRepository(await machine.open("write"), { name: "unmade" });
    });

    it("renames, or does not", async () => {
      for (
        const [fault, isRenamed] of [
          [{ kind: "drop", when: "after" }, true],
          [{ kind: "drop", when: "before" }, false],
          [answer(429), false],
        ] as [Fault, boolean][]
      ) {
        const next = `${name}x`;
        using _ = proxies.pds.inject({ nsid: APPLY, times: 1 }, fault);
        const renaming = renameRepository(await machine.open("write"), named(), next);
        if (isRenamed) {
          await renaming;
          name = next;
        } else assertEquals((await assertRejects(() => renaming, KnotlessError)).exit, 7);
        const found = await findRepository(await machine.open("read"), named());
        assertEquals([found.uri, found.name], [repository.uri, name]);
      }
    });

    it("deletes a repository whose first answer was lost, and one cut off leaves orphans only", async () => {
      await write(noise(60_000));
      const { rkey, uri } = repository;
      {
        using _ = proxies.pds.inject({ nsid: APPLY, times: 1 }, { kind: "drop", when: "after" });
        await deleteRepository(await machine.open("write"), named(), name);
      }
      assertEquals(await packs(), []);

      await freshRepository();
      await write(noise(60_000));
      {
        using _ = proxies.pds.inject({ nsid: APPLY, skip: 1 }, { kind: "drop", when: "before" });
        const writing = await machine.open("write");
        await assertRejects(() => deleteRepository(writing, named(), name), RemoteError);
      }
      const orphans = await packs();
      assert(orphans.length > 0);
      for (const collection of ["repo", "refs", "name"]) {
        const left = await owner.list(`dev.knotless.${collection}`);
        assertEquals(
          left.filter((one) => one.uri.endsWith(rkey) || one.value.repo === uri),
          [],
          collection,
        );
      }
      const made = await createRepository(await machine.open("write"), { name });
      assert(made.uri !== repository.uri);
      const later = {
        ...await machine.open("write"),
        now: () => new Date(Date.now() + 25 * 60 * 60 * 1000),
      };
      await deleteRepository(later, named(), name);
      assertEquals(await packs(), [], "the orphans of a day ago");
    });

    it("writes nothing on what it knew before when what permits it cannot be read", async () => {
      const other = await openMachine(network, { account: machine.account });
      await using _ = other;
      await archiveRepository(await other.open("write"), named(), false);
      const before = await manifest();
      const match = { nsid: "com.atproto.repo.getRecord", path: /dev\.knotless\.(repo|name)/ };
      using _down = proxies.pds.inject(match, { kind: "drop", when: "before" });
      const error = await assertRejects(() => write("archived\n"), RemoteError);
      assertEquals(error.exit, 7);
      assertEquals(await manifest(), before);
    });
  });

  it("does not put a push's older log entries down twice", async () => {
    await freshRepository();
    for (let branch = 0; branch < 24; branch++) {
      await createBranch(await machine.open("write"), named(), { name: `b${branch}` });
    }
    const other = await openMachine(network, { account: machine.account });
    await using _ = other;
    // Each put is lost to another's branch once, until one has moved the log.
    for (let branch = 0; branch < 24; branch++) {
      let release = () => {};
      const until = new Promise<void>((resolve) => release = resolve);
      using rule = proxies.pds.inject({ nsid: PUT, times: 1 }, { kind: "hold", until });
      const late = createBranch(await machine.open("write"), named(), { name: `c${branch}` });
      while (rule.hits === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      await createBranch(await other.open("write"), named(), { name: `d${branch}` });
      release();
      await late;
    }
    const logs = (await owner.list("dev.knotless.log")).filter(({ value }) =>
      value.repo === repository.uri
    );
    assert(logs.length > 0);
    const ids = [...logs.map(({ value }) => value), { pushes: (await manifest()).log }]
      .flatMap(({ pushes }) => pushes.map(({ id }: Json) => id));
    assertEquals(ids.length, new Set(ids).size, "an id comes twice");
    assertEquals(ids.length, 1 + 24 * 3);
  });
});
