import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { KnotlessError, RemoteError } from "../../core/errors.ts";
import { findRepository } from "../../core/forge/repository.ts";
import { answer, describeFaults, type Faulty } from "../support/faults.ts";
import { fsck } from "../support/git.ts";
import type { Machine } from "../support/machine.ts";
import { noise } from "../support/owner.ts";
import { openProxiedMachine, type ProxiedMachine } from "../support/proxied.ts";
import type { Fault, Match } from "../support/proxy.ts";

describeFaults("while it is read", (it) => {
  const steps: [string, Match][] = [
    ["the name", { nsid: "com.atproto.repo.getRecord", path: /dev\.knotless\.name/ }],
    ["the repository", { nsid: "com.atproto.repo.getRecord", path: /dev\.knotless\.repo/ }],
    ["the manifest", { nsid: "com.atproto.repo.getRecord", path: /dev\.knotless\.refs/ }],
    ["pack records", { nsid: "com.atproto.sync.getBlocks" }],
    ["a piece", { nsid: "com.atproto.sync.getBlob" }],
  ];

  /** Opens a machine that never saw the repository. */
  async function openReader({ network, owner: { account } }: Faulty): Promise<ProxiedMachine> {
    return await openProxiedMachine(network, { account, login: false });
  }

  async function view(reader: Machine, { app }: Faulty, globals?: { maxAge: number }) {
    const context = await reader.open("read", globals);
    const { mirror } = await findRepository(context, app.named);
    return { mirror, view: await mirror.view(context.freshness) };
  }

  for (const [what, match] of steps) {
    it(`is asked for ${what} again, or fails plainly and makes no half copy`, async (faulty) => {
      await faulty.write(noise(300_000));
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
        await using reader = await openReader(faulty);
        const said = `${times} ${JSON.stringify(fault)}`;
        {
          using rule = reader.proxies.pds.inject({ ...match, times }, fault);
          try {
            await view(reader, faulty);
            assert(passes !== false, said);
          } catch (error) {
            assert(error instanceof KnotlessError && passes !== true, `${said}: ${error}`);
            assertEquals(error.exit, 7, said);
          }
          assert(rule.hits > 0, said);
        }
        const { mirror, view: { refs } } = await view(reader, faulty);
        assertEquals(refs.get("refs/heads/main")?.oid, await faulty.app.tip(), said);
        fsck(mirror.path);
      }
    });
  }

  it("takes no wrong bytes for a piece, and asks for it alone again", async (faulty) => {
    await faulty.write(noise(300_000));
    await using reader = await openReader(faulty);
    const size = (await faulty.app.manifest()).packs.at(-1).bytes;
    for (const body of ["x".repeat(size), "x".repeat(size - 1), "x".repeat(size + 1), ""]) {
      const match = { nsid: "com.atproto.sync.getBlob", times: 1 };
      using rule = reader.proxies.pds.inject(match, { kind: "answer", status: 200, body });
      const error = await assertRejects(() => view(reader, faulty), KnotlessError);
      assertMatch(error.message, /is not what its CID says|is longer than|has \d+ bytes/);
      assertEquals(rule.hits, 1);
    }
    assertEquals((await view(reader, faulty)).view.refs.size, 1);
  });

  it("uses the copy at hand with a note of its age, however it fails", async (faulty) => {
    await faulty.write(noise(300_000));
    await using reader = await openReader(faulty);
    const { refs } = (await view(reader, faulty)).view;
    for (
      const fault of [
        { kind: "drop", when: "before" },
        answer(429),
      ] as Fault[]
    ) {
      reader.notes.splice(0);
      using _ = reader.proxies.pds.inject({}, fault);
      assertEquals((await view(reader, faulty, { maxAge: 0 })).view.refs, refs);
      assertEquals(reader.notes.length, 1, reader.notes.join("\n"));
      assertMatch(reader.notes[0] ?? "", /; this is the copy of less than a minute ago$/);
      assertEquals(
        (await assertRejects(() => view(reader, faulty), RemoteError)).exit,
        7,
        "a refresh fails",
      );
      using _quick = reader.proxies.pds.inject({}, { kind: "drop", when: "before" });
      assertEquals((await view(reader, faulty, { maxAge: 60_000 })).view.refs, refs);
    }
  });
});
