import { assertEquals } from "@std/assert";
import { findRepository } from "../../core/forge/repository.ts";
import { binary } from "../support/binary.ts";
import { run } from "../support/run.ts";
import { noise } from "../support/owner.ts";
import { describePair } from "../support/pair.ts";
import { openProxiedMachine } from "../support/proxied.ts";
import { GET_BLOB } from "../support/races.ts";

const ONLINE = { offline: false, maxAge: 0 };

describePair("those that use one copy at once", (it) => {
  it("in one process sync it once, and fetch each pack once", async ({ app, left, network }) => {
    await app.commit(left, [{ path: "a", base64: noise(200_000).toBase64() }]);
    await using reader = await openProxiedMachine(network, {
      account: left.account,
      login: false,
    });
    const views = await Promise.all(Array.from({ length: 4 }, async () => {
      const { mirror } = await findRepository(await reader.open("read"), app.named);
      return await mirror.view(ONLINE);
    }));
    for (const { refs, cid } of views) {
      assertEquals([refs.size, cid], [1, views[0]?.cid]);
    }
    assertEquals(reader.proxies.pds.count({ nsid: GET_BLOB }), 1);
  });

  it("are eight processes that find none, and all answer", async ({ app, left, network }) => {
    await app.commit(left, [{ path: "a", base64: noise(200_000).toBase64() }, {
      path: "b",
      content: "text\n",
    }]);
    const program = await binary();
    await using reader = await openProxiedMachine(network, {
      account: left.account,
      login: false,
    });
    const repo = `${left.account.handle}/${app.named.name}`;
    const ended = await Promise.all(
      Array.from(
        { length: 8 },
        () => run(program, ["repo", "read", repo, "b"], { env: reader.env, cwd: reader.dir }),
      ),
    );
    for (const { status, out, err } of ended) assertEquals([status, out], [0, "text\n"], err);
    assertEquals(reader.proxies.pds.count({ nsid: GET_BLOB }), 1);
  });
});
