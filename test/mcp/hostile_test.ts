import { describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { compileFixture, legacy, modern, talk, toolCall } from "../support/mcp.ts";
import { random } from "../support/random.ts";

const ROUNDS = 250;

const METHODS = [
  "initialize",
  "server/discover",
  "tools/list",
  "tools/call",
  "resources/read",
  "resources/list",
  "resources/templates/list",
  "completion/complete",
  "ping",
  "__proto__",
  "constructor",
  "",
];
const KEYS = ["name", "arguments", "uri", "ref", "argument", "context", "_meta", "__proto__"];
const TOOLS = ["echo", "file_read", "print", "thing_set", "repo_read", "nope", "__proto__"];

describe("a server that is sent nonsense", () => {
  const kinds: Readonly<
    Record<string, (source: ReturnType<typeof random>, id: number) => unknown>
  > = {
    "bytes": ({ int }) => {
      const bytes = Uint8Array.from({ length: 1 + int(200) }, () => int(256));
      return Buffer.concat([bytes, Buffer.from("\n")]);
    },
    "JSON that is no message": ({ json }) => json(4),
    "messages with random parts": ({ int, pick, json, text }, id) => ({
      jsonrpc: pick(["2.0", "2.0", "2.0", "1.0", 2]),
      id: pick([id, id, String(id), json(1)]),
      method: pick([...METHODS, text(8), json(1)]),
      params: int(4) === 0
        ? json()
        : Object.fromEntries(Array.from({ length: int(4) }, () => [pick(KEYS), json()])),
    }),
    "arguments of all kinds": ({ pick, json, text, int }, id) => {
      const args = pick([
        json(),
        { text: json(), count: json(), parts: json() },
        { size: int(50) - 5 },
        { repo: text(20), path: text(20), rev: text(8) },
      ]);
      return toolCall(id, pick(TOOLS), args, pick([undefined, json(), { progressToken: json() }]));
    },
    "URIs": ({ pick, text }, id) => {
      const uri = pick([
        text(40),
        `knotless://${text(8)}/${text(8)}/file/${text(8)}/${text(20)}`,
        `knotless://a.b/app/file/main/${text(20)}`,
      ]);
      return pick([legacy, modern])(id, "resources/read", { uri });
    },
  };

  for (const [kind, make] of Object.entries(kinds)) {
    it(`answers on after ${ROUNDS} times ${kind}`, async () => {
      const server = talk(await compileFixture());
      const source = random(kind);
      for (let id = 1; id <= ROUNDS; id++) {
        const sent = make(source, id);
        if (Buffer.isBuffer(sent)) server.child.stdin.write(sent);
        else server.say(`${JSON.stringify(sent)}\n`);
      }
      server.say(legacy("last", "ping"));
      const { replies, status, stderr } = await server.end();
      assertEquals([status, stderr.replace(/^printed by .*\n|^bug: .*secret detail\n/gm, "")], [
        0,
        "",
      ]);
      assertEquals(replies.filter(({ id }) => id === "last").map(({ result }) => result), [{}]);
      for (const reply of replies) {
        assert("id" in reply ? "result" in reply !== "error" in reply : reply.method !== undefined);
      }
    });
  }

  it("answers each call with a long, a deep and a wide argument", async () => {
    const server = talk(await compileFixture());
    const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
    const wide = JSON.stringify(
      Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [at, 1])),
    );
    const long = JSON.stringify("x".repeat(5_000_000));
    for (const [id, value] of [deep, wide, long, `"${deep.replaceAll('"', '\\"')}"`].entries()) {
      server.say(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"parts":${value}}}}\n`,
      );
    }
    const { replies, status } = await server.end();
    assertEquals([replies.map(({ id }) => id).sort(), status], [[0, 1, 2, 3], 0]);
  });

  it("answers a flood of requests, all of them", async () => {
    const server = talk(await compileFixture());
    const ids = Array.from({ length: 20_000 }, (_, id) => id);
    server.say(ids.map((id) => JSON.stringify(legacy(id, "ping"))).join("\n"), "\n");
    const { replies } = await server.end();
    assertEquals(replies.length, ids.length);
    assertEquals(replies.filter(({ error }) => error), []);
  });
});
