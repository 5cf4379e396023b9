import { beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { Client as Client2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/stdio"
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { compileFixture } from "../support/mcp.ts";

/** What the clients have in common here, whatever their version. */
interface Driver {
  readonly era: string;
  tools(): Promise<string[]>;
  call(name: string, how?: { heard?: number[]; signal?: AbortSignal }): Promise<string>;
  read(uri: string): Promise<string>;
  close(): Promise<void>;
}

const person = { username: "u", email: "e@example.com", name: "Al" };
const capabilities = { elicitation: { form: {} } };

function textOf(result: object): string {
  const { content, contents } = result as Record<string, { text?: string }[] | undefined>;
  return (content ?? contents)?.[0]?.text ?? "";
}

async function driveV1(path: string): Promise<Driver> {
  const client = new Client1({ name: "test", version: "0" }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: person }));
  await client.connect(new Stdio1({ command: path, args: ["--conformance"] }));
  return {
    era: "legacy",
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, { heard = [], signal } = {}) {
      return textOf(
        await client.callTool({ name, arguments: { message: "hi" } }, undefined, {
          onprogress: ({ progress }) => void heard.push(progress),
          ...(signal && { signal }),
        }),
      );
    },
    read: async (uri) => textOf(await client.readResource({ uri })),
    close: () => client.close(),
  };
}

async function driveV2(path: string, mode?: "auto" | { pin: string }): Promise<Driver> {
  const client = new Client2({ name: "test", version: "0" }, {
    capabilities,
    ...(mode && { versionNegotiation: { mode } }),
  });
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: person }));
  await client.connect(new Stdio2({ command: path, args: ["--conformance"] }));
  return {
    era: client.getProtocolEra() ?? "none",
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, { heard = [], signal } = {}) {
      return textOf(
        await client.callTool({ name, arguments: { message: "hi" } }, {
          onprogress: ({ progress }) => void heard.push(progress),
          ...(signal && { signal }),
        }),
      );
    },
    read: async (uri) => textOf(await client.readResource({ uri })),
    close: () => client.close(),
  };
}

const CLIENTS: Readonly<Record<string, [era: string, (path: string) => Promise<Driver>]>> = {
  "the v1 client": ["legacy", driveV1],
  "the v2 client": ["legacy", (path) => driveV2(path)],
  "the v2 client that probes": ["modern", (path) => driveV2(path, "auto")],
  "the v2 client of 2026-07-28 alone": ["modern", (path) => driveV2(path, { pin: "2026-07-28" })],
};

async function codeOf(promise: Promise<unknown>): Promise<number | undefined> {
  const error = await promise.then(() => undefined, (error) => error);
  return error?.code;
}

describe("clients of the SDK", () => {
  let path: string;
  beforeAll(async () => {
    path = await compileFixture();
  });

  for (const [name, [era, drive]] of Object.entries(CLIENTS)) {
    describe(name, () => {
      let driver: Driver;

      it("connects, in its era", async () => {
        driver = await drive(path);
        assertEquals(driver.era, era);
      });
      it("lists tools", async () => {
        assert((await driver.tools()).includes("test_simple_text"));
      });
      it("hears of progress", async () => {
        const heard: number[] = [];
        await driver.call("test_tool_with_progress", { heard });
        assertEquals(heard, [0, 50, 100]);
      });
      it("cancels a call, and goes on", async () => {
        const controller = new AbortController();
        const call = driver.call("test_tool_with_logging", { signal: controller.signal });
        controller.abort("enough");
        assertEquals(await call.then(() => "answered", () => "given up"), "given up");
        assertEquals(
          await driver.call("test_simple_text"),
          "This is a simple text response for testing.",
        );
      });
      it("reads a resource of a template", async () => {
        assertEquals(JSON.parse(await driver.read("test://template/42/data")).id, "42");
      });
      it("is told which resource is not there", async () => {
        // The v2 client turns the code of the eras before into the one of now.
        const code = name === "the v1 client" ? -32002 : -32602;
        assertEquals(await codeOf(driver.read("test://none")), code);
      });
      it("is refused a tool that does not exist", async () => {
        assertEquals(await codeOf(driver.call("nope")), -32602);
      });
      it("asks its person what the server wants to know", async () => {
        const tool = era === "legacy"
          ? "test_elicitation"
          : "test_input_required_result_elicitation";
        assert(/accept|Hello, Al!/.test(await driver.call(tool)));
      });
      it("closes", () => driver.close());
    });
  }
});
