import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import type { Ready } from "../../scripts/dev.ts";
import { readProcess } from "../../scripts/sandbox/processes.ts";
import { openNetwork } from "../support/network.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const patience = 20_000;

async function answers(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** True when somebody has the UDP port. */
async function isTaken(address: string): Promise<boolean> {
  const socket = createSocket("udp4");
  try {
    socket.bind(Number(address.split(":")[1]), "127.0.0.1");
    await once(socket, "listening");
    return false;
  } catch {
    return true;
  } finally {
    socket.close();
  }
}

/** Gives what is left of a network: its process, its servers, its files. */
async function findRemains({ pid, env }: Pick<Ready, "pid" | "env">): Promise<string[]> {
  const remains: string[] = [];
  if (await readProcess(pid)) remains.push(`process ${pid}`);
  for (const url of [env.KNOTLESS_PDS, env.KNOTLESS_PLC, env.KNOTLESS_HANDLE_HTTP]) {
    if (await answers(url)) remains.push(url);
  }
  if (await isTaken(env.KNOTLESS_DNS)) remains.push(env.KNOTLESS_DNS);
  for await (const { name } of Deno.readDir("/dev/shm")) {
    if (name.startsWith(`knotless-sandbox-${pid}-`)) remains.push(name);
  }
  return remains;
}

async function assertGone(ready: Pick<Ready, "pid" | "env">): Promise<void> {
  const end = AbortSignal.timeout(patience);
  let remains = await findRemains(ready);
  while (remains.length > 0 && !end.aborted) {
    await new Promise((done) => setTimeout(done, 50));
    remains = await findRemains(ready);
  }
  assertEquals(remains, []);
}

/** Starts a network through other programs, and gives what it says of itself. */
async function startThrough(
  command: string,
  args: string[],
): Promise<{ process: Deno.ChildProcess; ready: Ready }> {
  const process = new Deno.Command(command, {
    args,
    cwd: root,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let text = "";
  for await (const chunk of process.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("\n")) break;
  }
  return { process, ready: JSON.parse(text) };
}

const describeOnLinux = Deno.build.os === "linux" ? describe : describe.skip;

describeOnLinux("a sandbox", () => {
  it("comes back with the same accounts, passwords and addresses, and goes when told to", async () => {
    const data = await Deno.makeTempDir();
    try {
      const options = { own: true, data, accounts: ["alice"] } as const;
      const first = await openNetwork(options);
      const made = await first.createAccount("dave");
      const { pds, plc, env, accounts } = first;
      await first.stop();
      await assertGone(first);

      const second = await openNetwork(options);
      assertEquals(
        [second.pds, second.plc, second.env, second.accounts],
        [pds, plc, env, accounts],
      );
      assert(await second.appPassword(made));
      await second.stop();
      await assertGone(second);
    } finally {
      await Deno.remove(data, { recursive: true });
    }
  });

  it("goes when the process that started it is killed", async () => {
    const command = `"${Deno.execPath()}" run -A -q scripts/dev.ts --accounts "" & wait`;
    const { process, ready } = await startThrough("sh", ["-c", command]);
    assertEquals(ready.accounts, []);
    assertEquals((await findRemains(ready)).length, 6);
    process.kill("SIGKILL");
    await process.status;
    await assertGone(ready);
  });

  it("goes when the npx that started it is killed", async () => {
    const deno = `deno@${Deno.version.deno}`;
    const args = ["-y", deno, "task", "dev", "--accounts", ""];
    const { process, ready } = await startThrough("npx", args);
    assert(ready.pid !== process.pid);
    process.kill("SIGKILL");
    await process.status;
    await assertGone(ready);
  });
});
