import { beforeAll, describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import process from "node:process";
import { compileFixture, OPENING, talk, toolCall } from "../support/mcp.ts";

const ping = (id: unknown) => ({ jsonrpc: "2.0", id, method: "ping" });

/** Resolves when no process has the id any more; a dead one that nobody waited for counts as gone. */
async function gone(pid: number): Promise<void> {
  while (true) {
    try {
      const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
      if (stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z")) return;
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("MCP over stdio", () => {
  let path: string;
  beforeAll(async () => {
    path = await compileFixture();
  });

  it("answers all that came before the end of stdin, and then exits", async () => {
    const server = talk(path);
    server.say(...OPENING, toolCall(1, "wait", { ms: 400 }), toolCall(2, "echo"));
    server.say(toolCall(3, "file_read", { size: 900_000 }), JSON.stringify(ping(4)));
    const { replies, status } = await server.end();
    assertEquals(replies.map(({ id }) => id).sort(), [1, 2, 3, 4, "open"]);
    assertEquals(status, 0);
  });

  it("sends long answers whole to a client that reads late", async () => {
    const server = talk("sh", ["-c", '"$0" | { sleep 0.3; cat; }', path]);
    server.say(...OPENING, ...[1, 2, 3].map((id) => toolCall(id, "file_read", { size: 990_000 })));
    const { replies } = await server.end();
    assertEquals(replies.length, 4);
    assertEquals(replies.slice(1).map(({ result }) => result.content[0].text.length), [
      990_000,
      990_000,
      990_000,
    ]);
  });

  it("keeps stdout for the protocol, whatever a command prints", async () => {
    const server = talk(path);
    server.say(...OPENING, toolCall(1, "print"));
    const { replies, stderr } = await server.end();
    assertEquals(replies.map(({ id }) => id), ["open", 1]);
    assertEquals(stderr, "printed by console\nprinted by stdout\n");
  });

  it("takes lines that end in a carriage return, empty ones, and one without an end", async () => {
    const server = talk(path);
    server.say(`\r\n\n${JSON.stringify(ping(1))}\r\n`, JSON.stringify(ping(2)));
    assertEquals((await server.end()).replies.map(({ id }) => id), [1, 2]);
  });

  it("answers what is no message, and goes on", async () => {
    const server = talk(path);
    const { child } = server;
    server.say("{nonsense\n", "[]\n", "7\n", '{"jsonrpc":"2.0","id":null,"method":"ping"}\n');
    server.say('{"jsonrpc":"2.0","id":5,"method":"ping","params":[]}\n', { id: 6, method: "ping" });
    server.say({ ...ping(7), extra: 1 });
    child.stdin.write("x".repeat(17 << 20));
    server.say("\n", ping(8));
    const { replies, status } = await server.end();
    const wrong = replies.filter(({ error }) => error).map(({ id, error }) => [id, error?.code]);
    assertEquals(wrong, [
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [null, -32600],
      [5, -32600],
      [6, -32600],
      [null, -32600],
    ]);
    assertEquals(replies.filter(({ result }) => result).map(({ id }) => id), [7, 8]);
    assertEquals(status, 0);
  });

  it("answers the newest version it knows to a client of a later one", async () => {
    const server = talk(path);
    const [opening] = OPENING as [{ params: Record<string, unknown> }];
    server.say({ ...opening, params: { ...opening.params, protocolVersion: "2199-01-01" } });
    const [reply] = (await server.end()).replies;
    assertEquals(reply?.result.protocolVersion, "2025-11-25");
  });

  it("stops a cancelled call, says nothing more of it, and exits without waiting for it", async () => {
    const server = talk(path);
    server.say(...OPENING, toolCall(1, "wait", { ms: 60_000 }, { progressToken: "t" }));
    assertEquals((await server.next()).id === "open" || (await server.next()).id === "open", true);
    server.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    server.say(ping(2));
    const { replies, status, stderr } = await server.end();
    assertEquals(replies.filter(({ id }) => id !== undefined).map(({ id }) => id), [2]);
    assertEquals([status, stderr], [0, "cancelled\n"]);
  });

  it("tells at once that a call has begun, then how far it has come, before the reply", async () => {
    const server = talk(path);
    server.say(...OPENING, toolCall(1, "wait", { ms: 1 }, { progressToken: "t" }));
    server.say(toolCall(2, "wait", { ms: 1 }));
    const { replies } = await server.end();
    const told = replies.filter(({ id, params }) => id === 1 || params !== undefined);
    assertEquals(told.map(({ params }) => params), [
      { progressToken: "t", progress: 0 },
      { progressToken: "t", progress: 1, message: "waiting 0/1" },
      undefined,
    ]);
  });

  it("exits quietly when nobody reads any more", async () => {
    const server = talk(path);
    server.say(...OPENING);
    await server.next();
    server.child.stdout.destroy();
    server.say(ping(1), ping(2));
    assertEquals(await server.status, 0);
  });

  for (const [signal, status] of [["SIGTERM", 143], ["SIGINT", 130], ["SIGHUP", 129]] as const) {
    it(`exits on ${signal}, whatever a call does`, async () => {
      const server = talk(path);
      server.say(...OPENING, toolCall(1, "hang"));
      await server.next();
      process.kill(server.child.pid ?? 0, signal);
      assertEquals(await server.status, status);
    });
  }

  it("does not outlive a parent that was killed, even when another holds its stdin open", async () => {
    // The writer of the server's stdin outlives the shell that is the server's parent.
    const script = `{ echo '${JSON.stringify(ping(1))}'; exec sleep 600; } |
      { exec 4<&0; "$0" <&4 & echo $! $(exec sh -c 'echo $PPID'); wait; } & wait`;
    const parent = spawn("sh", ["-c", script, path], {
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    const lines = createInterface(parent.stdout)[Symbol.asyncIterator]();
    const [pid = 0, shell = 0] = (await lines.next()).value?.split(" ").map(Number) ?? [];
    assertEquals(JSON.parse((await lines.next()).value ?? "").id, 1);
    process.kill(shell, "SIGKILL");
    await gone(pid);
    if (parent.pid !== undefined) process.kill(-parent.pid, "SIGKILL");
  });
});
