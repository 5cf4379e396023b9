import { beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { compileFixture, legacy, talk, toolCall } from "../support/mcp.ts";

const text = ({ result }: { result?: { content: { text: string }[] } }) =>
  result?.content[0]?.text ?? "";

describe("a call that takes longer than its client waits", () => {
  let path: string;
  beforeAll(async () => {
    path = await compileFixture();
  });

  it("is answered that it goes on, and the next call like it gets its answer", async () => {
    const server = talk(path);
    const said = text(await server.ask(toolCall(1, "wait", { ms: 900 })));
    assertStringIncludes(said, "wait is still at work (waiting 0/900) and goes on: call it again");
    let answers = 0;
    let last = "";
    do last = text(await server.ask(toolCall(2 + answers++, "wait", { ms: 900 }))); while (
      last.includes("still at work")
    );
    assertEquals(last, '{"ms":900}');
    const { stderr } = await server.end();
    assertEquals(stderr, "");
  });

  it("is done once, whoever asks for it again, and anew once it was answered", async () => {
    const server = talk(path);
    for (const id of [1, 2]) {
      assertStringIncludes(text(await server.ask(toolCall(id, "count", { ms: 400 }))), "at work");
      assertEquals(text(await server.ask(toolCall(id, "count", { ms: 400 }))), `{"count":${id}}`);
    }
    await server.end();
  });

  it("is stopped when the client that came back for it cancels", async () => {
    const server = talk(path);
    await server.ask(toolCall(1, "wait", { ms: 60_000 }));
    server.say(toolCall(2, "wait", { ms: 60_000 }));
    server.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } });
    const { replies, stderr } = await server.end();
    assertEquals([replies, stderr], [[], "cancelled\n"]);
  });

  it("is told of for as long as it takes to a client that listens", async () => {
    const server = talk(path);
    server.say(toolCall(1, "wait", { ms: 900 }, { progressToken: 7 }));
    const told: number[] = [];
    let reply = await server.next();
    for (; reply.params; reply = await server.next()) {
      assertEquals(reply.params.progressToken, 7);
      told.push(reply.params.progress);
    }
    assertEquals(text(reply), '{"ms":900}');
    assert(told.length > 3, `told ${told.length} times`);
    assertEquals(told, told.map((_, at) => at));
    await server.end();
  });

  it("is a resource that is read again", async () => {
    const server = talk(path);
    const uri = "knotless://a.b/app/file/main/slow";
    const { error } = await server.ask(legacy(1, "resources/read", { uri }));
    assertEquals(error?.code, -32603);
    assertStringIncludes(error?.message ?? "", "is still at work and goes on: read it again");
    const { result } = await server.ask(legacy(2, "resources/read", { uri }));
    assertEquals(result.contents[0].uri, uri);
    await server.end();
  });
});
