/**
 * A process of its own that asks a PDS as a signed-in account, once for each line on its stdin, each time as a command
 * that has just started would. Writes the answer's status, or the error, on a line of stdout.
 */
import { createInterface } from "node:readline";
import process from "node:process";
import { openIdentity } from "../../core/atproto/identity.ts";
import { openSessions } from "../../core/atproto/session.ts";
import { isDid } from "../../core/atproto/syntax.ts";

const [dir = "", cacheFile = "", plc = "", did = ""] = process.argv.slice(2);
const { signal } = new AbortController();
const common = { fetch, now: () => new Date(), random: Math.random, signal, timeoutMs: 20_000 };

async function ask(): Promise<string> {
  const identity = openIdentity({ ...common, plc, cacheFile, offline: false });
  const sessions = openSessions({ ...common, dir, identity, loopback: true });
  if (!isDid(did)) return "no DID";
  const { fetch } = sessions.authorized(did);
  const response = await fetch("/xrpc/com.atproto.server.getSession");
  await response.body?.cancel();
  return String(response.status);
}

process.stdout.write("ready\n");
for await (const _ of createInterface({ input: process.stdin })) {
  process.stdout.write(`${await ask().catch((error: unknown) => String(error))}\n`);
}
