import { beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { dirname, join } from "node:path";
import { binary } from "../support/binary.ts";
import { judge } from "../support/judges.ts";
import { compileFixture, serveOverHttp } from "../support/mcp.ts";

describe("the inspector's command line", () => {
  let path: string;
  beforeAll(async () => {
    path = await compileFixture();
  });

  const inspect = async (args: readonly string[], status = 0) => {
    const common = ["--cli", "--format", "json", "-q"];
    const ended = await judge("inspector", [...common, ...args]);
    assertEquals(ended.status, status, `${ended.out}${ended.err}`);
    return ended;
  };

  for (const era of ["legacy", "modern"]) {
    const asked = ["--protocol-era", era];

    it(`finds nothing to complain of in the tools, in the ${era} era`, async () => {
      const { out } = await inspect([...asked, "--method", "tools/list", "--strict", path]);
      assert(JSON.parse(out).result.tools.length > 0);
    });

    it(`calls a tool and reads a resource, in the ${era} era`, async () => {
      const called = await inspect([
        ...asked,
        ...["--method", "tools/call", "--tool-name", "echo"],
        ...["--tool-args-json", '{"text":"é"}', path],
      ]);
      assertEquals(JSON.parse(called.out).result.content[0].text, '{"text":"é"}');
      const uri = "knotless://did:plc:abc/app/file/topic%2Fx/a%20b.ts";
      const read = await inspect([...asked, "--method", "resources/read", "--uri", uri, path]);
      assertEquals(
        JSON.parse(read.out).result.contents[0].text,
        '["did:plc:abc/app","topic/x","a b.ts"]',
      );
    });
  }

  it("finds no fault in the product's tools, nor in the schemas of their answers", async () => {
    const server = join(dirname(await binary()), "knotless-mcp");
    for (const structured of ["0", "1"]) {
      const { out } = await inspect([
        ...["--method", "tools/list", "--strict", "-e", `KNOTLESS_MCP_STRUCTURED=${structured}`],
        server,
      ]);
      const { tools } = JSON.parse(out).result;
      const withSchema = tools.filter(({ outputSchema }: { outputSchema?: object }) =>
        outputSchema
      );
      assertEquals(withSchema.length, structured === "1" ? tools.length : 0);
    }
  });

  it("tells a call that failed by its status", async () => {
    const call = ["--method", "tools/call", "--tool-name", "thing_set"];
    await inspect([...call, "--tool-args-json", "{}", path], 5);
  });

  it("reaches the server over HTTP", async () => {
    await using server = await serveOverHttp(path);
    const at = ["--server-url", server.url, "--transport", "http"];
    const { out } = await inspect([...at, "--method", "tools/list"]);
    assert(JSON.parse(out).result.tools.length > 0);
  });

  it("is answered by eight at once, each time", async () => {
    const load = ["--load", "--load-requests", "400", "--load-concurrency", "8"];
    const { out } = await inspect([
      ...load,
      ...["--method", "tools/call", "--tool-name", "echo", path],
    ]);
    assertEquals(/"errors?(?:Count|Rate|s)?": ?(\d+)/i.exec(out)?.[1] ?? out, "0");
  });
});
