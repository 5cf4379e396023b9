import { assertEquals, assertRejects } from "@std/assert";
import { KnotlessError } from "../../core/errors.ts";
import { answer, describeFaults, type Faulty } from "../support/faults.ts";
import { type Json, noise } from "../support/owner.ts";
import type { Fault, Match } from "../support/proxy.ts";

const CREATE = "com.atproto.repo.createRecord";
const UPLOAD = "com.atproto.repo.uploadBlob";

describeFaults("while a pack is sent", (it) => {
  /** Writes a large file while a step fails once; it must land, or fail plainly and land the next time. */
  async function once(
    { app, proxies, write, check }: Faulty,
    match: Match,
    fault: Fault,
    { lands }: { lands: boolean },
  ): Promise<void> {
    const before = await app.manifest();
    const content = noise(120_000);
    {
      using rule = proxies.pds.inject({ ...match, times: 1 }, fault);
      const said = JSON.stringify([match, fault]);
      if (lands) {
        await write(content);
      } else {
        const error = await assertRejects(() => write(content), KnotlessError);
        assertEquals(error.exit, 7, said);
        assertEquals(await app.manifest(), before);
        check();
        await write(content);
      }
      assertEquals(rule.hits, 1, said);
    }
    const now = await app.manifest();
    assertEquals(now.generation, before.generation + 1);
    const listed = now.packs.map(({ rkey }: Json) => rkey).sort();
    assertEquals((await app.packs()).map((uri) => uri.split("/").at(-1)).sort(), listed, "orphans");
    check();
  }

  it("is no matter for pieces and pack records whose answers were lost", async (faulty) => {
    for (const nsid of [UPLOAD, CREATE]) {
      await once(faulty, { nsid }, { kind: "drop", when: "after" }, { lands: true });
      await once(faulty, { nsid }, { kind: "drop", when: "before" }, { lands: true });
      await once(faulty, { nsid }, { kind: "cut" }, { lands: true });
      await once(faulty, { nsid }, answer(500), { lands: true });
      await once(faulty, { nsid }, answer(502), { lands: true });
    }
  });

  it("is an error for one that is refused, and the next try lands", async (faulty) => {
    for (const nsid of [UPLOAD, CREATE]) {
      await once(faulty, { nsid }, answer(429), { lands: false });
      await once(faulty, { nsid }, answer(413), { lands: false });
      await once(faulty, { nsid }, answer(400), { lands: false });
    }
  });

  it("sends a piece again that the PDS no longer has", async (faulty) => {
    const { proxies } = faulty;
    proxies.pds.forget();
    // The first record is that of the tail, which is sealed.
    await once(faulty, { nsid: CREATE, skip: 1 }, answer(400, "BlobNotFound"), { lands: true });
    assertEquals(proxies.pds.count({ nsid: UPLOAD }), 2);
  });
});
