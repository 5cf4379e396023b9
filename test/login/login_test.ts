import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openIdentity } from "../../core/atproto/identity.ts";
import { ID } from "../../core/atproto/lexicons.gen.ts";
import { openSessions, type Sessions } from "../../core/atproto/session.ts";
import { isDid } from "../../core/atproto/syntax.ts";
import { openWriter } from "../../core/atproto/writer.ts";
import { AuthError, NotFoundError, RemoteError, UsageError } from "../../core/errors.ts";
import { openContexts } from "../../core/open.ts";
import type { Account } from "../../scripts/sandbox/state.ts";
import { closedUrl } from "../atproto/edge.ts";
import { runCli } from "../support/cli.ts";
import { type Network, openNetwork } from "../support/network.ts";
import { answerAuthorization, followAuthorization } from "../support/oauth.ts";
import { openTestMachine, type Person, type TestMachine } from "./machine.ts";

interface Login {
  did: string;
  handle: string;
  pds: string;
  kind: string;
  scopes: string[];
  missing: string[];
}

interface Status {
  accounts: (Login & {
    expiresAt?: string;
    store: string;
    path: string;
    applies: boolean;
    why?: string;
    state: string;
  })[];
}

const SCOPES = ["atproto", ...Object.values(ID).map((id) => `repo:${id}`), "blob:*/*"];

/** The address that a person is asked to open. */
function addressIn(text: string): string | undefined {
  return /https?:\/\/\S+\/oauth\/authorize\S+/.exec(text)?.[0];
}

