import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { compileFixture, legacy, modern, talk } from "../support/mcp.ts";
import type { Talk } from "../support/mcp.ts";

const TEMPLATE = "knotless://{owner}/{repo}/file/{rev}/{+path}";
const ERAS = { legacy, modern };

describe("resources by URI", () => {
  let server: Talk;
  let asked = 0;

  beforeAll(async () => {
    server = talk(await compileFixture());
  });
  afterAll(() => server.end());

  for (const [era, request] of Object.entries(ERAS)) {
    const read = (uri: unknown) => server.ask(request(++asked, "resources/read", { uri }));
    const readAt = async (rest: string) => {
      const { result, error } = await read(`knotless://${rest}`);
      return error ?? JSON.parse(result.contents[0].text);
    };

    describe(`in the ${era} era`, () => {
      it("are listed as templates, and not one by one", async () => {
        const { result } = await server.ask(request(++asked, "resources/templates/list"));
        assertEquals(result.resourceTemplates, [{
          uriTemplate: TEMPLATE,
          name: "file",
          title: "File",
          description: "A file of a repository, as of a branch, tag or commit",
          mimeType: "text/plain",
        }]);
        const { result: { resources } } = await server.ask(request(++asked, "resources/list"));
        assertEquals(resources, []);
      });

      it("are read by the command, with the parts as they were meant", async () => {
        assertEquals(
          await readAt("alice.test/app/file/topic%2Fx/src/main%20file.ts"),
          ["alice.test/app", "topic/x", "src/main file.ts"],
        );
        for (const owner of ["did:plc:abc", "did%3Aplc%3Aabc"]) {
          assertEquals(await readAt(`${owner}/app/file/main/x`), ["did:plc:abc/app", "main", "x"]);
        }
      });

      it("give text as text and bytes as base64, at the URI that was asked for", async () => {
        const uri = "mcp://KNOTLESS://a.b/app/file/main/x";
        const { result } = await read(uri);
        assertEquals(result.contents, [
          { uri, mimeType: "text/plain", text: '["a.b/app","main","x"]' },
        ]);
        const bytes = "knotless://a.b/app/file/main/bytes";
        assertEquals((await read(bytes)).result.contents, [
          { uri: bytes, mimeType: "application/octet-stream", blob: "AAH/" },
        ]);
      });

      it("find a file whose name has an escape in it", async () => {
        assertEquals(await readAt("a.b/app/file/main/a%20b"), ["a.b/app", "main", "a%20b"]);
        assertEquals(await readAt("a.b/app/file/main/a%2520b"), ["a.b/app", "main", "a%20b"]);
        assertEquals(await readAt("a.b/app/file/main/100%"), ["a.b/app", "main", "100%"]);
      });

      it("fail with the message that the tool's call would have", async () => {
        const uri = "knotless://a.b/app/file/main/a b";
        const { error } = await read(uri);
        assertEquals(error, { code: -32603, message: "no such file\nlook again", data: { uri } });
      });

      it("are not there by a URI of no template, which names the templates", async () => {
        const paths = ["../x", "a/../../x", "%2e%2e/x", "..%2F..%2Fx", "a//b", "./a", "a/", "%2F"];
        const uris = [
          ...paths.map((path) => `knotless://a.b/app/file/main/${path}`),
          "knotless://a.b/app",
          "knotless://a%2Fb/app/file/main/x",
          "knotless://a.b/app%2Fx/file/main/x",
          "file:///etc/passwd",
          "",
        ];
        for (const uri of uris) {
          const { error } = await read(uri);
          assertEquals(error?.code, era === "legacy" ? -32002 : -32602, uri);
          assertEquals(error?.data, { uri, templates: [TEMPLATE] });
          assertStringIncludes(error?.message ?? "", TEMPLATE);
        }
        assertEquals((await read(7)).error?.code, -32602);
      });

      it("complete a part, a hundred values at most, from the parts before it", async () => {
        const complete = async (name: string, value: string, more: object = {}) => {
          const ref = { type: "ref/resource", uri: TEMPLATE };
          const params = { ref, argument: { name, value }, ...more };
          return (await server.ask(request(++asked, "completion/complete", params))).result
            .completion;
        };
        const chosen = { owner: "a.b", repo: 7 };
        assertEquals(await complete("repo", "ap", { context: { arguments: chosen } }), {
          values: ["ap+", '{"owner":"a.b"}'],
          total: 2,
          hasMore: false,
        });
        const { values, total, hasMore } = await complete("path", "src/");
        assertEquals([values.length, values[99], total, hasMore], [100, "src/99", 150, true]);
        assertEquals((await complete("nothing", "")).values, []);
      });

      it("complete nothing but their templates", async () => {
        const argument = { name: "repo", value: "" };
        for (
          const params of [
            { ref: { type: "ref/resource", uri: "knotless://{x}" }, argument },
            { ref: { type: "ref/prompt", name: "x" }, argument },
            { ref: { type: "ref/resource", uri: TEMPLATE } },
            {},
          ]
        ) {
          const { error } = await server.ask(request(++asked, "completion/complete", params));
          assertEquals(error?.code, -32602);
        }
      });
    });
  }
});
