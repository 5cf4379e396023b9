import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { version } from "../../core/version.ts";
import { runCli } from "../support/cli.ts";
import { smallTable } from "../support/table.ts";

describe("versions on the command line", () => {
  let dir: string;
  let server: Server;
  let appview: string;
  let asked = 0;

  beforeAll(async () => {
    dir = await Deno.makeTempDir();
    server = createServer((_, response) => {
      asked++;
      response.end('{"version":"99.0.0"}');
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    appview = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    await rm(dir, { recursive: true });
  });

  const knotless = (name: string, argv: string[], isTerminal = true, env = {}) =>
    runCli(argv, {
      table: smallTable,
      open: () => () => Promise.resolve({} as never),
      env: { KNOTLESS_CACHE_DIR: join(dir, name), KNOTLESS_APPVIEW: appview, ...env },
      terminals: isTerminal ? ["stdout", "stderr"] : [],
    });

  it("are asked for once a day where a person reads, and told of after the answer", async () => {
    const first = await knotless("a", ["status"]);
    assertEquals([first.status, asked], [0, 1]);
    assertStringIncludes(
      first.err,
      `note: knotless 99.0.0 is out, and this is ${version}: knotless upgrade brings it\n`,
    );
    assertEquals((await knotless("a", ["status"])).err, "");
    assertEquals(asked, 1);
  });

  it("are not asked for by a program, in JSON or by a command of this machine", async () => {
    const before = asked;
    await knotless("b", ["status"], false);
    await knotless("b", ["status", "--json"]);
    await knotless("b", ["login", "alice.test"]);
    await knotless("b", ["status"], true, { CI: "1" });
    assertEquals(asked, before);
  });

  it("that are too old are refused with a status of their own, but for what acts here", async () => {
    await mkdir(join(dir, "c"));
    await writeFile(
      join(dir, "c", "versions.json"),
      JSON.stringify({ appview, askedAt: Date.now(), minimum: "98.0.0" }),
    );
    const { status, err } = await knotless("c", ["status"], false);
    assertEquals(status, 10);
    assertStringIncludes(err, "takes 98.0.0 or newer\nhint: run knotless upgrade");
    assertEquals((await knotless("c", ["login", "alice.test"], false)).status, 0);
    const ignoring = { KNOTLESS_IGNORE_MINIMUM: "1" };
    assertEquals((await knotless("c", ["status"], false, ignoring)).status, 0);
  });
});
