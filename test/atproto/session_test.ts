import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { afterAll, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../../core/atproto/identity.ts";
import type { Sessions } from "../../core/atproto/session.ts";
import { AuthError, NotFoundError, RemoteError } from "../../core/errors.ts";
import { type Network, openNetwork } from "../support/network.ts";
import { type NetworkProxies, proxyNetwork } from "../support/proxy.ts";
import { openLogins, openWorld, type World } from "./world.ts";

const REFRESH = { nsid: "com.atproto.server.refreshSession" };
const ASK = "/xrpc/com.atproto.server.getSession";

/** The token with its end set to a moment; no PDS takes it. */
function endAt(jwt: string, seconds: number): string {
  const [head, claims = "", signature] = jwt.split(".");
  const read = JSON.parse(Buffer.from(claims, "base64url").toString());
  const changed = Buffer.from(JSON.stringify({ ...read, exp: seconds })).toString("base64url");
  return [head, changed, signature].join(".");
}

describe("logins with a password", () => {
  let network: Network;
  let proxies: NetworkProxies;
  let world: World;
  let alice: Account;
  let bob: Account;
  let sessions: Sessions;
  const passwords = new Map<string, string>();

  const dir = () => join(world.folder, "sessions");
  const login = (account: Account) =>
    sessions.loginWithPassword(account, passwords.get(account.did) ?? "");
  const status = async (from: Sessions, account = alice) => {
    const { fetch } = from.authorized(account.did);
    const response = await fetch(ASK);
    await response.body?.cancel();
    return response.status;
  };
  /** Changes what the file of alice's login holds. */
  const edit = async (change: (session: Record<string, string>) => object) => {
    const [info] = sessions.list().filter(({ did }) => did === alice.did);
    assert(info);
    const session = JSON.parse(await readFile(info.path, "utf8"));
    await writeFile(info.path, JSON.stringify({ ...session, ...change(session) }));
  };
  const expire = () => edit(({ accessJwt = "" }) => ({ accessJwt: endAt(accessJwt, 1e9) }));

  beforeAll(async () => {
    network = await openNetwork();
    proxies = await proxyNetwork(network);
    world = await openWorld(proxies.env);
    const made = [await network.createAccount("amy"), await network.createAccount("ben")];
    for (const { did, password } of made) passwords.set(did, password);
    [alice, bob] = await Promise.all(made.map(({ did }) => world.identity.resolve(did))) as [
      Account,
      Account,
    ];
  });
  beforeEach(async () => {
    await rm(dir(), { recursive: true, force: true });
    sessions = openLogins(world);
    proxies.pds.forget();
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await proxies?.[Symbol.asyncDispose]();
    await network?.[Symbol.asyncDispose]();
  });

  it("are kept in files that their user alone may read", async () => {
    assertEquals(sessions.list(), []);
    assertEquals(await sessions.choose(), undefined);
    const info = await login(alice);
    assertEquals([info.did, info.handle, info.kind, info.missing, info.ended], [
      alice.did,
      alice.handle,
      "password",
      [],
      false,
    ]);
    assertMatch(info.expiresAt ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assertEquals((await stat(dir())).mode & 0o777, 0o700);
    for (const file of await readdir(dir())) {
      if (!file.endsWith(".lock")) {
        assertEquals((await stat(join(dir(), file))).mode & 0o777, 0o600);
      }
    }
    assertEquals(await status(openLogins(world)), 200);
    assertEquals(await sessions.check(alice.did), "ok");
  });

  it("are refused for a wrong password, and nothing is kept", async () => {
    await assertRejects(() => sessions.loginWithPassword(alice, "wrong"), AuthError, "password");
    assertEquals(sessions.list(), []);
  });

  it("take an app password", async () => {
    const account = await network.createAccount("app");
    const password = await network.appPassword(account);
    const info = await sessions.loginWithPassword(
      await world.identity.resolve(account.did),
      password,
    );
    assertEquals(info.scopes, ["com.atproto.appPass"]);
  });

  it("apply by name, else by default, which is the last one made or chosen", async () => {
    await login(bob);
    assertEquals((await sessions.choose())?.info.did, bob.did);
    await login(alice);
    assertEquals((await sessions.choose())?.info.did, alice.did);
    const chosen = await sessions.choose(`@${bob.handle.toUpperCase()}`);
    assertEquals([chosen?.info.did, chosen?.why], [bob.did, "it was asked for"]);
    await sessions.switchTo(bob.did);
    assertEquals((await openLogins(world).choose())?.info.did, bob.did);
    await assertRejects(() => sessions.choose("nobody.test"), AuthError, "nobody.test");
    await assertRejects(() => sessions.switchTo("did:plc:nobody"), NotFoundError);
    await rm(join(dir(), "default"));
    assertEquals((await sessions.choose())?.info.did, alice.did);
  });

  it("that cannot be read are never replaced by another account's", async () => {
    await login(bob);
    await login(alice);
    const [info] = sessions.list().filter(({ did }) => did === alice.did);
    assert(info);
    await writeFile(info.path, "{bad");
    for (const as of [undefined, alice.did, alice.handle]) {
      const error = await assertRejects(() => sessions.choose(as), AuthError, info.path);
      assertMatch(String(error.hint), new RegExp(`logout ${alice.did}`));
    }
    assertEquals(sessions.listDamaged(), [{ did: alice.did, path: info.path }]);
    assertEquals((await sessions.choose(bob.did))?.info.did, bob.did);
    await rm(info.path);
    await assertRejects(() => sessions.choose(), AuthError, "not signed in");
    await writeFile(join(dir(), "default"), "x");
    await assertRejects(() => sessions.choose(), AuthError, "cannot be read");
    await writeFile(info.path, "{bad");
    await login(alice);
    assertEquals((await sessions.choose())?.info.did, alice.did);
    await writeFile(info.path, "{bad");
    await sessions.logout(alice.did);
    assertEquals((await sessions.choose())?.info.did, bob.did);
  });

  it("end at the PDS too when they are left, and the other one applies", async () => {
    await login(bob);
    await login(alice);
    const file = sessions.list()[0]?.path ?? "";
    const { refreshJwt } = JSON.parse(await readFile(file, "utf8"));
    assertEquals(await sessions.logout(alice.did), true);
    const again = await fetch(`${network.pds}/xrpc/com.atproto.server.refreshSession`, {
      method: "POST",
      headers: { authorization: `Bearer ${refreshJwt}` },
    });
    await again.body?.cancel();
    assertEquals(again.status, 400);
    assertEquals((await sessions.choose())?.info.did, bob.did);
    assertThrows(() => sessions.authorized(alice.did), AuthError, "not signed in");
  });

  it("are unchecked where something else than a PDS answers", async () => {
    await login(alice);
    using _fault = proxies.pds.inject({ nsid: "com.atproto.server.getSession" }, {
      kind: "answer",
      status: 200,
      body: "<html>",
    });
    assertEquals(await sessions.check(alice.did), "unchecked");
  });

  it("are left also when the PDS cannot be told", async () => {
    await login(alice);
    using _fault = proxies.pds.inject({}, { kind: "drop", when: "before" });
    assertEquals(await sessions.logout(alice.did), false);
    assertEquals(sessions.list(), []);
  });

  it("replace one another, and the old one ends", async () => {
    await login(alice);
    await login(alice);
    assertEquals(sessions.list().length, 1);
    assertEquals(proxies.pds.count({ nsid: "com.atproto.server.deleteSession" }), 1);
  });

  it("are refreshed before their token ends, once for all that wait", async () => {
    await login(alice);
    await expire();
    const asking = openLogins(world);
    const { fetch } = asking.authorized(alice.did);
    const all = await Promise.all(Array.from({ length: 5 }, () => fetch(ASK)));
    assertEquals(all.map((response) => response.status), [200, 200, 200, 200, 200]);
    await Promise.all(all.map((response) => response.body?.cancel()));
    assertEquals(proxies.pds.count(REFRESH), 1);
    assertEquals(await status(openLogins(world)), 200);
    assertEquals(proxies.pds.count(REFRESH), 1);
  });

  it("are refreshed when the PDS refuses their token, and the request is sent again", async () => {
    await login(alice);
    await edit(({ accessJwt = "" }) => ({ accessJwt: endAt(accessJwt, 2e9) }));
    assertEquals(await status(openLogins(world)), 200);
    assertEquals(proxies.pds.count(REFRESH), 1);
  });

  it("stay when refreshing them fails for any other reason", async () => {
    await login(alice);
    await expire();
    for (
      const fault of [
        { kind: "drop", when: "before" },
        { kind: "answer", status: 500 },
        { kind: "answer", status: 200, body: "<html>" },
        { kind: "answer", status: 429, headers: { "retry-after": "9" } },
      ] as const
    ) {
      using _fault = proxies.pds.inject(REFRESH, fault);
      const error = await assertRejects(() => status(openLogins(world)), RemoteError);
      assert(!/^remote\.(?:lost|timeout)$/.test(error.code), error.code);
      assertEquals(await sessions.check(alice.did), "unchecked");
    }
    assertEquals(await status(openLogins(world)), 200);
  });

  it("end when the PDS says so, and stay listed as ended", async () => {
    await login(alice);
    await expire();
    const body = JSON.stringify({ error: "ExpiredToken", message: "Token has been revoked" });
    {
      using _fault = proxies.pds.inject(REFRESH, { kind: "answer", status: 400, body });
      const error = await assertRejects(() => status(openLogins(world)), AuthError, alice.handle);
      assertEquals([error.code, error.hint], [
        "auth.ended",
        { signIn: "ended", account: alice.handle },
      ]);
    }
    proxies.pds.forget();
    assertEquals(sessions.list()[0]?.ended, true);
    assertEquals(await sessions.check(alice.did), "ended");
    assertEquals(proxies.pds.seen.length, 0);
    await login(alice);
    assertEquals(await sessions.check(alice.did), "ok");
  });

  it("go on with the tokens of a process that refreshed without our lock", async () => {
    const { path } = await login(alice);
    const good = await readFile(path, "utf8");
    await expire();
    const body = JSON.stringify({ error: "InvalidToken", message: "used" });
    const held = Promise.withResolvers<void>();
    using _hold = proxies.pds.inject({ ...REFRESH, times: 1 }, {
      kind: "answer",
      status: 401,
      body,
    });
    const asked = status(openLogins(world, {
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (String(input).includes("refreshSession")) {
          setTimeout(() => writeFile(path, good).then(held.resolve), 40);
        }
        return response;
      },
    }));
    assertEquals(await asked, 200);
    await held.promise;
    assertEquals(sessions.list()[0]?.ended, false);
  });

  it("are not brought back by a refresh that was under way when they were left", async () => {
    await login(alice);
    await expire();
    const hold = Promise.withResolvers<void>();
    using rule = proxies.pds.inject(REFRESH, { kind: "hold", until: hold.promise });
    const asked = status(openLogins(world));
    while (rule.hits === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const left = sessions.logout(alice.did);
    hold.resolve();
    assertEquals(await asked, 200);
    await left;
    assertEquals(sessions.list(), []);
  });

  it("that are corrupt are told by their file, and made anew", async () => {
    const { path } = await login(alice);
    for (const text of ["", "{", "null", "[]", `{"did":"${alice.did}","kind":"password"}`]) {
      await writeFile(path, text);
      assertEquals(sessions.list(), []);
      await assertRejects(() => sessions.choose(), AuthError, path);
      assertThrows(() => sessions.authorized(alice.did), AuthError, path);
    }
    await login(alice);
    assertEquals(sessions.list().length, 1);
  });
});
