import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { KnotlessError, RemoteError } from "../../core/errors.ts";
import { answer, describeFaults } from "../support/faults.ts";
import { type Json, noise } from "../support/owner.ts";
import type { Fault } from "../support/proxy.ts";
import { PUT } from "../support/racer.ts";

describeFaults("while a manifest is put", (it) => {
  it("is no matter when the write landed and only its answer was lost", async ({ app, proxies, write, check }) => {
    for (
      const fault of [
        { kind: "drop", when: "after" },
        { kind: "cut" },
      ] satisfies Fault[]
    ) {
      const before = await app.manifest();
      using rule = proxies.pds.inject({ nsid: PUT, times: 1 }, fault);
      const commit = await write(`${fault.kind}\n`);
      const now = await app.manifest();
      assertEquals([rule.hits, await app.tip()], [1, commit]);
      assertEquals(now.generation, before.generation + 1);
      assertEquals(now.log.filter(({ updates }: Json) => updates[0].new === commit).length, 1);
      check();
    }
  });

  it("is tried again, once, when the write did not land", async ({ app, proxies, write, check }) => {
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
      assertEquals([rule.hits, proxies.pds.count({ nsid: PUT }), await app.tip()], [1, 2, commit]);
      const { log } = await app.manifest();
      assertEquals(log.filter(({ updates }: Json) => updates[0].new === commit).length, 1);
    }
    check();
  });

  it("is an error that says the write is in doubt when even the look fails", async ({ app, proxies, write, check }) => {
    const before = await app.tip();
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
    assert(await app.tip() !== before);
    // The same again changes nothing: it had landed.
    const error = await assertRejects(() => write("in doubt\n"), KnotlessError);
    assertMatch(error.message, /nothing changes/);
    check();
  });

  it("is an error, and nothing is left, when it is refused", async ({ app, proxies, write, check }) => {
    const before = await app.manifest();
    const records = await app.packs();
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
      assertEquals(await app.manifest(), before);
      assertEquals(await app.packs(), records, "a pack stayed");
      check();
    }
    const commit = await write("now\n");
    assertEquals(await app.tip(), commit);
  });

  it("is given up after some tries, and what may land is not taken back", async ({ app, proxies, write, check }) => {
    const before = await app.manifest();
    {
      using rule = proxies.pds.inject({ nsid: PUT }, { kind: "drop", when: "before" });
      const error = await assertRejects(() => write(noise(20_000)), RemoteError);
      assertEquals([error.exit, error.code], [7, "remote.doubt"]);
      assert(rule.hits <= 6, `${rule.hits} tries`);
    }
    assertEquals(await app.manifest(), before);
    assertEquals(
      (await app.packs()).length,
      before.packs.length + 2,
      "the sealed tail and the pack",
    );
    const commit = await write(noise(20_000));
    assertEquals(await app.tip(), commit);
    check();
  });
});
