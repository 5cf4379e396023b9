import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { createHash } from "node:crypto";
import { formatCid } from "../../core/atproto/cid.ts";
import type { Account } from "../../core/atproto/identity.ts";
import { tellWaiting } from "../../core/atproto/http.ts";
import { openRecords, type Records } from "../../core/atproto/records.ts";
import { CorruptError, NotFoundError, RemoteError } from "../../core/errors.ts";
import { type Network, openNetwork } from "../support/network.ts";
import { openProxy, type Proxy } from "../support/proxy.ts";
import { closedUrl, type Edge, openEdge } from "./edge.ts";
import { type Call, openWorld, signIn, type World } from "./world.ts";

const FOLLOW = "dev.knotless.follow";
const ABSENT = "bafyreiaxcz5ssgzhjz5wrfovchyulvqmfgf24xhp5cfc7pl7x5qmd2fabe";

describe("records of a PDS", () => {
  let network: Network;
  let world: World;
  let proxy: Proxy;
  let records: Records;
  let call: Call;
  /** The account behind the proxy. */
  let account: Account;
  const cids = new Map<string, string>();

  beforeAll(async () => {
    network = await openNetwork();
    world = await openWorld(network.env);
    proxy = await openProxy(network.pds);
    records = world.records;
    const { handle, did, password } = await network.createAccount("records");
    call = await signIn(network.pds, { did, password });
    account = { ...await world.identity.resolve(handle), pds: proxy.url };
    const writes = Array.from({ length: 130 }, (_, i) => ({
      $type: "com.atproto.repo.applyWrites#create",
      collection: FOLLOW,
      rkey: `r${String(i).padStart(3, "0")}`,
      value: { $type: FOLLOW, subject: did, createdAt: "2026-11-30T20:00:00Z", n: i },
    }));
    const { body } = await call("com.atproto.repo.applyWrites", { repo: did, writes });
    assert(Array.isArray(body["results"]));
    for (const { uri, cid } of body["results"]) cids.set(String(uri).slice(-4), String(cid));
  });
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await world?.[Symbol.asyncDispose]();
    await network?.[Symbol.asyncDispose]();
  });

  it("are read one at a time, as they are now", async () => {
    const record = await records.get(account, FOLLOW, "r007");
    assertEquals(record, {
      uri: `at://${account.did}/${FOLLOW}/r007`,
      cid: cids.get("r007") ?? "",
      value: { $type: FOLLOW, subject: account.did, createdAt: "2026-11-30T20:00:00Z", n: 7 },
    });
    assertEquals(await records.get(account, FOLLOW, "nothing"), undefined);
  });

  it("are listed whole, over several pages, either way round", async () => {
    const names: string[] = [];
    for await (const { uri } of records.list(account, FOLLOW)) names.push(uri.slice(-4));
    assertEquals(names, [...cids.keys()].reverse());
    const back: string[] = [];
    for await (const { uri } of records.list(account, FOLLOW, { reverse: true })) {
      back.push(uri.slice(-4));
    }
    assertEquals(back, [...cids.keys()]);
    assertEquals(await Array.fromAsync(records.list(account, "dev.knotless.star")), []);
  });

  it("come by their CIDs in batches, without those that are not there", async () => {
    proxy.forget();
    const found = await records.getBlocks(account, [...cids.values(), ...cids.values()]);
    assertEquals(found.size, 130);
    assertEquals(proxy.count({ nsid: "com.atproto.sync.getBlocks" }), 3);
    const some = await records.getBlocks(account, [ABSENT, ...[...cids.values()].slice(0, 10)]);
    assertEquals(some.size, 10);
    assertEquals(some.get(cids.get("r003") ?? ""), {
      $type: FOLLOW,
      subject: account.did,
      createdAt: "2026-11-30T20:00:00Z",
      n: 3,
    });
    assertEquals((await records.getBlocks(account, [])).size, 0);
  });

  it("that lie about another record are refused", async () => {
    const uri = `at://${account.did}/${FOLLOW}/r001`;
    const record = { uri, cid: cids.get("r001"), value: { $type: FOLLOW } };
    for (
      const lie of [
        { ...record, uri: uri.replace("r001", "r002") },
        { ...record, uri: uri.replace("follow", "star") },
        { ...record, cid: "nonsense" },
        { ...record, value: [] },
        { ...record, value: { n: 1.5 } },
        { ...record, value: { b: { $bytes: "*" } } },
        JSON.parse(`{"a":`.repeat(200) + "1" + "}".repeat(200)),
      ]
    ) {
      using _fault = proxy.inject({}, { kind: "answer", status: 200, body: JSON.stringify(lie) });
      await assertRejects(() => records.get(account, FOLLOW, "r001"), CorruptError);
    }
    using _fault = proxy.inject({}, { kind: "answer", status: 200, body: "<html>" });
    await assertRejects(() => records.get(account, FOLLOW, "r001"), RemoteError, "no JSON");
  });

  it("of a list that does not end are refused", async () => {
    const uri = `at://${account.did}/${FOLLOW}/r001`;
    const record = { uri, cid: cids.get("r001"), value: {} };
    const body = JSON.stringify({ records: [record], cursor: "r001" });
    using _fault = proxy.inject({}, { kind: "answer", status: 200, body });
    await assertRejects(() => Array.fromAsync(records.list(account, FOLLOW)), CorruptError);
  });

  it("are asked for again when the PDS stumbles, three times at most", async () => {
    {
      using rule = proxy.inject({ times: 1 }, { kind: "drop", when: "before" });
      using other = proxy.inject({ times: 1 }, { kind: "answer", status: 503 });
      assert(await records.get(account, FOLLOW, "r001"));
      assertEquals(rule.hits + other.hits, 2);
    }
    using rule = proxy.inject({}, { kind: "answer", status: 502 });
    const error = await assertRejects(() => records.get(account, FOLLOW, "r001"), RemoteError);
    assertEquals([rule.hits, error.status, error.retryable], [3, 502, true]);
    assertEquals(error.host, new URL(proxy.url).host);
  });

  it("are not asked for again after 429, and the error says when", async () => {
    const headers = { "ratelimit-remaining": "0", "ratelimit-reset": "1796074576" };
    using rule = proxy.inject({ times: 1 }, { kind: "answer", status: 429, headers });
    const error = await assertRejects(() => records.get(account, FOLLOW, "r001"), RemoteError);
    assertEquals([rule.hits, error.code], [1, "remote.rate_limited"]);
    assertStringIncludes(error.message, "2026-11-30T21:");
    using _later = proxy.inject({}, {
      kind: "answer",
      status: 429,
      headers: { "retry-after": "30" },
    });
    await assertRejects(() => records.get(account, FOLLOW, "r001"), RemoteError, "in 30 seconds");
  });

  it("of an unreachable PDS are a fault of its host", async () => {
    const away = { ...account, pds: await closedUrl() };
    const error = await assertRejects(() => records.get(away, FOLLOW, "r001"), RemoteError);
    assertEquals([error.host, error.code], [new URL(away.pds).host, "remote.unreachable"]);
  });

  it("that do not come in time are a fault of their host", async () => {
    const { signal } = new AbortController();
    const hurried = openRecords({ fetch, signal, timeoutMs: 60, random: () => 0 });
    const { promise, resolve } = Promise.withResolvers<void>();
    using _fault = proxy.inject({}, { kind: "hold", until: promise });
    const error = await assertRejects(() => hurried.get(account, FOLLOW, "r001"), RemoteError);
    resolve();
    assertEquals(error.code, "remote.timeout");
  });

  it("are tried twice with a silent PDS, then once each, and it is said once who is waited for", async () => {
    const { signal } = new AbortController();
    const notes: string[] = [];
    const told = tellWaiting(fetch, (text) => void notes.push(text), 5);
    const hurried = openRecords({ fetch: told, signal, timeoutMs: 1500, random: () => 0 });
    const { promise, resolve } = Promise.withResolvers<void>();
    using _fault = proxy.inject({}, { kind: "hold", until: promise });
    const counts: number[] = [];
    for (const rkey of ["r001", "r002"]) {
      proxy.forget();
      await assertRejects(() => hurried.get(account, FOLLOW, rkey), RemoteError, "in time");
      counts.push(proxy.count());
    }
    resolve();
    assertEquals(counts, [2, 1]);
    assertEquals(notes, [`waiting for ${new URL(account.pds).host}`]);
  });

  it("stop being waited for when the command is stopped", async () => {
    const stop = new AbortController();
    const stopped = openRecords({ fetch, signal: stop.signal, timeoutMs: 5000 });
    const { promise, resolve } = Promise.withResolvers<void>();
    using _fault = proxy.inject({}, { kind: "hold", until: promise });
    const reason = new Error("stopped");
    const asked = stopped.get(account, FOLLOW, "r001");
    stop.abort(reason);
    assertEquals(await assertRejects(() => asked, Error), reason);
    resolve();
  });

  it("of a deactivated account are neither absent nor deleted", async () => {
    const other = await network.createAccount("away");
    const act = await signIn(network.pds, other);
    const away = await world.identity.resolve(other.did);
    await act("com.atproto.server.deactivateAccount", {});
    for (
      const read of [
        () => records.get(away, FOLLOW, "r001"),
        () => Array.fromAsync(records.list(away, FOLLOW)),
        () => records.getBlocks(away, [ABSENT]),
        () => Array.fromAsync(records.blob(away, ABSENT.replace("bafyrei", "bafkrei"), 9)),
      ]
    ) {
      const error = await assertRejects(read, RemoteError, "deactivated");
      assertEquals(error.code, "remote.deactivated");
    }
  });

  it("of an account that the PDS does not have are no record not found", async () => {
    const { signal } = new AbortController();
    const plain = openRecords({ fetch, signal, timeoutMs: 5000 });
    const nobody: Account = { ...account, did: "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa" };
    for (
      const read of [
        () => plain.get(nobody, FOLLOW, "r001"),
        () => Array.fromAsync(plain.list(nobody, FOLLOW)),
        () => plain.getBlocks(nobody, [ABSENT, ABSENT]),
      ]
    ) assertEquals((await assertRejects(read, NotFoundError)).code, "not_found.account");
  });

  it("are found where the account is now, once its old PDS no longer has it", async () => {
    await using old = await openEdge((_, response) => {
      response.statusCode = 400;
      response.end(JSON.stringify({ error: "RepoNotFound", message: "gone" }));
    });
    const moved = { ...account, pds: old.url };
    assertEquals((await records.get(moved, FOLLOW, "r001"))?.cid, cids.get("r001"));
    assertEquals((await Array.fromAsync(records.list(moved, FOLLOW))).length, 130);
  });

  it("are bounded by what the PDS says of itself", async () => {
    const { blobUploadLimit } = await records.describe(account.pds);
    assert(blobUploadLimit >= 5_000_000);
    using _fault = proxy.inject({}, { kind: "answer", status: 200, body: "{}" });
    assertEquals(await records.describe(account.pds), { blobUploadLimit: 5_000_000 });
  });
});