describe("logging in", () => {
  let network: Network;
  let machine: TestMachine;
  let alice: Account;
  let bob: Account;

  beforeAll(async () => {
    network = await openNetwork();
    alice = await network.createAccount("alix");
    bob = await network.createAccount("bobo");
  });
  afterAll(() => network?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    machine = await openTestMachine(network.env);
  });
  afterEach(() => machine[Symbol.asyncDispose]());

  /** A person who opens the address in a browser on this machine. */
  const browsing = (account: Account, consent: { scope?: string; reject?: boolean } = {}) => {
    const pages: Promise<{ status: number; text: string }>[] = [];
    const person: Person = {
      hear(text) {
        const address = addressIn(text);
        if (address) pages.push(followAuthorization(address, { account, ...consent }));
      },
    };
    return { person, pages };
  };

  /** The logins as the next command on the machine would find them. */
  const logins = (): Sessions => {
    const { signal } = new AbortController();
    const common = { fetch, now: () => new Date(), random: Math.random, signal, timeoutMs: 10_000 };
    const { KNOTLESS_PLC: plc, KNOTLESS_DNS: dns } = network.env;
    const cacheFile = join(machine.folder, "identities.json");
    const identity = openIdentity({ ...common, plc, dns, cacheFile, offline: false });
    const dir = join(machine.folder, "state", "sessions");
    return openSessions({ ...common, dir, identity, loopback: true });
  };

  it("with an app password reads one line and answers who", async () => {
    const password = await network.appPassword(alice);
    const { result, said } = await machine.run<Login>(
      "login",
      { handle: `@${alice.handle}`, app_password_stdin: true },
      { lines: [`${password}\r`, "more"] },
    );
    assertEquals(result, {
      did: alice.did,
      handle: alice.handle,
      pds: network.pds,
      kind: "password",
      scopes: ["com.atproto.appPass"],
      missing: [],
    });
    assertEquals(said, []);
  });

  it("without a password on stdin, or with a wrong one, fails and keeps nothing", async () => {
    const args = { handle: alice.handle, app_password_stdin: true };
    await assertRejects(() => machine.run("login", args), UsageError, "no password");
    await assertRejects(() => machine.run("login", args, { lines: ["wrong"] }), AuthError);
    assertEquals((await machine.run<Status>("login status")).result, { accounts: [] });
  });

  it("as nobody that is known fails by name", async () => {
    const args = { handle: "nobody.test", app_password_stdin: true };
    await assertRejects(() => machine.run("login", args), NotFoundError, "nobody.test");
  });

  it("through the browser is refused at once where nobody is to be asked", async () => {
    const error = await assertRejects(
      () => machine.run("login", { handle: alice.handle }, { noInput: true }),
      UsageError,
      "waits for a person",
    );
    assertEquals(error.hint, {
      command: "login",
      args: { handle: alice.handle, app_password_stdin: true },
    });
  });

  it("through the browser grants what our records need", async () => {
    const { person, pages } = browsing(alice);
    const { result, said, notes } = await machine.run<Login>(
      "login",
      { handle: alice.handle },
      person,
    );
    assertEquals([result.did, result.kind, result.missing], [alice.did, "oauth", []]);
    assertEquals(result.scopes.toSorted(), SCOPES.toSorted());
    assertEquals(notes, []);
    assertEquals(said.filter(addressIn).length, 1);
    const [page] = await Promise.all(pages);
    assertEquals(page?.status, 200);
    assertStringIncludes(page?.text ?? "", "close this page");
    const { result: status } = await machine.run<Status>("login status");
    assertEquals(status.accounts.map(({ state, applies }) => [state, applies]), [["ok", true]]);
  });

  it("through a browser elsewhere takes the pasted address, and says what is none", async () => {
    const pasted = Promise.withResolvers<string>();
    const { result, said } = await machine.run<Login>("login", {
      handle: alice.handle,
      no_browser: true,
    }, {
      lines: [
        "",
        "hello",
        "http://127.0.0.1:1/?state=of-another&code=x",
        pasted.promise,
      ],
      hear(text) {
        const address = addressIn(text);
        if (address === undefined) return;
        answerAuthorization(address, { account: alice })
          .then(({ href }) => pasted.resolve(`  ${href} `), pasted.reject);
      },
    });
    assertEquals(result.did, alice.did);
    assert(said.some((line) => line.includes("not the address")));
    assert(said.some((line) => line.includes("another login's")));
  });

  it("ignores others who knock at the port it listens on", async () => {
    const knocks: number[] = [];
    const { result } = await machine.run<Login>("login", { handle: alice.handle }, {
      async hear(text) {
        const address = addressIn(text);
        if (address === undefined) return;
        const back = await answerAuthorization(address, { account: alice });
        for (const path of ["/favicon.ico", "/?state=guess&error=access_denied", "/?code=x"]) {
          const response = await fetch(new URL(path, back));
          await response.body?.cancel();
          knocks.push(response.status);
        }
        await (await fetch(back)).body?.cancel();
      },
    });
    assertEquals(result.did, alice.did);
    assertEquals(knocks, [404, 404, 404]);
  });

  it("is over when the person refuses in the browser", async () => {
    const { person } = browsing(alice, { reject: true });
    await assertRejects(
      () => machine.run("login", { handle: alice.handle }, person),
      AuthError,
      "refused",
    );
    assertEquals((await machine.run<Status>("login status")).result, { accounts: [] });
  });

  it("as another than was named is refused", async () => {
    const { person } = browsing(bob);
    await assertRejects(() => machine.run("login", { handle: alice.handle }, person), AuthError);
    assertEquals((await machine.run<Status>("login status")).result, { accounts: [] });
  });

  it("with less than was asked for says what is missing, and a write names it", async () => {
    const scope = SCOPES.filter((scope) => scope !== `repo:${ID.star}`).join(" ");
    const { person } = browsing(alice, { scope });
    const { result, notes } = await machine.run<Login>("login", { handle: alice.handle }, person);
    assertEquals(result.missing, [`repo:${ID.star}`]);
    assertStringIncludes(notes.join(), `repo:${ID.star}`);
    const sessions = logins();
    const { did } = result;
    assert(isDid(did));
    const account = { did, handle: result.handle, pds: result.pds };
    const { signal } = new AbortController();
    const authorized = () => sessions.authorized(did);
    const writer = openWriter({ account, authorized, signal, timeoutMs: 10_000 });
    const createdAt = "2026-11-30T20:00:00Z";
    assert(await writer.create(ID.follow, "3jzfcijpj2z2a", { subject: did, createdAt }));
    const star = { subject: `at://${did}/${ID.repo}/3jzfcijpj2z2a`, createdAt };
    const error = await assertRejects(
      () => writer.create(ID.star, "3jzfcijpj2z2a", star),
      AuthError,
      `repo:${ID.star}`,
    );
    assertEquals(error.hint, { signIn: "scope", account: did });
  });

  it("again replaces the login, and ends the old one at the PDS", async () => {
    await machine.run("login", { handle: alice.handle }, browsing(alice).person);
    const folder = join(machine.folder, "state", "sessions");
    const [file = ""] = (await readdir(folder)).filter((name) => name.endsWith(".json"));
    const old = await readFile(join(folder, file), "utf8");
    await machine.run("login", { handle: alice.handle }, browsing(alice).person);
    const current = await readFile(join(folder, file), "utf8");
    await writeFile(join(folder, file), old);
    assertEquals((await machine.run<Status>("login status")).result.accounts[0]?.state, "ended");
    await writeFile(join(folder, file), current);
    assertEquals((await machine.run<Status>("login status")).result.accounts[0]?.state, "ok");
  });
});

