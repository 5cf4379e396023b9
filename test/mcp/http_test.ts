import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { spawn } from "node:child_process";
import { request as send } from "node:http";
import process from "node:process";
import {
  compileFixture,
  legacy,
  modern,
  OPENING,
  serveOverHttp,
  toolCall,
} from "../support/mcp.ts";

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

/** Sends a request whose headers may be anything, the host too. */
function ask(url: string, { method = "POST", headers = {}, body }: Asked = {}): Promise<Answer> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = send(url, { method, headers }, (response) => {
      const chunks: Uint8Array[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text: Buffer.concat(chunks).toString() });
      });
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

/** The headers of a request of 2026-07-28. */
function headersOf(method: string, name?: string): Record<string, string> {
  return {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(name !== undefined && { "mcp-name": name }),
  };
}

const ping = legacy(1, "ping");

describe("MCP over HTTP", () => {
  let path: string;
  let server: Awaited<ReturnType<typeof serveOverHttp>>;
  let url: string;
  let bare: string;

  beforeAll(async () => {
    path = await compileFixture();
    server = await serveOverHttp(path);
    url = server.url;
    bare = url.replace(/\/[^/]+$/, "");
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  it("says its address, with a token that is new each time", async () => {
    assertMatch(url, /^http:\/\/127\.0\.0\.1:\d+\/mcp\/[\w-]{32}$/);
    await using other = await serveOverHttp(path);
    assertEquals(other.url.slice(-32) === url.slice(-32), false);
  });

  it("answers whoever has the token, in the address or in a header", async () => {
    assertEquals((await ask(url, { body: ping })).status, 200);
    const authorization = `Bearer ${url.slice(-32)}`;
    assertEquals((await ask(bare, { headers: { authorization }, body: ping })).status, 200);
  });

  it("refuses who has no token, or another", async () => {
    for (
      const [at, headers] of [
        [bare, {}],
        [`${bare}/`, {}],
        [`${url}x`, {}],
        [`${url}/x`, {}],
        [bare, { authorization: "Bearer x" }],
        [bare, { authorization: url.slice(-32) }],
      ] as const
    ) {
      const { status, headers: said } = await ask(at, { headers, body: ping });
      assertEquals([status, said["www-authenticate"]], [401, "Bearer"], at);
    }
    assertEquals((await ask(url.replace("/mcp/", "/other/"), { body: ping })).status, 404);
  });

  it("refuses a page of a browser, whatever name it has for this machine", async () => {
    const statusOf = async (headers: Record<string, string>) =>
      (await ask(url, { headers, body: ping })).status;
    assertEquals(await statusOf({ host: "evil.example" }), 403);
    assertEquals(await statusOf({ host: "127.0.0.1.evil.example" }), 403);
    assertEquals(await statusOf({ origin: "https://evil.example" }), 403);
    assertEquals(await statusOf({ origin: "http://localhost.evil.example" }), 403);
    assertEquals(await statusOf({ origin: "null" }), 403);
    assertEquals(await statusOf({ host: "localhost:1", origin: "http://localhost:5173" }), 200);
    assertEquals(await statusOf({ host: "[::1]:80" }), 200);
  });

  it("takes messages by POST, whole JSON of 16 MB at most", async () => {
    for (const method of ["GET", "PUT", "DELETE"]) {
      assertEquals((await ask(url, { method })).status, 405, method);
    }
    assertEquals((await ask(url, { body: "{nonsense" })).status, 400);
    assertEquals((await ask(url, { body: "x".repeat(17 << 20) })).status, 413);
    assertEquals((await ask(url, { body: ping })).status, 200);
  });

  it("answers on when clients leave in the middle of what they say", async () => {
    for (const body of ["", "{", JSON.stringify(ping)]) {
      await new Promise<void>((resolve) => {
        const headers = { "content-length": "1000" };
        const sent = send(url, { method: "POST", headers }).on("error", () => {});
        sent.on("close", resolve);
        sent.write(body, () => sent.destroy());
      });
    }
    assertEquals((await ask(url, { body: ping })).status, 200);
  });

  it("keeps a session from initialize until it is ended", async () => {
    const [opening, initialized] = OPENING;
    const session = String((await ask(url, { body: opening })).headers["mcp-session-id"]);
    const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
    assertEquals((await ask(url, { headers, body: initialized })).status, 202);
    assertEquals((await ask(url, { headers, body: ping })).status, 200);
    assertEquals((await ask(url, { method: "DELETE", headers })).status, 204);
    assertEquals((await ask(url, { headers, body: ping })).status, 404);
    assertEquals((await ask(url, { method: "DELETE", headers })).status, 404);
  });

  it("answers a modern request by itself, and its errors by the status too", async () => {
    const body = modern(1, "tools/call", { name: "echo", arguments: { text: "é" } });
    const headers = headersOf("tools/call", "echo");
    const { status, text } = await ask(url, { headers, body });
    assertEquals([status, JSON.parse(text).result.resultType], [200, "complete"]);
    const gone = await ask(url, { headers: headersOf("ping"), body: modern(1, "ping") });
    assertEquals([gone.status, JSON.parse(gone.text).error.code], [404, -32601]);
  });

  it("refuses a modern request whose headers are not its body's", async () => {
    const body = modern(1, "tools/call", { name: "é", arguments: {} });
    const right = `=?base64?${Buffer.from("é").toString("base64")}?=`;
    const codeOf = async (headers: Record<string, string>) => {
      const { status, text } = await ask(url, { headers, body });
      return [status, JSON.parse(text).error.code];
    };
    assertEquals(await codeOf(headersOf("tools/call", right)), [400, -32602]);
    for (
      const headers of [
        {},
        headersOf("tools/call"),
        headersOf("tools/list", right),
        headersOf("tools/call", "e"),
        headersOf("tools/call", "=?base64?!?="),
        headersOf("tools/call", "=?base64?w7?="),
        { ...headersOf("tools/call", right), "mcp-protocol-version": "2199-01-01" },
      ]
    ) assertEquals(await codeOf(headers), [400, -32020], JSON.stringify(headers));
  });

  it("streams what is told before the reply", async () => {
    const body = toolCall(1, "wait", { ms: 1 }, { progressToken: "t" });
    const { headers, text } = await ask(url, { body });
    assertEquals(headers["content-type"], "text/event-stream");
    const events = text.trim().split("\n\n").map((event) => {
      assertMatch(event, /^event: message\ndata: /);
      return JSON.parse(event.slice(event.indexOf("{")));
    });
    assertEquals(events.map(({ id }) => id), [undefined, undefined, 1]);
  });

  it("stops a call when its client goes, or when another request cancels it", async () => {
    const child = spawn(path, ["--http"], { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    const heard = async (text: string) => {
      while (!said.includes(text)) await new Promise((done) => child.stderr.once("data", done));
    };
    child.stderr.on("data", (chunk) => said += chunk);
    await heard("\n");
    const [at = ""] = /http:\S+/.exec(said) ?? [];
    const body = JSON.stringify(toolCall(1, "wait", { ms: 60_000 }, { progressToken: 1 }));
    const begun = (headers: Record<string, string> = {}) =>
      new Promise<() => void>((resolve) => {
        const sent = send(at, { method: "POST", headers }, (response) => {
          response.on("error", () => {});
          response.once("data", () => resolve(() => sent.destroy()));
        });
        sent.on("error", () => {});
        sent.end(body);
      });
    const leave = await begun();
    leave();
    await heard("cancelled\n");
    const session = String(
      (await ask(at, { body: OPENING[0] })).headers["mcp-session-id"],
    );
    await begun({ "mcp-session-id": session });
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    const headers = { "mcp-session-id": session };
    assertEquals((await ask(at, { headers, body: cancel })).status, 202);
    await heard("cancelled\ncancelled\n");
    const ended = new Promise((resolve) => child.once("exit", resolve));
    process.kill(child.pid ?? 0, "SIGTERM");
    assertEquals(await ended, 143);
    assertStringIncludes(said, "MCP is served at http://127.0.0.1:");
  });
});