describe("blobs of a PDS", () => {
  const bytes = new TextEncoder().encode("a pack ".repeat(30_000));
  const digest = new Uint8Array(createHash("sha256").update(bytes).digest());
  const cid = formatCid({ codec: "raw", digest });
  let network: Network;
  let world: World;
  let proxy: Proxy;
  let account: Account;

  const read = (most = bytes.length, from = account) =>
    Array.fromAsync(world.records.blob(from, cid, most)).then((parts) => Buffer.concat(parts));

  beforeAll(async () => {
    network = await openNetwork();
    world = await openWorld(network.env);
    proxy = await openProxy(network.pds);
    const { did, password } = await network.createAccount("blobs");
    const call = await signIn(network.pds, { did, password });
    account = { ...await world.identity.resolve(did), pds: proxy.url };
    const { body } = await call("com.atproto.repo.uploadBlob", bytes, "application/octet-stream");
    const value = { $type: FOLLOW, blob: body["blob"] };
    await call("com.atproto.repo.createRecord", { repo: did, collection: FOLLOW, record: value });
  });
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await world?.[Symbol.asyncDispose]();
    await network?.[Symbol.asyncDispose]();
  });

  it("come whole, and uncompressed", async () => {
    proxy.forget();
    assert((await read()).equals(bytes));
    assertEquals(proxy.seen[0]?.headers["accept-encoding"], "identity");
  });

  it("are refused when they are longer than said", async () => {
    await assertRejects(() => read(bytes.length - 1), CorruptError, "longer");
  });

  it("are refused when they are other bytes, or fewer", async () => {
    for (const body of ["other bytes", ""]) {
      using _fault = proxy.inject({}, { kind: "answer", status: 200, body });
      await assertRejects(() => read(), CorruptError, cid);
    }
  });

  it("that break off are the connection's fault", async () => {
    using _fault = proxy.inject({}, { kind: "cut" });
    const error = await assertRejects(() => read(), RemoteError);
    assertEquals(error.code, "remote.lost");
  });

  it("that the PDS does not have are not found", async () => {
    const gone = cid.replace(/...$/, "aaa");
    const reading = () => Array.fromAsync(world.records.blob(account, gone, 10));
    assertEquals((await assertRejects(reading, NotFoundError)).code, "not_found.blob");
  });

  it("come from where the PDS sends on to, where that is allowed", async () => {
    await using store: Edge = await openEdge((_, response) => response.end(bytes));
    const send = (location: string) =>
      proxy.inject({}, { kind: "answer", status: 302, headers: { location } });
    {
      using _fault = send(`${store.url}/blob`);
      assert((await read()).equals(bytes));
    }
    for (
      const location of [
        "http://blobs.example.com/x",
        "https://169.254.169.254/latest",
        "file:///etc/passwd",
        "/xrpc/again",
      ]
    ) {
      using _fault = send(location);
      await assertRejects(() => read(), RemoteError, "sends on");
    }
  });

  it("do not lead from a public PDS to this machine", async () => {
    const { signal } = new AbortController();
    const asked: string[] = [];
    const records = openRecords({
      fetch: (input) => {
        asked.push(String(input));
        const headers = { location: "http://localhost:8080/admin" };
        return Promise.resolve(new Response(null, { status: 307, headers }));
      },
      signal,
      timeoutMs: 1000,
    });
    const abroad = { ...account, pds: "https://pds.example.com" };
    const reading = () => Array.fromAsync(records.blob(abroad, cid, 10));
    await assertRejects(reading, RemoteError, "sends on");
    assertEquals(asked.length, 1);
  });
});
