import {
  NodeOAuthClient,
  type NodeSavedSession,
  type NodeSavedState,
} from "@atproto/oauth-client-node";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { type Network, openNetwork } from "../support/network.ts";
import { openProxiedNetwork } from "../support/proxy.ts";
import { answerAuthorization, followAuthorization } from "../support/oauth.ts";

const asked = "atproto repo:dev.knotless.issue repo:dev.knotless.comment";

function openClient({ env }: Network, redirect: string): NodeOAuthClient {
  const states = new Map<string, NodeSavedState>();
  const sessions = new Map<string, NodeSavedSession>();
  const query = new URLSearchParams({ redirect_uri: redirect, scope: asked });
  return new NodeOAuthClient({
    clientMetadata: {
      client_id: `http://localhost?${query}`,
      redirect_uris: [redirect],
      scope: asked,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      application_type: "native",
      token_endpoint_auth_method: "none",
      dpop_bound_access_tokens: true,
    },
    stateStore: {
      get: (key) => Promise.resolve(states.get(key)),
      set: (key, value) => void states.set(key, value),
      del: (key) => void states.delete(key),
    },
    sessionStore: {
      get: (key) => Promise.resolve(sessions.get(key)),
      set: (key, value) => void sessions.set(key, value),
      del: (key) => void sessions.delete(key),
    },
    requestLock: (_name, run) => run(),
    handleResolver: env.KNOTLESS_PDS,
    plcDirectoryUrl: env.KNOTLESS_PLC,
    allowHttp: true,
  });
}

describe("an OAuth login at the sandbox", () => {
  let network: Network;
  beforeAll(async () => {
    network = await openNetwork();
  });
  afterAll(() => network.stop());

  it("gives a session that writes in the scopes granted, and only there", async () => {
    const account = await network.createAccount("oauth");
    const client = openClient(network, "http://127.0.0.1/callback");
    const granted = "atproto repo:dev.knotless.issue";
    const url = await client.authorize(account.handle, { scope: asked });
    const back = await answerAuthorization(url.href, { account, scope: granted });
    assertEquals(back.pathname, "/callback");
    const { session } = await client.callback(back.searchParams);
    assertEquals((await session.getTokenInfo()).scope, granted);

    const create = (collection: string) =>
      session.fetchHandler("/xrpc/com.atproto.repo.createRecord", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ repo: account.did, collection, record: { $type: collection } }),
      });
    const written = await create("dev.knotless.issue");
    assertEquals([written.status, await written.text() !== ""], [200, true]);
    const refused = await create("dev.knotless.comment");
    assertEquals(refused.status, 403);
    assertStringIncludes(await refused.text(), "ScopeMissingError");
  });

  it("sends the browser back to the client that waits on loopback", async () => {
    const account = await network.createAccount("oauth");
    const given = Promise.withResolvers<URLSearchParams>();
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => {
        given.resolve(new URL(request.url).searchParams);
        return new Response("you can close this window");
      },
    );
    const client = openClient(network, `http://127.0.0.1:${server.addr.port}/callback`);
    const url = await client.authorize(account.did, { scope: asked });
    const shown = await followAuthorization(url.href, { account });
    assertEquals(shown, { status: 200, text: "you can close this window" });
    const { session } = await client.callback(await given.promise);
    assertEquals(session.did, account.did);
    assertEquals((await session.getTokenInfo()).scope, asked);
  });

  it("tells the client of a no", async () => {
    const [account] = network.accounts;
    if (!account) throw new Error("the network has no account");
    const client = openClient(network, "http://127.0.0.1/callback");
    const url = await client.authorize(account.did, { scope: asked });
    const back = await answerAuthorization(url.href, { account, reject: true });
    assertEquals(back.searchParams.get("error"), "access_denied");
    await assertRejects(() => client.callback(back.searchParams), Error);
  });
});

describe("an OAuth login at a PDS behind a proxy", () => {
  it("goes through the proxy, and ends when an answer to a refresh is lost", async () => {
    await using network = await openProxiedNetwork({ accounts: ["alice"] });
    const { proxy, accounts: [account] } = network;
    if (!account) throw new Error("the network has no account");
    const client = openClient(network, "http://127.0.0.1/callback");
    const url = await client.authorize(account.did, { scope: asked });
    const back = await answerAuthorization(url.href, { account });
    const { session } = await client.callback(back.searchParams);
    const ask = () => session.fetchHandler("/xrpc/com.atproto.server.getSession");
    const response = await ask();
    assertEquals([response.status, (await response.json()).did], [200, account.did]);
    assertEquals(proxy.seen.at(-1)?.status, 200);
    await session.getTokenInfo(true);

    const match = { method: "POST", path: /^\/oauth\/token$/ };
    {
      using rule = proxy.inject(match, { kind: "drop", when: "after" });
      await assertRejects(() => session.getTokenInfo(true), Error);
      assertEquals(rule.hits, 1);
    }
    await assertRejects(() => session.getTokenInfo(true), Error);
    await assertRejects(() => client.restore(account.did), Error);
  });
});
