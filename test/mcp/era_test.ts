import { beforeAll, describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import { compileFixture, legacy, modern, OPENING, talk } from "../support/mcp.ts";

describe("the eras of MCP on one connection", () => {
  let path: string;
  beforeAll(async () => {
    path = await compileFixture();
  });

  it("are told apart by each message, whatever came before", async () => {
    const server = talk(path);
    const [opening] = OPENING;
    const requests = [
      modern(0, "server/discover"),
      opening,
      modern(1, "tools/list"),
      legacy(2, "tools/list"),
      modern(3, "ping"),
      legacy(4, "ping"),
      modern(5, "initialize"),
      legacy(6, "server/discover"),
    ];
    const replies = [];
    for (const request of requests) replies.push(await server.ask(request));
    assertEquals(
      replies.map(({ result, error }) => result?.resultType ?? error?.code ?? "legacy"),
      ["complete", "legacy", "complete", "legacy", -32601, "legacy", -32601, -32602],
    );
    await server.end();
  });

  it("are answered with the same tools, stamped for the one that wants it", async () => {
    const server = talk(path);
    const { result: { resultType, ttlMs, cacheScope, _meta, ...plain } } = await server.ask(
      modern(1, "tools/list"),
    );
    assertEquals([resultType, ttlMs, cacheScope], ["complete", 3_600_000, "public"]);
    assertEquals(_meta, {
      "io.modelcontextprotocol/serverInfo": { name: "knotless", version: "9.9.9" },
    });
    assertEquals((await server.ask(legacy(2, "tools/list"))).result, plain);
    await server.end();
  });

  it("say the same of the server", async () => {
    const server = talk(path);
    const [opening] = OPENING;
    const { result: { protocolVersion, serverInfo, ...about } } = await server.ask(opening);
    const discovered = (await server.ask(modern(1, "server/discover"))).result;
    assertEquals(protocolVersion, "2025-11-25");
    assertEquals(discovered._meta["io.modelcontextprotocol/serverInfo"], serverInfo);
    assertEquals(discovered.supportedVersions, ["2026-07-28"]);
    assertEquals(discovered.capabilities, about.capabilities);
    assertEquals(discovered.instructions, about.instructions);
    await server.end();
  });

  it("begin with an envelope that is whole, of a version that is spoken", async () => {
    const server = talk(path);
    const version = "io.modelcontextprotocol/protocolVersion";
    const capabilities = "io.modelcontextprotocol/clientCapabilities";
    const ask = async (_meta: object) =>
      (await server.ask(legacy(1, "tools/list", { _meta }))).error;
    assertEquals((await ask({ [version]: "2026-07-28" }))?.code, -32602);
    assertEquals((await ask({ [capabilities]: {} }))?.code, -32602);
    assertEquals((await ask({ [version]: 7, [capabilities]: {} }))?.code, -32602);
    const { code, data } = await ask({ [version]: "2199-01-01", [capabilities]: {} }) ?? {};
    assertEquals(code, -32022);
    assertEquals(data, { supported: ["2026-07-28"], requested: "2199-01-01" });
    await server.end();
  });

  it("refuse an id that waits, and stop what it stands for only when told", async () => {
    const server = talk(path);
    server.say(legacy(1, "tools/call", { name: "wait", arguments: { ms: 100 } }));
    assertEquals((await server.ask(legacy(1, "ping"))).error?.code, -32600);
    assertEquals((await server.next()).result.content[0].text, '{"ms":100}');
    assertEquals((await server.ask(legacy(1, "ping"))).result, {});
    await server.end();
  });
});
