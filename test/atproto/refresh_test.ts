import { assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Account } from "../../core/atproto/identity.ts";
import type { SessionInfo } from "../../core/atproto/session.ts";
import { answerAuthorization } from "../support/oauth.ts";
import { openProxiedNetwork } from "../support/proxy.ts";
import { openLogins, openWorld, type World } from "./world.ts";

const PROCESSES = 8;
const ROUNDS = 20;
const script = fileURLToPath(new URL("refresh_worker.ts", import.meta.url));

interface Worker extends AsyncDisposable {
  /** Asks once; gives what came of it. */
  ask(): Promise<string>;
}

async function startWorker(args: readonly string[]): Promise<Worker> {
  const child = spawn(Deno.execPath(), ["run", "-q", "-A", "--no-check", script, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => String((await lines.next()).value);
  assertEquals(await next(), "ready");
  return {
    async ask() {
      child.stdin.write("ask\n");
      return await next();
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
    },
  };
}

describe("eight processes with one login", () => {
  let network: Awaited<ReturnType<typeof openProxiedNetwork>>;
  let world: World;

  beforeAll(async () => {
    network = await openProxiedNetwork({ accounts: [] });
    world = await openWorld(network.env);
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await network?.[Symbol.asyncDispose]();
  });

  /** Spoils the token in the file, runs a round, and gives how many refreshes the PDS granted. */
  async function race(
    account: Account,
    { path }: SessionInfo,
    spoil: (session: Record<string, Record<string, string>>, round: number) => object,
    isRefresh: (request: { nsid: string; path: string; body: Uint8Array }) => boolean,
  ): Promise<void> {
    const cache = join(world.folder, "identities.json");
    await using workers = new AsyncDisposableStack();
    const args = [join(world.folder, "sessions"), cache, network.plc, account.did];
    const started = Array.from({ length: PROCESSES }, () => startWorker(args));
    const all = (await Promise.all(started)).map((worker) => workers.use(worker));
    for (let round = 0; round < ROUNDS; round++) {
      const session = JSON.parse(await readFile(path, "utf8"));
      await writeFile(path, JSON.stringify({ ...session, ...spoil(session, round) }));
      network.proxy.forget();
      const said = await Promise.all(all.map((worker) => worker.ask()));
      assertEquals(said, Array(PROCESSES).fill("200"), `round ${round}`);
      const granted = network.proxy.seen.filter((seen) => seen.status === 200 && isRefresh(seen));
      assertEquals(granted.length, 1, `round ${round}`);
    }
  }

  it("refresh a password's tokens once a round, whether they end by the clock or are refused", async () => {
    const { did, password } = await network.createAccount("race");
    const account = await world.identity.resolve(did);
    const info = await openLogins(world).loginWithPassword(account, password);
    await race(account, info, ({ accessJwt }, round) => {
      const [head, , signature] = String(accessJwt).split(".");
      const exp = round % 2 === 0 ? 1e9 : 4e9;
      const claims = Buffer.from(JSON.stringify({ exp, round })).toString("base64url");
      return { accessJwt: [head, claims, signature].join(".") };
    }, ({ nsid }) => nsid === "com.atproto.server.refreshSession");
  });

  it("refresh a browser's tokens once a round, whether they end by the clock or are refused", async () => {
    const made = await network.createAccount("race");
    const account = await world.identity.resolve(made.did);
    const pasted = Promise.withResolvers<string>();
    const info = await openLogins(world).loginWithBrowser(account, {
      visit: (url) => {
        answerAuthorization(url, { account: made })
          .then(({ href }) => pasted.resolve(href), pasted.reject);
      },
      paste: () => pasted.promise,
      reject: (why) => pasted.reject(new Error(why)),
    });
    const ask = async () => {
      const { fetch } = openLogins(world).authorized(account.did);
      await (await fetch("/xrpc/com.atproto.server.getSession")).body?.cancel();
    };
    await ask();
    network.proxy.forget();
    await ask();
    // The nonce is kept: a body is not sent twice by every command that starts.
    assertEquals(network.proxy.count({ nsid: "com.atproto.server.getSession" }), 1);
    await race(account, info, ({ tokenSet = {} }, round) => ({
      tokenSet: round % 2 === 0
        ? { ...tokenSet, expires_at: "2001-01-01T00:00:00.000Z" }
        : { ...tokenSet, access_token: `${tokenSet["access_token"]}x${round}` },
    }), ({ path, body }) =>
      path === "/oauth/token" &&
      new TextDecoder().decode(body).includes("grant_type=refresh_token"));
  });
});
