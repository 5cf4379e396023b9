import { assert } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { commitChanges } from "../../core/forge/commit.ts";
import { createRepository } from "../../core/forge/create.ts";
import { sampleText } from "../support/git.ts";
import { openProxied, type Proxied } from "../support/proxied.ts";

describe("small commits one by one", () => {
  let proxied: Proxied;
  beforeAll(async () => {
    proxied = await openProxied("small");
  });
  afterAll(async () => {
    await proxied[Symbol.asyncDispose]();
  });

  it("are each one write of at most 32 kB, but where a tail is sealed or a log put away", async () => {
    const { proxies } = proxied;
    await using machine = await proxied.open();
    const context = await machine.open("write");
    const named = { owner: context.account.did, name: "app" };
    await createRepository(context, { name: "app" });
    const files = Array.from({ length: 60 }, (_, i) => ({ path: `d${i % 5}/f${i}`, content: "x" }));
    const text = { path: "text", content: sampleText(20_000) };
    await commitChanges(context, named, { message: "start", changes: [...files, text] });
    let more = 0;
    for (let i = 0; i < 120; i++) {
      proxies.pds.forget();
      // Each commit changes another file, and adds text that does not compress.
      await commitChanges(context, named, {
        message: `change ${i}\n\n${crypto.randomUUID()} ${"why it was made ".repeat(i % 7)}`,
        changes: [{ path: `d${i % 5}/f${i % 60}`, content: `${crypto.randomUUID()}\n`.repeat(9) }],
      });
      const { requests } = proxies.pds.writes();
      const put = proxies.pds.seen.filter(({ nsid }) => nsid === "com.atproto.repo.putRecord");
      const largest = Math.max(...put.map(({ body }) => body.length));
      assert(largest <= 32 * 1024, `push ${i}: ${largest} bytes`);
      if (requests > 1) more++;
    }
    assert(more > 0 && more <= 24, `${more} of 120 were more than one write`);
  });
});