describe("several logins", () => {
  let network: Network;
  let machine: TestMachine;
  let alice: Account;
  let bob: Account;

  beforeAll(async () => {
    network = await openNetwork();
    alice = await network.createAccount("able");
    bob = await network.createAccount("baker");
  });
  afterAll(() => network?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    machine = await openTestMachine(network.env);
    for (const { handle, password } of [alice, bob]) {
      const args = { handle, app_password_stdin: true };
      await machine.run("login", args, { lines: [password] });
    }
  });
  afterEach(() => machine[Symbol.asyncDispose]());

  const status = async (globals = {}) =>
    (await machine.run<Status>("login status", {}, {}, globals)).result.accounts;

  it("are shown with which one applies, why, and where it lies", async () => {
    const [first, second] = await status();
    assertEquals([first?.handle, first?.applies, first?.state], [alice.handle, false, "ok"]);
    assertEquals([second?.applies, second?.why, second?.store], [
      true,
      "it is the default",
      "file",
    ]);
    assert(second?.path.startsWith(join(machine.folder, "state", "sessions")));
    assertEquals(first?.why, undefined);
  });

  it("are unchecked offline and when the network is down, never ended", async () => {
    assertEquals((await status({ offline: true })).map(({ state }) => state), [
      "unchecked",
      "unchecked",
    ]);
    const [{ path = "" } = {}] = await status();
    const session = JSON.parse(await readFile(path, "utf8"));
    await writeFile(path, JSON.stringify({ ...session, pds: await closedUrl() }));
    assertEquals((await status()).map(({ state }) => state), ["unchecked", "ok"]);
  });

  it("end status with 4 when one of them has ended, which a script can rely on, and with 0 else", async () => {
    const env = { ...machine.env };
    const run = (...flags: string[]) =>
      runCli(["login", "status", ...flags], {
        env,
        open: (globals, surface) => openContexts(globals, env, surface),
      });
    const before = await run("--json");
    assertEquals([before.status, before.err], [0, ""]);
    const [{ path = "" } = {}] = await status();
    const session = JSON.parse(await readFile(path, "utf8"));
    await machine.run("logout", { handle: alice.handle });
    const [head, , signature] = session.accessJwt.split(".");
    const claims = Buffer.from(JSON.stringify({ exp: 1e9 })).toString("base64url");
    const ended = JSON.stringify({ ...session, accessJwt: [head, claims, signature].join(".") });
    await writeFile(path, ended);
    const after = await run("--json");
    const expected: Status = JSON.parse(before.out);
    const accounts = expected.accounts.map((account) =>
      account.handle === alice.handle ? { ...account, state: "ended" } : account
    );
    assertEquals([after.status, JSON.parse(after.out)], [4, { accounts }]);
    const text = await run();
    assertEquals(text.status, 4);
    assertEquals(text.out.split("\n").map((line) => line.split("\t")[4]), [
      "ended",
      "ok",
      undefined,
    ]);
    // Nobody was asked, so nobody said that it had ended.
    await writeFile(path, ended);
    assertEquals((await run("--offline")).status, 0);
    await machine.run("logout", { all: true });
    assertEquals((await run()).status, 0);
  });

  it("are switched between, by handle or DID", async () => {
    const { result } = await machine.run<Login>("login switch", { handle: alice.did });
    assertEquals(result.handle, alice.handle);
    assertEquals((await status()).map(({ applies }) => applies), [true, false]);
    await assertRejects(
      () => machine.run("login switch", { handle: "nobody.test" }),
      NotFoundError,
      "nobody.test",
    );
  });

  it("apply as --as says, which may name one still to be made", async () => {
    const as = { as: alice.handle };
    assertEquals((await status(as)).map(({ applies, why }) => [applies, why]), [
      [true, "it was asked for"],
      [false, undefined],
    ]);
    await machine.run("logout", {}, {}, as);
    assertEquals((await status(as)).map(({ applies }) => applies), [false]);
    await assertRejects(() => machine.run("logout", {}, {}, as), AuthError);
    const args = { handle: alice.handle, app_password_stdin: true };
    await machine.run("login", args, { lines: [alice.password] }, as);
    assertEquals((await status(as)).map(({ applies }) => applies), [true, false]);
  });

  it("that cannot be read are shown, are never replaced by another's, and can be left", async () => {
    const [{ path = "" } = {}, { path: other = "" } = {}] = await status();
    await writeFile(other, "{bad");
    const { result, notes } = await machine.run<Status>("login status");
    assertEquals(result.accounts.map(({ did, state }) => [did, state]), [
      [alice.did, "ok"],
      [bob.did, "damaged"],
    ]);
    assertStringIncludes(notes.join(), other);
    await assertRejects(() => machine.run("logout"), AuthError, other);
    // To read what is public takes no login; to read as somebody does.
    const anyone = { handle: alice.handle };
    assertEquals((await machine.run("repo list", anyone)).result, { repos: [] });
    await assertRejects(() => machine.run("repo list"), AuthError, other);
    const as = { as: bob.handle };
    await assertRejects(() => machine.run("repo list", anyone, {}, as), AuthError, other);
    const again = { handle: bob.handle };
    await assertRejects(() => machine.run("login switch", again), AuthError, other);
    const shown = await runCli(["login", "status"], {
      env: machine.env,
      open: (globals, surface) => openContexts(globals, machine.env, surface),
    });
    assertEquals(shown.status, 4);
    await machine.run("logout", { handle: bob.handle });
    assertEquals((await status()).map(({ did, applies }) => [did, applies]), [[alice.did, true]]);
    await writeFile(path, "{bad");
    await machine.run("logout", { all: true });
    assertEquals(await status(), []);
  });

  it("are left one at a time, and the next one applies", async () => {
    const { result } = await machine.run<Status>("logout");
    assertEquals(result.accounts.map(({ handle }) => handle), [bob.handle]);
    assertEquals((await status()).map(({ handle, applies }) => [handle, applies]), [
      [alice.handle, true],
    ]);
    await machine.run("logout", { handle: alice.handle });
    assertEquals(await status(), []);
    await assertRejects(() => machine.run("logout"), AuthError, "nobody");
  });

  it("are left all at once", async () => {
    await assertRejects(
      () => machine.run("logout", { handle: alice.handle, all: true }),
      UsageError,
    );
    const { result } = await machine.run<Status>("logout", { all: true });
    assertEquals(result.accounts.length, 2);
    assertEquals(await status(), []);
    assertEquals((await machine.run<Status>("logout", { all: true })).result, { accounts: [] });
  });

  it("are left with a note when the PDS cannot be told", async () => {
    const [{ path = "" } = {}] = await status();
    const session = JSON.parse(await readFile(path, "utf8"));
    await writeFile(path, JSON.stringify({ ...session, pds: await closedUrl() }));
    const { notes } = await machine.run("logout", { handle: alice.handle });
    assertStringIncludes(notes.join(), "could not be told");
    assertEquals((await status()).map(({ handle }) => handle), [bob.handle]);
  });
});

