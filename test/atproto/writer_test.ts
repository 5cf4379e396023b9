import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import type { Account } from "../../core/atproto/identity.ts";
import { ID } from "../../core/atproto/lexicons.gen.ts";
import type { Sessions } from "../../core/atproto/session.ts";
import { openWriter, type Writer } from "../../core/atproto/writer.ts";
import { AuthError, ConflictError, RemoteError } from "../../core/errors.ts";
import { type Network, openNetwork } from "../support/network.ts";
import { type NetworkProxies, proxyNetwork } from "../support/proxy.ts";
import { closedUrl } from "./edge.ts";
import { openLogins, openWorld, type World } from "./world.ts";

const RKEY = "3jzfcijpj2z2a";

describe("a writer", () => {
  let network: Network;
  let proxies: NetworkProxies;
  let world: World;
  let sessions: Sessions;
  let account: Account;
  let writer: Writer;
  let count = 0;

  const follow = (n = 0) => ({
    subject: account.did,
    createdAt: `2026-11-30T20:00:${String(n).padStart(2, "0")}Z`,
  });
  const rkey = () => `r${count++}`;
  const write = (changed: Partial<Parameters<typeof openWriter>[0]> = {}) =>
    openWriter({
      account,
      authorized: () => sessions.authorized(account.did),
      signal: new AbortController().signal,
      timeoutMs: 5000,
      ...changed,
    });
  const get = (collection: string, key: string) => world.records.get(account, collection, key);

  beforeAll(async () => {
    network = await openNetwork();
    proxies = await proxyNetwork(network);
    world = await openWorld(proxies.env);
    const { did, password } = await network.createAccount("writer");
    account = await world.identity.resolve(did);
    assertEquals(account.pds, proxies.pds.url);
    sessions = openLogins(world);
    await sessions.loginWithPassword(account, password);
    writer = write();
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await proxies?.[Symbol.asyncDispose]();
    await network?.[Symbol.asyncDispose]();
  });

  it("creates, puts and deletes records that read back as they were", async () => {
    const key = rkey();
    const created = await writer.create(ID.follow, key, { ...follow(), more: undefined });
    assertEquals(created.uri, `at://${account.did}/${ID.follow}/${key}`);
    const stored = await get(ID.follow, key);
    assertEquals(stored, { ...created, value: { $type: ID.follow, ...follow() } });
    const put = await writer.put(ID.follow, key, follow(1), created.cid);
    assertEquals((await get(ID.follow, key))?.cid, put.cid);
    await writer.delete(ID.follow, key, put.cid);
    assertEquals(await get(ID.follow, key), undefined);
    await writer.delete(ID.follow, key);
  });

  it("keeps bytes and blobs", async () => {
    const bytes = new Uint8Array(70_000).map((_, i) => i * i >> 3);
    const blob = await writer.uploadBlob(bytes);
    assertEquals([blob.size, blob.ref.$link.slice(0, 7)], [70_000, "bafkrei"]);
    const pack = {
      repo: `at://${account.did}/dev.knotless.repo/${RKEY}`,
      sha256: "a".repeat(64),
      bytes: bytes.length,
      objects: 1,
      needs: [],
      folds: [],
      data: bytes.slice(0, 1000),
      blobs: [blob],
    };
    const { cid } = await writer.create(ID.pack, RKEY, pack);
    assertEquals((await get(ID.pack, RKEY))?.value, { $type: ID.pack, ...pack });
    assertEquals((await world.records.getBlocks(account, [cid])).get(cid), {
      $type: ID.pack,
      ...pack,
    });
    const read = Array.fromAsync(world.records.blob(account, blob.ref.$link, bytes.length));
    assertEquals(new Uint8Array(Buffer.concat(await read)), bytes);
  });

  it("applies several writes in one commit, or none", async () => {
    const [one, two] = [rkey(), rkey()];
    const { commit, results } = await writer.apply([
      { action: "create", collection: ID.follow, rkey: one, value: follow() },
      { action: "create", collection: ID.follow, rkey: two, value: follow() },
    ]);
    assertEquals(results.map((result) => result?.uri.split("/").pop()), [one, two]);
    const next = await writer.apply([
      { action: "update", collection: ID.follow, rkey: one, value: follow(5) },
      { action: "delete", collection: ID.follow, rkey: two },
    ], commit.cid);
    assertEquals(next.results[1], undefined);
    assertEquals((await get(ID.follow, one))?.cid, next.results[0]?.cid);
    const late = () =>
      writer.apply([{ action: "delete", collection: ID.follow, rkey: one }], commit.cid);
    assertEquals((await assertRejects(late, ConflictError)).code, "conflict.swap");
    assert(await get(ID.follow, one));
  });

  it("sends the swap in every put, also the null that only creates", async () => {
    const key = rkey();
    proxies.pds.forget();
    await writer.put(ID.follow, key, follow(), null);
    assertStringIncludes(proxies.pds.seen.at(-1)?.body.toString() ?? "", '"swapRecord":null');
    const again = () => writer.put(ID.follow, key, follow(1), null);
    const error = await assertRejects(again, ConflictError);
    assertEquals(error.code, "conflict.swap");
  });

  it("lets one of many racing swaps win, and tells the others", async () => {
    const key = rkey();
    let { cid } = await writer.create(ID.follow, key, follow());
    for (let round = 0; round < 5; round++) {
      const tries = await Promise.allSettled(
        Array.from(
          { length: 6 },
          (_, i) => write().put(ID.follow, key, { ...follow(round), by: i }, cid),
        ),
      );
      const won = tries.filter((one) => one.status === "fulfilled");
      const lost = tries.filter((one) => one.status === "rejected");
      assertEquals([won.length, lost.length], [1, 5]);
      for (const { reason } of lost) assertEquals(reason.code, "conflict.swap");
      cid = won[0]?.value.cid ?? "";
      assertEquals((await get(ID.follow, key))?.cid, cid);
    }
  });

  it("calls a write in doubt when no answer came, and never sends it twice", async () => {
    const faults = [
      { kind: "drop", when: "before" },
      { kind: "drop", when: "after" },
      { kind: "cut" },
      { kind: "answer", status: 500 },
      { kind: "answer", status: 502, body: "<html>" },
      { kind: "answer", status: 504 },
      { kind: "answer", status: 200, body: "{}" },
    ] as const;
    for (const fault of faults) {
      const key = rkey();
      using rule = proxies.pds.inject({ method: "POST" }, fault);
      const writing = () => writer.create(ID.follow, key, follow());
      const error = await assertRejects(writing, RemoteError);
      assertEquals([error.code, rule.hits], ["remote.doubt", 1], JSON.stringify(fault));
      assertEquals(error.host, new URL(account.pds).host);
      const done = fault.kind === "cut" || (fault.kind === "drop" && fault.when === "after");
      assertEquals(await get(ID.follow, key) !== undefined, done);
    }
  });

  it("calls a write in doubt when the answer is late", async () => {
    const key = rkey();
    const { promise, resolve } = Promise.withResolvers<void>();
    using _fault = proxies.pds.inject({ method: "POST" }, { kind: "hold", until: promise });
    const late = write({ timeoutMs: 100 });
    const error = await assertRejects(() => late.create(ID.follow, key, follow()), RemoteError);
    resolve();
    assertEquals(error.code, "remote.doubt");
  });

  it("calls a write in doubt where a record is already: the PDS says no more than 500", async () => {
    const key = rkey();
    await writer.create(ID.follow, key, follow());
    const error = await assertRejects(() => writer.create(ID.follow, key, follow(1)), RemoteError);
    assertEquals(error.code, "remote.doubt");
  });

  it("is in no doubt when nothing was sent", async () => {
    const fetch = async (path: string, init?: RequestInit) =>
      await globalThis.fetch(new URL(path, await closedUrl()), init);
    const away = write({
      authorized: () => ({ did: account.did, pds: account.pds, fetch }),
    });
    const error = await assertRejects(() => away.create(ID.follow, rkey(), follow()), RemoteError);
    assertEquals(error.code, "remote.unreachable");
  });

  it("says when to try again after 429", async () => {
    const headers = { "ratelimit-reset": "1796074576", "ratelimit-remaining": "0" };
    using _fault = proxies.pds.inject({ method: "POST" }, { kind: "answer", status: 429, headers });
    const writing = () => writer.create(ID.follow, rkey(), follow());
    const error = await assertRejects(writing, RemoteError, "after 2026-11-30T");
    assertEquals([error.code, error.retryable], ["remote.rate_limited", true]);
  });

  it("tells that a blob is missing", async () => {
    const pack = {
      repo: `at://${account.did}/dev.knotless.repo/${RKEY}`,
      sha256: "a".repeat(64),
      bytes: 9,
      objects: 1,
      needs: [],
      folds: [],
      blobs: [{
        $type: "blob",
        ref: { $link: "bafkreiaxcz5ssgzhjz5wrfovchyulvqmfgf24xhp5cfc7pl7x5qmd2fabe" },
        mimeType: "application/octet-stream",
        size: 9,
      }],
    };
    const writing = () => writer.create(ID.pack, "3jzfcijpj2z2b", pack);
    assertEquals((await assertRejects(writing, RemoteError)).code, "remote.blob_missing");
  });

  it("tells that a blob is over the PDS's limit", async () => {
    const { blobUploadLimit } = await world.records.describe(account.pds);
    const upload = () => writer.uploadBlob(new Uint8Array(blobUploadLimit + 1));
    const error = await assertRejects(upload, RemoteError);
    assertEquals([error.code, error.retryable], ["remote.too_large", false]);
  });

  it("never sends a record that breaks its lexicon", async () => {
    proxies.pds.forget();
    const bad = { ...follow(), subject: "alice.test" };
    const writes = [{ action: "create", collection: ID.follow, rkey: rkey(), value: bad }] as const;
    for (
      const writing of [
        () => writer.create(ID.follow, rkey(), bad),
        () => writer.put(ID.follow, rkey(), bad, null),
        () => writer.apply(writes),
        () => writer.create("dev.knotless.unheard", rkey(), follow()),
      ]
    ) assertStringIncludes((await assertRejects(writing, Error)).message, "breaks its lexicon");
    assertEquals(proxies.pds.writes().requests, 0);
  });

  it("stops when the command is stopped", async () => {
    const stop = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    using _fault = proxies.pds.inject({ method: "POST" }, { kind: "hold", until: promise });
    const writing = write({ signal: stop.signal }).create(ID.follow, rkey(), follow());
    const reason = new Error("stopped");
    stop.abort(reason);
    assertEquals(await assertRejects(() => writing, Error), reason);
    resolve();
  });

  it("names the scope that a login lacks", async () => {
    const body = JSON.stringify({
      error: "ScopeMissingError",
      message: 'Missing required scope "repo:dev.knotless.follow?action=create"',
    });
    using _fault = proxies.pds.inject({ method: "POST" }, {
      kind: "answer",
      status: 403,
      headers: { "content-type": "application/json" },
      body,
    });
    const error = await assertRejects(
      () => writer.create(ID.follow, rkey(), follow()),
      AuthError,
      "repo:dev.knotless.follow?action=create",
    );
    assertEquals([error.code, error.hint], ["auth.scope", {
      signIn: "scope",
      account: account.did,
    }]);
  });

  it("is in no doubt when the login has ended", async () => {
    const fetch = () => Promise.reject(new AuthError("ended", "the login has ended"));
    const ended = write({
      authorized: () => ({ did: account.did, pds: account.pds, fetch }),
    });
    const error = await assertRejects(() => ended.create(ID.follow, rkey(), follow()), AuthError);
    assertEquals(error.code, "auth.ended");
  });

  it("tells a deactivated account from a login that has ended", async () => {
    const { did, password } = await network.createAccount("asleep");
    const other = await world.identity.resolve(did);
    await sessions.loginWithPassword(other, password);
    const { fetch } = sessions.authorized(other.did);
    const asleep = write({ account: other, authorized: () => sessions.authorized(other.did) });
    await fetch("/xrpc/com.atproto.server.deactivateAccount", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    const error = await assertRejects(
      () => asleep.create(ID.follow, rkey(), follow()),
      RemoteError,
    );
    assertEquals(error.code, "remote.deactivated");
  });
});
