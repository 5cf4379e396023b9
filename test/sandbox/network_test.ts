import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { Resolver } from "node:dns/promises";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import type { Account } from "../../scripts/sandbox/state.ts";
import { type Network, openNetwork } from "../support/network.ts";

const limit = 1000;

function post(pds: string, method: string, body: BodyInit, token = ""): Promise<Response> {
  const isJson = typeof body === "string";
  return fetch(`${pds}/xrpc/${method}`, {
    method: "POST",
    headers: {
      "content-type": isJson ? "application/json" : "application/octet-stream",
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body,
  });
}

async function logIn(pds: string, { did, password }: Account): Promise<string> {
  const input = JSON.stringify({ identifier: did, password });
  const response = await post(pds, "com.atproto.server.createSession", input);
  const { accessJwt } = await response.json();
  return accessJwt;
}

function askDns({ env }: Network, handle: string): Promise<string[][]> {
  const resolver = new Resolver({ tries: 1, timeout: 5000 });
  resolver.setServers([env.KNOTLESS_DNS]);
  return resolver.resolveTxt(`_atproto.${handle}`);
}

function askHttp({ env }: Network, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const url = new URL("/.well-known/atproto-did", env.KNOTLESS_HANDLE_HTTP);
    request(url, { headers }, (response) => resolve(text(response))).on("error", reject).end();
  });
}

describe("the sandbox", () => {
  let network: Network;
  let neighbour: Network;
  beforeAll(async () => {
    network = await openNetwork({ own: true, accounts: ["alice", "carol"], blobLimit: limit });
    neighbour = await openNetwork({ own: true, accounts: [], rateLimits: true, plc: network.plc });
  });
  afterAll(async () => {
    await neighbour.stop();
    await network.stop();
  });

  it("tells everything a client needs", () => {
    assertEquals(Object.keys(network.env), [
      "KNOTLESS_PLC",
      "KNOTLESS_DNS",
      "KNOTLESS_HANDLE_HTTP",
      "KNOTLESS_PDS",
    ]);
    assertEquals([network.env.KNOTLESS_PLC, network.env.KNOTLESS_PDS], [network.plc, network.pds]);
    assertEquals(network.accounts.map(({ handle }) => handle), ["alice.test", "carol.test"]);
  });

  it("proves handles over DNS and HTTP, also of accounts made since", async () => {
    const made = await network.createAccount("dave");
    for (const { handle, did } of [...network.accounts, made]) {
      assertEquals(await askDns(network, handle), [[`did=${did}`]]);
      assertEquals(await askHttp(network, { "x-forwarded-host": handle }), did);
      assertEquals(await askHttp(network, { host: handle }), did);
    }
    const code = await askDns(network, "nobody.test").catch(({ code }) => code);
    assertEquals(code, "ENOTFOUND");
    assertMatch(await askHttp(network, { host: "nobody.test" }), /^no such handle/);
  });

  it("keeps DID documents that follow a handle that changes", async () => {
    const account = await network.createAccount("erin");
    const handle = account.handle.replace("erin", "fred");
    const token = await logIn(network.pds, account);
    const input = JSON.stringify({ handle });
    const response = await post(network.pds, "com.atproto.identity.updateHandle", input, token);
    assertEquals(response.status, 200);
    await response.body?.cancel();
    const document = await (await fetch(`${network.plc}/${account.did}`)).json();
    assertEquals([document.id, document.alsoKnownAs], [account.did, [`at://${handle}`]]);
    assertEquals(document.service[0].serviceEndpoint, network.pds);
    assertEquals(await askDns(network, handle), [[`did=${account.did}`]]);
    const log = await (await fetch(`${network.plc}/${account.did}/log/audit`)).json();
    assertEquals(log.length, 2);
  });

  it("refuses operations that are not signed by a key of the DID", async () => {
    const [alice] = network.accounts;
    const url = `${network.plc}/${alice?.did}`;
    const last = await (await fetch(`${url}/log/last`)).json();
    const forged = { ...last, alsoKnownAs: ["at://mallory.test"] };
    for (const operation of [forged, {}, null]) {
      const response = await fetch(url, { method: "POST", body: JSON.stringify(operation) });
      assertEquals(response.status, 400);
      await response.body?.cancel();
    }
    assertEquals(await (await fetch(`${url}/log/last`)).json(), last);
    const unknown = await fetch(`${network.plc}/did:plc:${"a".repeat(24)}`);
    assertEquals(unknown.status, 404);
    await unknown.body?.cancel();
  });

  it("takes blobs up to the limit asked for", async () => {
    const [alice] = network.accounts;
    const token = alice ? await logIn(network.pds, alice) : "";
    for (const [bytes, status] of [[limit, 200], [limit + 1, 413]] as const) {
      const blob = new Uint8Array(bytes);
      const response = await post(network.pds, "com.atproto.repo.uploadBlob", blob, token);
      assertEquals(response.status, status);
      await response.body?.cancel();
    }
  });

  it("takes an app password in place of the password", async () => {
    const account = await network.createAccount();
    const password = await network.appPassword(account);
    assert(password !== account.password);
    assert(await logIn(network.pds, { ...account, password }));
  });

  it("shares its directory with another, and proves the handles of both", async () => {
    const account = await neighbour.createAccount("gina");
    const document = await (await fetch(`${network.plc}/${account.did}`)).json();
    assertEquals(document.service[0].serviceEndpoint, neighbour.pds);
    assertEquals(await askDns(network, account.handle), [[`did=${account.did}`]]);
    const [alice] = network.accounts;
    assertEquals(await askDns(neighbour, "alice.test"), [[`did=${alice?.did}`]]);
  });

  it("limits rates where asked to, and says until when", async () => {
    const input = JSON.stringify({ identifier: "nobody.test", password: "wrong" });
    const statuses = new Set<number>();
    for (let attempt = 0; attempt < 40; attempt++) {
      const response = await post(neighbour.pds, "com.atproto.server.createSession", input);
      await response.body?.cancel();
      statuses.add(response.status);
      if (response.status !== 429) continue;
      assertMatch(response.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
      break;
    }
    assertEquals([...statuses], [401, 429]);
  });
});