describe("a login through the browser on a network that fails", () => {
  it("stays when it cannot be refreshed, and is left all the same", async () => {
    await using network = await openNetwork();
    await using machine = await openTestMachine(network.env);
    const account = await network.createAccount("flaky");
    await machine.run("login", { handle: account.handle }, {
      hear(text) {
        const address = addressIn(text);
        if (address) void followAuthorization(address, { account });
      },
    });
    const [{ path = "" } = {}] = (await machine.run<Status>("login status")).result.accounts;
    const session = JSON.parse(await readFile(path, "utf8"));
    session.tokenSet.expires_at = "2001-01-01T00:00:00.000Z";
    await writeFile(path, JSON.stringify(session));
    const plc = machine.env["KNOTLESS_PLC"] ?? "";
    machine.env["KNOTLESS_PLC"] = await closedUrl();
    const [down] = (await machine.run<Status>("login status")).result.accounts;
    assertEquals(down?.state, "unchecked");
    machine.env["KNOTLESS_PLC"] = plc;
    const [up] = (await machine.run<Status>("login status")).result.accounts;
    assertEquals(up?.state, "ok");
    assert(await readFile(path, "utf8") !== JSON.stringify(session));
    assertEquals((await machine.run("logout")).notes, []);
  });

  it("is not begun where the PDS cannot be reached", async () => {
    await using network = await openNetwork();
    await using machine = await openTestMachine(network.env);
    machine.env["KNOTLESS_PLC"] = await closedUrl();
    const account = await network.createAccount("flaky");
    const login = () => machine.run("login", { handle: account.handle });
    await assertRejects(login, RemoteError, "cannot be reached");
  });
});
