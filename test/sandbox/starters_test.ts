import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Process, readProcess } from "../../scripts/sandbox/processes.ts";
import { findStarters } from "../../scripts/sandbox/starters.ts";

/** Gives the pids of the starters, when each process, by pid, is the parent of the one before. */
async function find(...commands: string[]): Promise<number[]> {
  const read = (pid: number): Promise<Process | undefined> =>
    Promise.resolve(
      commands[pid - 2] === undefined
        ? undefined
        : { pid, parent: pid + 1, started: "", command: commands[pid - 2]?.split(" ") ?? [] },
    );
  return (await findStarters(2, read)).map(({ pid }) => pid);
}

describe("whoever started the sandbox", () => {
  it("is the parent, when that is no wrapper", async () => {
    assertEquals(await find("node test.js", "npm test"), [2]);
    assertEquals(await find("/usr/bin/deno test -A", "bash"), [2]);
    assertEquals(await find("-bash", "sshd"), [2]);
  });

  it("is beyond deno task, with what passes on between", async () => {
    assertEquals(await find("deno task dev", "/usr/bin/python3 run.py", "bash"), [2, 3]);
    assertEquals(await find("deno task dev", "/bin/sh -c deno task dev", "node a.js"), [2, 3, 4]);
  });

  it("is npm or npx, and nobody beyond", async () => {
    const named = "npm exec deno@2.9.6 task dev";
    assertEquals(await find("deno task dev", "sh -c deno task dev", named, "bash"), [2, 3, 4]);
    const npx = "/usr/bin/node /usr/bin/npx -y deno@2.9.6 task dev";
    const script = "node /home/me/.npm/_npx/1/node_modules/.bin/deno task dev";
    assertEquals(await find("deno task dev", script, "sh -c deno", npx, "bash"), [2, 3, 4, 5]);
    const cli = "node /usr/lib/node_modules/npm/bin/npm-cli.js exec deno";
    assertEquals(await find("deno task dev", cli, "bash"), [2, 3]);
  });

  it("is nobody where processes cannot be read", async () => {
    assertEquals(await find(), []);
  });

  it("is read from the machine", async () => {
    const self = await readProcess(Deno.pid);
    assertEquals([self?.pid, self?.parent], [Deno.pid, Deno.ppid]);
    assertEquals((await readProcess(Deno.pid))?.started, self?.started);
    assertEquals(await readProcess(2 ** 22 + 1), undefined);
  });
});
