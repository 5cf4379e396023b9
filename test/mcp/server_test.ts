import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
// @ts-types="@modelcontextprotocol/sdk/types"
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { compileFixture, connect, textsOf } from "../support/mcp.ts";

type Server = Awaited<ReturnType<typeof connect>>;

describe("the MCP server", () => {
  let path: string;
  let server: Server;
  const call = (name: string, args: Record<string, unknown> = {}) =>
    server.callTool({ name, arguments: args });

  beforeAll(async () => {
    path = await compileFixture();
    server = await connect(path);
  });
  afterAll(() => server.close());

  it("lists each command that is not about this machine, titled and annotated by the table", async () => {
    const { tools } = await server.listTools();
    assertEquals(tools.map(({ name }) => name), [
      "echo",
      "file_read",
      "file_list",
      "repo_read",
      "wait",
      "count",
      "hang",
      "print",
      "fail",
      "thing_set",
      "thing_drop_all",
    ]);
    const [echo, set, drop] = ["echo", "thing_set", "thing_drop_all"]
      .map((tool) => tools.find(({ name }) => name === tool));
    assertEquals(echo?.description, "Answer the arguments. Nothing else.");
    assertEquals(echo?.annotations, { readOnlyHint: true, openWorldHint: true });
    assertEquals(drop?.title, "Thing drop all");
    const write = { readOnlyHint: false, openWorldHint: true };
    assertEquals(set?.annotations, { ...write, destructiveHint: false, idempotentHint: true });
    assertEquals(drop?.annotations, { ...write, destructiveHint: true, idempotentHint: false });
  });

  it("says what it is in at most 2,000 characters", () => {
    assertEquals(server.getServerVersion(), { name: "knotless", version: "9.9.9" });
    const { length } = server.getInstructions() ?? "";
    assert(length > 0 && length <= 2000, `${length} characters`);
  });

  it("answers a result as compact JSON in one text block", async () => {
    assertEquals(await call("echo", { text: "é", count: 2 }), {
      content: [{ type: "text", text: '{"text":"é","count":2}' }],
    });
  });

  it("takes null as nothing, and numbers, choices, lists and objects that came as text", async () => {
    const bent = {
      text: null,
      count: "2",
      loud: "true",
      parts: '[{"at": "7", "size": "7"}, {"at": "b", "size": null}]',
    };
    assertEquals(
      textsOf(await call("echo", bent)),
      ['{"count":2,"loud":true,"parts":[{"at":"7","size":7},{"at":"b"}]}'],
    );
    assertEquals(textsOf(await call("echo", { text: "7" })), ['{"text":"7"}']);
  });

  it("says as an answer which argument does not fit", async () => {
    const result = await call("echo", { texd: "a" });
    assertEquals(result.isError, true);
    assertEquals(textsOf(result), ["no such parameter: texd\ndid you mean text?"]);
    assertStringIncludes(textsOf(await call("echo", { count: "many" }))[0] ?? "", "count");
  });

  it("answers a command's content as text, what is not UTF-8 in it replaced", async () => {
    assertEquals(textsOf(await call("file_read", { size: 3 })), ["a\uFFFDb"]);
    assertEquals(textsOf(await call("file_read", { size: 0 })), [""]);
  });

  it("refuses an answer over 1 MB in the command's words, or in its own", async () => {
    const told = await call("file_read", { size: 1_000_001 });
    assertEquals(told.isError, true);
    assertEquals(textsOf(told), ["1000001 bytes is too long\ncall file_read with size: 3"]);
    const plain = await call("file_list", { size: 1_000_000 });
    assertEquals(plain.isError, true);
    assertEquals(textsOf(plain), [
      "the answer has 1000011 bytes, more than the 1000000 that fit: ask for less",
    ]);
    assertEquals(textsOf(await call("file_read", { size: 1_000_000 }))[0]?.length, 1_000_000);
  });

  it("adds notes as texts of their own, and shows what hides or steers", async () => {
    assertEquals(textsOf(await call("print")), [
      "\uFFFD\uFFFD[31mred\r\n👩‍💻",
      "beside the answer \uFFFD",
    ]);
  });

  it("answers an error as one text, its advice spelled as the tool to call", async () => {
    assertEquals(await call("thing_set"), {
      content: [{ type: "text", text: 'it is set\ncall thing_drop_all with text: "a"' }],
      isError: true,
    });
  });

  it("tells nothing of a bug", async () => {
    const error = await assertRejects(() => call("fail"), McpError);
    assertEquals([error.code, error.message], [-32603, "MCP error -32603: internal error"]);
  });

  it("refuses a tool that does not exist as a wrong parameter", async () => {
    const error = await assertRejects(() => call("ecko"), McpError);
    assertEquals(error.code, -32602);
    assertStringIncludes(error.message, "no such tool: ecko (did you mean echo?)");
    assertEquals((await assertRejects(() => call("here"), McpError)).code, -32602);
  });

  it("refuses a method that does not exist", async () => {
    const error = await assertRejects(() => server.listPrompts(), McpError);
    assertEquals(error.code, -32601);
  });

  it("with --read-only offers only what reads, and says so when another is called", async () => {
    await using reader = await connect(path, ["--read-only"]);
    const { tools } = await reader.listTools();
    assertEquals(tools.filter(({ annotations }) => !annotations?.readOnlyHint), []);
    assertEquals(tools.length, 8);
    assertEquals(await reader.callTool({ name: "thing_drop_all", arguments: { text: "a" } }), {
      content: [{
        type: "text",
        text: "thing_drop_all is not offered: this server runs with --read-only",
      }],
      isError: true,
    });
  });
});
