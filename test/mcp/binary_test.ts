import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { binary } from "../support/binary.ts";
import { run } from "../support/run.ts";
import { legacy, modern, OPENING, serveOverHttp, talk, toolCall } from "../support/mcp.ts";

describe("the MCP server of the binary", () => {
  let path: string;
  let folder: string;
  let env: Record<string, string>;
  /** A network that takes every connection and says nothing. */
  let silence: Server;
  const asked: Socket[] = [];

  beforeAll(async () => {
    path = await binary();
    folder = await Deno.makeTempDir();
    silence = createServer((socket) => asked.push(socket.on("error", () => {})));
    await new Promise<void>((resolve) => silence.listen(0, "127.0.0.1", resolve));
    const address = silence.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const nobody = `http://127.0.0.1:${port}`;
    env = {
      PATH: Deno.env.get("PATH") ?? "",
      HOME: folder,
      KNOTLESS_PLC: nobody,
      KNOTLESS_APPVIEW: nobody,
      KNOTLESS_HANDLE_HTTP: nobody,
      KNOTLESS_DNS: `127.0.0.1:${port}`,
      HTTPS_PROXY: nobody,
      HTTP_PROXY: nobody,
    };
  });
  afterAll(async () => {
    for (const socket of asked) socket.destroy();
    silence?.close();
    await rm(folder, { recursive: true });
  });

  it("waits for no network to shake hands, to list and to complete", async () => {
    const server = talk(path, ["mcp"], env);
    const complete = {
      ref: { type: "ref/resource", uri: "knotless://{owner}/{repo}/file/{rev}/{+path}" },
      argument: { name: "repo", value: "" },
      context: { arguments: { owner: "alice.test" } },
    };
    const requests = [
      OPENING[0],
      modern(1, "server/discover"),
      legacy(2, "tools/list"),
      modern(3, "tools/list"),
      legacy(4, "resources/templates/list"),
      legacy(5, "completion/complete", complete),
      legacy(6, "ping"),
    ];
    for (const request of requests) {
      const { result, error } = await server.ask(request);
      assert(result, `${JSON.stringify(request)}: ${JSON.stringify(error)}`);
    }
    assertEquals(asked.length, 0);
    assertEquals((await server.end()).status, 0);
  });

  it("stops waiting for the network when a call is cancelled", async () => {
    const server = talk(path, ["mcp"], env);
    const call = { repo: "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app" };
    server.say(toolCall(1, "repo_refs", call, { progressToken: 1 }));
    assertEquals((await server.next()).method, "notifications/progress");
    server.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    assertEquals((await server.ask(legacy(2, "ping"))).id, 2);
    const { replies, status } = await server.end();
    assertEquals([replies, status], [[], 0]);
  });

  it("answers what was asked about a network that breaks off", async () => {
    const server = talk(path, ["mcp"], { ...env, KNOTLESS_PLC: "http://127.0.0.1:9" });
    const call = { repo: "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app" };
    const { result } = await server.ask(toolCall(1, "repo_refs", call));
    assertEquals(result.isError, true);
    await server.end();
  });

  it("serves over HTTP at the address it says, and nowhere that is taken", async () => {
    await using server = await serveOverHttp(path, ["mcp"], env);
    const reply = await fetch(server.url, {
      method: "POST",
      body: JSON.stringify(legacy(1, "tools/list")),
    });
    assert((await reply.json()).result.tools.length > 0);
    const { port } = new URL(server.url);
    const { status, out, err } = await run(path, ["mcp", `--http=${port}`], { env, cwd: folder });
    assertEquals([status, out], [1, ""]);
    assertMatch(err, new RegExp(`^error: port ${port} cannot be listened on: `));
  });

  it("says which port is none", async () => {
    for (const port of ["70000", "x", "-1", ""]) {
      const { status, err } = await run(path, ["mcp", `--http=${port}`], { env, cwd: folder });
      assertEquals(status, 2);
      assertMatch(err, /^error: --http is .*, which is no port\nhint: /);
    }
    assertEquals((await run(path, ["mcp", "--http"], { env, cwd: folder })).status, 2);
  });

  it("takes and gives whole messages where the pipes do not block", async () => {
    // The shell has no word for it, and git's own scripts are in this language.
    const unblock = `use Fcntl; for (*STDIN, *STDOUT) {
      fcntl($_, F_SETFL, fcntl($_, F_GETFL, 0) | O_NONBLOCK) or die } exec @ARGV`;
    const line = (id: number) => JSON.stringify(legacy(id, "tools/list"));
    const script = `{ echo '${line(1)}'; sleep 0.2; ${
      [2, 3, 4, 5, 6, 7, 8, 9].map((id) => `echo '${line(id)}';`).join(" ")
    } } | perl -e '${unblock}' "$0" mcp | { sleep 0.3; cat; }`;
    const { out } = await run("sh", ["-c", script, path], { env, cwd: join(folder) });
    const ids = out.trim().split("\n").map((reply) => JSON.parse(reply).id);
    assertEquals(ids, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});
