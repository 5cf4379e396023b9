import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { spawnSync } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { facts } from "../core/facts.gen.ts";
import { version } from "../core/version.ts";
import { binary } from "./support/binary.ts";
import { keptIn } from "./support/folders.ts";
import { connect, OPENING, talk } from "./support/mcp.ts";

describe("the binary", () => {
  let path: string;
  let folder: string;
  let env: Record<string, string>;

  const run = (command: string, args: string[] = [], cwd = folder) => {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd,
      env,
      encoding: "utf8",
      timeout: 30_000,
    });
    return { status, stdout, stderr };
  };

  beforeAll(async () => {
    folder = await Deno.makeTempDir();
    path = await binary();
    env = {
      PATH: Deno.env.get("PATH") ?? "",
      ...keptIn(folder),
    };
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("says its version", () => {
    assertEquals(run(path, ["--version"]), {
      status: 0,
      stdout: `knotless ${version}\n`,
      stderr: "",
    });
  });

  it("is another program under another name, and by its first word", async () => {
    await symlink(path, join(folder, "knotless-mcp"));
    const said = { status: 0, stdout: `knotless-mcp ${version}\n`, stderr: "" };
    assertEquals(run(join(folder, "knotless-mcp"), ["--version"]), said);
    assertEquals(run(path, ["mcp", "--version"]), said);
  });

  it("names the flag of knotless-mcp that does not exist", () => {
    const { status, stdout, stderr } = run(path, ["mcp", "--read-onyl"]);
    assertEquals([status, stdout], [2, ""]);
    assertStringIncludes(stderr, "--read-onyl");
  });

  it("heeds no bunfig.toml and no .env of the folder it runs in", async () => {
    const hostile = join(folder, "hostile");
    await mkdir(hostile);
    const ran = join(hostile, "ran");
    await writeFile(
      join(hostile, "bunfig.toml"),
      'preload = ["./preload.ts"]\n[run]\npreload = ["./preload.ts"]\n',
    );
    await writeFile(join(hostile, ".env"), "KNOTLESS_OUTPUT=json\nBUN_BE_BUN=1\n");
    await writeFile(
      join(hostile, "preload.ts"),
      `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(ran)}, "");`,
    );
    const args = ["no", "such", "command"];
    const there = run(path, args, hostile);
    assertEquals(there, run(path, args));
    assertEquals(there.stdout, "");
    assertEquals(await Deno.stat(ran).catch(() => "never"), "never");
  });

  it("offers each command that has a tool over MCP, and no other", async () => {
    await using client = await connect(path, ["mcp"], env);
    const { tools } = await client.listTools();
    assertEquals(
      tools.map(({ name }) => name),
      facts.flatMap(({ tool }) => tool === undefined ? [] : [tool]),
    );
    assertEquals(client.getServerVersion(), { name: "knotless", version });
  });

  it("offers only what reads with --read-only", async () => {
    await using client = await connect(path, ["mcp", "--read-only"], env);
    const { tools } = await client.listTools();
    assertEquals(
      tools.map(({ name }) => name),
      facts.flatMap(({ tool, kind }) => kind === "read" && tool ? [tool] : []),
    );
  });

  it("says nothing on stdout but the protocol, and exits when stdin ends", async () => {
    const server = talk(path, ["mcp"]);
    server.say(...OPENING, { jsonrpc: "2.0", id: 1, method: "tools/list" });
    const { replies, status, stderr } = await server.end();
    assertEquals(replies.map(({ id }) => id), ["open", 1]);
    assertEquals([status, stderr], [0, ""]);
  });
});
