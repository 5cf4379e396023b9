import { AtpAgent } from "@atproto/api";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { afterAll, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import type { Account } from "../../scripts/sandbox/state.ts";
import { type Network, openNetwork } from "../support/network.ts";
import { type NetworkProxies, proxyNetwork } from "../support/proxy.ts";

const collection = "dev.knotless.issue";
const put = "com.atproto.repo.putRecord";
const describing = "com.atproto.server.describeServer";

describe("a proxy in front of a PDS", () => {
  let network: Network;
  let proxies: NetworkProxies;
  let account: Account;
  let agent: AtpAgent;

  beforeAll(async () => {
    network = await openNetwork();
    proxies = await proxyNetwork(network);
    account = await network.createAccount("proxy");
    agent = new AtpAgent({ service: proxies.env.KNOTLESS_PDS });
    await agent.login({ identifier: account.did, password: await network.appPassword(account) });
  });
  afterAll(async () => {
    await proxies[Symbol.asyncDispose]();
    await network.stop();
  });
  beforeEach(() => proxies.pds.forget());

  const write = (rkey: string) =>
    agent.com.atproto.repo.putRecord({
      repo: account.did,
      collection,
      rkey,
      record: { $type: collection },
    });
  const isThere = async (rkey: string) => {
    const query = new URLSearchParams({ repo: account.did, collection, rkey });
    const response = await fetch(`${network.pds}/xrpc/com.atproto.repo.getRecord?${query}`);
    await response.body?.cancel();
    return response.ok;
  };
  const describeServer = () => fetch(`${proxies.pds.url}/xrpc/${describing}`);

  it("is what the directory's documents name", async () => {
    const response = await fetch(`${proxies.env.KNOTLESS_PLC}/${account.did}`);
    const { service } = await response.json();
    assertEquals(service[0].serviceEndpoint, proxies.pds.url);
    assertEquals(proxies.plc.seen.at(-1)?.path, `/${account.did}`);
  });

  it("counts requests by method and NSID, writes, and the bytes of their bodies", async () => {
    await write("counted");
    await agent.com.atproto.repo.getRecord({ repo: account.did, collection, rkey: "counted" });
    await agent.uploadBlob(new Uint8Array(1000), { encoding: "application/octet-stream" });
    const [first] = proxies.pds.seen;
    assertEquals([first?.method, first?.nsid, first?.status], ["POST", put, 200]);
    assertEquals(proxies.pds.count({ method: "POST" }), 2);
    assertEquals(proxies.pds.count({ nsid: "com.atproto.repo.getRecord" }), 1);
    assertEquals(proxies.pds.writes(), {
      requests: 2,
      bytes: 1000 + (first?.body.length ?? 0),
    });
  });

  it("drops a connection before or after the request is done", async () => {
    for (const when of ["before", "after"] as const) {
      using rule = proxies.pds.inject({ nsid: put }, { kind: "drop", when });
      await assertRejects(() => write(when), Error);
      assertEquals(rule.hits, 1);
      assertEquals(proxies.pds.seen.at(-1)?.status, undefined);
    }
    assertEquals([await isThere("before"), await isThere("after")], [false, true]);
    await write("before");
  });

  it("answers in the PDS's place, for as many requests as told", async () => {
    const fault = {
      kind: "answer",
      status: 429,
      headers: { "retry-after": "7" },
      body: '{"error":"RateLimitExceeded"}',
    } as const;
    using _rule = proxies.pds.inject({ nsid: describing, skip: 1, times: 1 }, fault);
    const answers = [await describeServer(), await describeServer(), await describeServer()];
    assertEquals(answers.map(({ status }) => status), [200, 429, 200]);
    assertEquals(answers[1]?.headers.get("retry-after"), "7");
    assertEquals(await answers[1]?.json(), { error: "RateLimitExceeded" });
    for (const at of [0, 2]) await answers[at]?.body?.cancel();
  });

  it("cuts an answer half way", async () => {
    using _rule = proxies.pds.inject({ nsid: describing }, { kind: "cut" });
    const response = await describeServer();
    assert(Number(response.headers.get("content-length")) > 0);
    await assertRejects(() => response.text(), Error);
  });

  it("holds a request until it is told to go on", async () => {
    const told = Promise.withResolvers<void>();
    using _rule = proxies.pds.inject({ nsid: put }, { kind: "hold", until: told.promise });
    const held = write("held");
    await describeServer().then((response) => response.body?.cancel());
    assert(!await isThere("held"));
    told.resolve();
    await held;
    assert(await isThere("held"));
  });
});
