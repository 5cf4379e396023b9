import { assertEquals, assertRejects } from "@std/assert";
import { RemoteError } from "../../core/errors.ts";
import { findRepository } from "../../core/forge/repository.ts";
import { openMirrors } from "../../core/mirror/mirrors.ts";
import { describeCopies } from "../support/copies.ts";
import { freshTid } from "../support/owner.ts";

describeCopies("a copy in a mirror", (it) => {
  it("asks nothing offline, and says what to do without a copy", async ({ app, owner, proxies, copyAnew }) => {
    await using reader = await copyAnew();
    proxies.pds.forget();
    proxies.plc.forget();
    const offline = await reader.open("read", { offline: true });
    const error = await assertRejects(
      () => findRepository(offline, { owner: owner.account.handle, name: app.repository.name }),
      RemoteError,
    );
    assertEquals([error.exit, error.code], [7, "remote.offline"]);
    await findRepository(await reader.open("read"), app.named);
    proxies.pds.forget();
    proxies.plc.forget();
    const found = await findRepository(await reader.open("read", { offline: true }), app.named);
    const view = await found.mirror.view({ offline: true, maxAge: 0 });
    assertEquals(view.refs.get("refs/heads/main")?.oid, await app.tip());
    assertEquals(proxies.pds.count() + proxies.plc.count(), 0);
    assertEquals(reader.notes, []);
  });

  it("is as old as the clock says, forwards and backwards", async ({ app, proxies, copyAnew }) => {
    await using reader = await copyAnew();
    const { mirror } = reader;
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
    const clocked = mirrors.at(mirror.account, app.repository.rkey);
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
