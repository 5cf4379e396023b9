import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { Client as Client2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { answers } from "../../core/answers.gen.ts";
import { facts } from "../../core/facts.gen.ts";
import type { AnswerSchema } from "../../core/form.ts";
import { describeTool, isTool } from "../../core/tools.ts";
import { listTools } from "../../mcp/list.ts";
import { binary } from "../support/binary.ts";
import { type Home, openHome } from "../support/home.ts";
import { compileFixture, connect, textsOf, toolCall } from "../support/mcp.ts";
import { OPENING, talk } from "../support/mcp.ts";
import { openNetwork } from "../support/network.ts";
import { checkStructured } from "../support/structured.ts";

const tools = facts.filter(isTool);
const ERROR = "dev.knotless/error";

describe("the answers' schemas", () => {
  it("are there for each tool, and for no other command", () => {
    assertEquals(Object.keys(answers), tools.map(({ name }) => name));
  });

  it("are in the list under --structured, and nowhere without", async () => {
    const list = (structured: boolean) =>
      listTools({
        facts: () => Promise.resolve(facts),
        answers: () => structured ? Promise.resolve(answers) : Promise.reject(new Error("loaded")),
        filter: { readOnly: false, structured },
      });
    const named = facts.filter(isTool);
    assertEquals(await list(false), { tools: named.map((fact) => describeTool(fact)) });
    assertEquals(await list(true), {
      tools: named.map((fact) => ({ ...describeTool(fact), outputSchema: answers[fact.name] })),
    });
  });

  it("are of objects, and of a type each but where somebody else answers", () => {
    const untyped: string[] = [];
    const walk = (schema: AnswerSchema, at: string) => {
      const { type, properties = {}, items, required = [], anyOf } = schema;
      for (const choice of anyOf ?? []) walk(choice, at);
      if (type === undefined && anyOf === undefined) untyped.push(at);
      for (const name of required) assert(Object.hasOwn(properties, name), `${at} has no ${name}`);
      for (const [name, property] of Object.entries(properties)) walk(property, `${at}.${name}`);
      if (items) walk(items, `${at}[]`);
    };
    for (const [name, schema] of Object.entries(answers)) {
      assertEquals(schema.type, "object", name);
      walk(schema, name);
    }
    assertEquals(untyped, ["status.server.status"]);
  });
});

describe("an answer under --structured", () => {
  let home: Home;
  let other: Home;
  const repo = () => `${home.account.handle}/app`;
  const called = new Set<string>();
  const call = async (tool: string, args: object = {}) => {
    called.add(tool);
    const { texts, isError } = await home.tool(tool, args, ["--structured"]);
    assertEquals(isError, false, `${tool}: ${texts.join("\n")}`);
  };
  const write = (message: string, changes: readonly object[]) =>
    call("repo_commit", { repo: repo(), message, changes });
  /** A read of each kind of answer that a tool has. */
  const reads = (): [string, object][] => {
    const at = (more: object = {}) => ({ repo: repo(), ...more });
    return [
      ["status", at()],
      ["repo_list", {}],
      ["repo_refs", at()],
      ["repo_tree", at()],
      ["repo_tree", at({ limit: 1 })],
      ["repo_read", at({ path: "a.txt" })],
      ["repo_read", at({ path: "a.txt", start: 2, end: 3 })],
      ["repo_read", at({ path: "bytes" })],
      ["repo_log", at()],
      ["repo_log", at({ limit: 1 })],
      ["repo_diff", at({ base: "main" })],
      ["repo_diff", at({ base: "main~1" })],
      ["repo_diff", at({ base: "main~2" })],
      ["repo_diff", at({ base: "main~2", paths: ["long.txt"] })],
      ["repo_storage", at()],
      ["repo_search", at({ text: "o" })],
      ["repo_search", at({ text: "o", path: "a.txt", context: 1, limit: 1 })],
      ["repo_blame", at({ path: "a.txt" })],
      ["repo_blame", at({ path: "a.txt", limit: 1 })],
      ["repo_stars", {}],
      ["account_follows", {}],
    ];
  };

  beforeAll(async () => {
    const network = await openNetwork();
    home = await openHome(network, { name: "alice" });
    other = await openHome(network, { name: "bob" });
    await call("repo_create", { name: "app", description: "An app" });
    await write("Begin\n\nWith a body.", [
      { path: "a.txt", content: "one\ntwo\nthree\n" },
      { path: "bytes", base64: "AP8A" },
      { path: "dir/run.sh", content: "#!/bin/sh\n" },
    ]);
    await write("Grow", [{ path: "long.txt", content: "a line of text\n".repeat(5000) }]);
    await write("Change", [{ path: "a.txt", edits: [{ old: "two", new: "2 \u202e" }] }]);
  });
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
  });

  it("is what its tool's schema says, for every tool there is", async () => {
    await call("branch_create", { repo: repo(), name: "topic" });
    await call("branch_rename", { repo: repo(), branch: "topic", name: "feature" });
    await call("branch_delete", { repo: repo(), name: "feature" });
    await call("tag_create", { repo: repo(), name: "v1", message: "First" });
    await call("tag_create", { repo: repo(), name: "v2" });
    await call("repo_star", { repo: repo() });
    await call("account_follow", { handle: other.account.handle });
    for (const [tool, args] of reads()) await call(tool, args);
    await call("tag_delete", { repo: repo(), name: "v2" });
    await call("repo_star", { repo: repo(), undo: true });
    await call("repo_star", { repo: repo(), undo: true });
    await call("account_follow", { handle: other.account.handle, undo: true });
    await call("repo_edit", {
      repo: repo(),
      links: [{ url: "https://example.com", title: "Site" }],
      topics: ["git"],
    });
    await call("repo_compact", { repo: repo() });
    await call("repo_fork", { repo: repo(), name: "copy" });
    await call("repo_rename", { repo: `${home.account.handle}/copy`, name: "other" });
    await call("repo_archive", { repo: `${home.account.handle}/other` });
    await call("repo_list");
    await call("repo_archive", { repo: `${home.account.handle}/other`, undo: true });
    await call("repo_delete", { repo: `${home.account.handle}/other`, confirm: "other" });
    assertEquals([...called].sort(), tools.map(({ tool }) => tool).sort());
  });

  for (const mode of [undefined, { pin: "2026-07-28" }]) {
    it(`is what the v2 client wants, ${mode ? "of 2026-07-28" : "of the era before"}`, async () => {
      const client = new Client2({ name: "test", version: "0" }, {
        ...(mode && { versionNegotiation: { mode } }),
      });
      const args = ["mcp", "--structured"];
      await client.connect(new Stdio2({ command: await binary(), args, env: home.env }));
      try {
        const listed = await client.listTools();
        assertEquals(listed.tools.filter(({ outputSchema }) => outputSchema === undefined), []);
        for (const [name, args] of reads()) {
          const answer = await client.callTool({ name, arguments: { ...args } });
          assertEquals(answer.isError ?? false, false, name);
          checkStructured(name, answer);
        }
      } finally {
        await client.close();
      }
    });
  }

  it("tells a program of an error beside it, for clients hold structured content to the schema", async () => {
    await using client = await connect(await binary(), ["mcp", "--structured"], home.env);
    const args = { repo: repo(), path: "none" };
    const failed = await client.callTool({ name: "repo_read", arguments: args });
    assertEquals([failed.isError, failed.structuredContent], [true, undefined]);
    assertEquals(failed._meta, { [ERROR]: { code: "not_found.path", retryable: false } });
    await using plain = await connect(await binary(), ["mcp"], home.env);
    const untold = await plain.callTool({ name: "repo_read", arguments: args });
    assertEquals([untold.isError, untold._meta], [true, undefined]);
  });

  it("that is not there yet is an error that says to call again", async () => {
    const server = talk(await compileFixture(), ["--structured"]);
    server.say(...OPENING);
    await server.next();
    const { result } = await server.ask(toolCall(1, "wait", { ms: 700 }));
    assert(result.isError && /^wait is still at work/.test(textsOf(result)[0] ?? ""));
    assertEquals(result._meta, { [ERROR]: { code: "unfinished", retryable: true } });
    let done = result;
    for (let id = 2; done.isError; id++) {
      ({ result: done } = await server.ask(toolCall(id, "wait", { ms: 700 })));
    }
    assertEquals(done.structuredContent, { ms: 700 });
    await server.end();
  });
});
