import { beforeAll, describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { facts } from "../../core/facts.gen.ts";
import { clientNames, configFor } from "../../core/mcp_clients.ts";
import { describeTool, isTool, type ToolFact, weighTool } from "../../core/tools.ts";
import { nameToolsets, selectTools } from "../../core/toolsets.ts";
import { binary } from "../support/binary.ts";
import { run } from "../support/run.ts";
import { connect } from "../support/mcp.ts";
import { readRows } from "../support/rows.ts";

const wish = {
  program: ["/opt/kn ot/knotless"],
  env: { KNOTLESS_STATE_DIR: "/state", HOME: "/home/alice", KNOTLESS_PDS: "" },
  toolCount: 129,
  readOnly: true,
  repo: "alice.test/app",
  lockdown: true,
  structured: false,
};
const args = ["mcp", "--read-only", "--repo", "alice.test/app", "--lockdown"];
const env = { KNOTLESS_STATE_DIR: "/state" };
const few = ["mcp", "--read-only", "--toolsets", "core", ...args.slice(2)];

describe("knotless mcp config", () => {
  const [command = ""] = wish.program;
  const configs: Record<typeof clientNames[number], unknown> = {
    "claude-code": { mcpServers: { knotless: { type: "stdio", command, args, env } } },
    "claude-desktop": { mcpServers: { knotless: { command, args, env } } },
    vscode: { servers: { knotless: { type: "stdio", command, args: few, env } } },
    codex: [
      "[mcp_servers.knotless]",
      'command = "/opt/kn ot/knotless"',
      'args = ["mcp", "--read-only", "--repo", "alice.test/app", "--lockdown"]',
      "",
      "[mcp_servers.knotless.env]",
      'KNOTLESS_STATE_DIR = "/state"',
      "",
    ].join("\n"),
    cursor: { mcpServers: { knotless: { command, args: few, env } } },
    opencode: {
      $schema: "https://opencode.ai/config.json",
      mcp: {
        knotless: { type: "local", command: [command, ...args], enabled: true, environment: env },
      },
    },
    zed: { context_servers: { knotless: { command, args, env } } },
  };
  for (const client of clientNames) {
    it(`writes what ${client} reads`, () => {
      const { text } = configFor(client, wish);
      assertEquals(client === "codex" ? text : JSON.parse(text), configs[client]);
    });
  }

  it("leaves the set of tools alone where one is chosen, or the client takes them all", () => {
    const chosen = configFor("cursor", { ...wish, toolsets: ["repo"] }).text;
    assertEquals(JSON.parse(chosen).mcpServers.knotless.args.slice(1, 4), [
      "--read-only",
      "--toolsets",
      "repo",
    ]);
    const all = configFor("cursor", { ...wish, toolCount: 40 }).text;
    assertEquals(JSON.parse(all).mcpServers.knotless.args, args);
  });
});

describe("the binary's mcp commands", () => {
  let program: string;
  let home: Record<string, string>;
  beforeAll(async () => {
    program = await binary();
    const dir = await Deno.makeTempDir();
    home = { HOME: dir, PATH: Deno.env.get("PATH") ?? "" };
  });
  const knotless = (line: string) =>
    run(program, line.split(" "), { env: home, cwd: home.HOME ?? "/" });

  it("print a configuration that starts a server which offers what it says", async () => {
    const { status, out, err } = await knotless("mcp config claude-code --toolsets branch");
    assertEquals(status, 0, err);
    const { command, args } = JSON.parse(out).mcpServers.knotless;
    assertEquals(err, "note: for .mcp.json in a project\n");
    await using client = await connect(command, args, home);
    const { tools } = await client.listTools();
    assertEquals(tools.map(({ name }) => name), [
      "branch_create",
      "branch_delete",
      "branch_rename",
    ]);
  });

  it("list the tools that flags leave, with their weight", async () => {
    const { out } = await knotless("mcp tools --toolsets repo --read-only --json");
    const { tools, bytes, tokens } = JSON.parse(out);
    const left = facts.filter(({ group, kind }) => group === "repo" && kind === "read");
    assertEquals(tools.map(({ tool }: { tool: string }) => tool), left.map(({ tool }) => tool));
    assertEquals(tokens, Math.ceil(bytes / 4));
    const piped = await knotless("mcp tools --tools status");
    assertEquals(piped.out.split("\t").slice(0, 3), ["status", "status", "read"]);
    assertStringIncludes(piped.err, "1 tools");
  });

  it("name what there is when a name is wrong", async () => {
    const { status, err } = await knotless("mcp tools --toolsets branhc");
    assertEquals(status, 2);
    assertStringIncludes(err, "no such toolset: branhc (did you mean branch?)");
  });
});

/** The bytes of a token: counted with o200k_base, these tools have 4.2 to 4.3. */
const TOKEN_BYTES = 4.2;
/** What has to be left of each bound, for a mean of those there are is not yet the weight of those to come. */
const MARGIN = 0.97;

describe("the weight of the tools", () => {
  const tools = facts.filter(isTool);
  const weigh = (listed: readonly ToolFact[]) =>
    listed.reduce((sum, fact) => sum + weighTool(describeTool(fact)), 0);

  it("stays in bounds when every command of the plan is there, each as heavy as the mean", async () => {
    const planned = (await readRows()).filter(({ kind }) => kind !== "machine");
    const core = selectTools({ toolsets: ["core"], readOnly: false }, facts);
    const reads = tools.filter(({ kind }) => kind === "read");
    for (
      const [says, listed, count, most] of [
        ["all", tools, planned.length, 11_500],
        ["those that read", reads, planned.filter(({ kind }) => kind === "read").length, 3500],
        ["those of the set core", core, 27, 3300],
      ] as const
    ) {
      const bytes = weigh(listed) / listed.length * count;
      const tokens = Math.round(bytes / TOKEN_BYTES);
      // deno-lint-ignore no-console
      console.log(
        `${listed.length} of ${count}, ${says}: ${weigh(listed)} B; by the mean ${tokens} tokens`,
      );
      assert(tokens <= most * MARGIN, `${says}: ${tokens} tokens`);
      assert(bytes <= 52_000 * MARGIN, `${says}: ${bytes} B`);
    }
  });

  it("of the core set and of each tool stays in bounds", () => {
    const core = selectTools({ toolsets: ["core"], readOnly: false }, facts);
    assert(weigh(core) <= 3300 * TOKEN_BYTES, `${weigh(core)} bytes`);
    for (const fact of tools) {
      const bytes = weighTool(describeTool(fact));
      assert(bytes <= 450 * TOKEN_BYTES, `${fact.tool}: ${bytes} bytes`);
    }
  });

  it("has no set that is of no tool", () => {
    for (const set of nameToolsets(facts)) {
      assert(selectTools({ toolsets: [set], readOnly: false }, facts).length > 0, set);
    }
  });
});
