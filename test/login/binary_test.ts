import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import type { Account } from "../../scripts/sandbox/state.ts";
import { binary } from "../support/binary.ts";
import { answerAuthorization, followAuthorization } from "../support/oauth.ts";
import { openProxiedNetwork } from "../support/proxy.ts";
import { openTestMachine, type TestMachine } from "./machine.ts";

const PROCESSES = 8;
const ROUNDS = 20;

describe("the binary", () => {
  let program: string;
  let network: Awaited<ReturnType<typeof openProxiedNetwork>>;
  let machine: TestMachine;
  let alice: Account;

  beforeAll(async () => {
    program = await binary();
    network = await openProxiedNetwork({ accounts: [] });
    machine = await openTestMachine(network.env);
    alice = await network.createAccount("binary");
  });
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]();
    await network?.[Symbol.asyncDispose]();
  });

  const start = (...args: string[]) => spawn(program, args, { env: machine.env });

  async function end(child: ChildProcessWithoutNullStreams) {
    const [out, err, [status]] = await Promise.all([
      Array.fromAsync(child.stdout, String),
      Array.fromAsync(child.stderr, String),
      once(child, "close"),
    ]);
    return { status, out: out.join(""), err: err.join("") };
  }

  /** The address the program asks to have opened; stderr can be read on. */
  async function readAddress(child: ChildProcessWithoutNullStreams): Promise<string> {
    let text = "";
    for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
      text += String(chunk);
      const found = /https?:\/\/\S+\/oauth\/authorize\S+(?=\s)/.exec(text)?.[0];
      if (found !== undefined) return found;
    }
    throw new Error(`no address in ${text}`);
  }

  const state = async () => {
    const { status, out, err } = await end(start("login", "status", "--json"));
    assertEquals(status, 0, err);
    const [account] = JSON.parse(out).accounts;
    return account;
  };

  /** Spoils the tokens of the login and has eight processes use it at once, several times. */
  async function race(spoil: (session: Record<string, Record<string, string>>) => object) {
    const { path } = await state();
    for (let round = 0; round < ROUNDS; round++) {
      const session = JSON.parse(await readFile(path, "utf8"));
      await writeFile(path, JSON.stringify({ ...session, ...spoil(session) }));
      network.proxy.forget();
      const said = await Promise.all(Array.from({ length: PROCESSES }, state));
      assertEquals(said.map((account) => account.state), Array(PROCESSES).fill("ok"));
      const granted = network.proxy.seen.filter(({ nsid, path, body, status }) =>
        status === 200 && (nsid === "com.atproto.server.refreshSession" ||
          (path === "/oauth/token" && body.toString().includes("grant_type=refresh_token")))
      );
      assertEquals(granted.length, 1, `round ${round}`);
    }
  }

  it("signs in with a password from a pipe, and refreshes once for eight processes", async () => {
    const child = start("login", alice.handle, "--app-password-stdin", "--json");
    child.stdin.end(`${alice.password}\n`);
    const { status, out, err } = await end(child);
    assertEquals([status, err], [0, ""]);
    assertEquals(JSON.parse(out).did, alice.did);
    await race(({ accessJwt }) => {
      const [head, , signature] = String(accessJwt).split(".");
      const claims = Buffer.from(JSON.stringify({ exp: 1e9 })).toString("base64url");
      return { accessJwt: [head, claims, signature].join(".") };
    });
  });

  it("signs in through the browser while stdin stays open, and refreshes once for eight", async () => {
    const child = start("login", alice.handle);
    const page = await followAuthorization(await readAddress(child), { account: alice });
    assertEquals(page.status, 200);
    const { status, out, err } = await end(child);
    assertEquals([status, out], [0, `${alice.did}\n`], err);
    assertEquals((await state()).kind, "oauth");
    await race(({ tokenSet = {} }) => ({
      tokenSet: { ...tokenSet, expires_at: "2001-01-01T00:00:00.000Z" },
    }));
  });

  it("signs in by the address that was pasted", async () => {
    const child = start("login", alice.handle, "--no-browser", "--json");
    const back = await answerAuthorization(await readAddress(child), { account: alice });
    child.stdin.write(`nonsense\n${back.href}\n`);
    const { status, out, err } = await end(child);
    assertEquals(status, 0, err);
    assertEquals(JSON.parse(out).missing, []);
    assertStringIncludes(err, "not the address");
  });

  it("says what was not granted when the consent is narrowed", async () => {
    const child = start("login", alice.handle, "--no-browser", "--json");
    const address = await readAddress(child);
    const back = await answerAuthorization(address, { account: alice, scope: "atproto" });
    child.stdin.write(`${back.href}\n`);
    const { status, out, err } = await end(child);
    assertEquals(status, 0, err);
    assert(JSON.parse(out).missing.includes("repo:dev.knotless.refs"), out);
    assertStringIncludes(err, "not granted: ");
    const refused = await end(start("repo", "create", "narrow"));
    assertEquals(refused.status, 4, refused.err);
    assertStringIncludes(refused.err, "knotless login");
  });

  it("leaves every login", async () => {
    const { status, out } = await end(start("logout", "--all"));
    assertEquals([status, out], [0, `${alice.did}\n`]);
    assertEquals(await state(), undefined);
    const failed = await end(start("logout"));
    assertEquals([failed.status, failed.out], [4, ""]);
    assert(failed.err.includes("knotless login"), failed.err);
  });
});
