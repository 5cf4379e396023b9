import { beforeAll, describe, it } from "@std/testing/bdd";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { RefusedError, UsageError } from "../../core/errors.ts";
import { facts } from "../../core/facts.gen.ts";
import { isTool } from "../../core/tools.ts";
import { selectTools } from "../../core/toolsets.ts";
import { completeWithin } from "../../mcp/complete_within.ts";
import { confine } from "../../mcp/confine.ts";
import { type Filter, readFilter, whyNot } from "../../mcp/filter.ts";
import { type Asked, readFlags } from "../../mcp/flags.ts";
import { instructionsFor } from "../../mcp/instructions.ts";
import { binary } from "../support/binary.ts";
import { run } from "../support/run.ts";
import { connect, textsOf } from "../support/mcp.ts";

const load = () => Promise.resolve(facts);

function wishOf(asked: Asked) {
  assert(asked.to === "serve");
  return asked.wish;
}

async function offered(argv: string[], env: Record<string, string> = {}): Promise<string[]> {
  const filter = await readFilter(wishOf(readFlags(argv, env)), load);
  return facts.filter(isTool).filter((fact) => whyNot(fact, filter) === undefined)
    .map(({ tool }) => tool);
}

const all = facts.filter(isTool).map(({ tool }) => tool);
const reads = facts.filter(isTool).filter(({ kind }) => kind === "read").map(({ tool }) => tool);

describe("the flags of knotless-mcp", () => {
  it("offer every tool when there are none, and with the sets all and default", async () => {
    assertEquals(await offered([]), all);
    assertEquals(await offered(["--toolsets", "all"]), all);
    assertEquals(await offered(["--toolsets=default"]), all);
  });

  it("offer what reads, whatever else is named", async () => {
    assertEquals(await offered(["--read-only"]), reads);
    assertEquals(await offered(["--tools", "repo_commit", "--read-only"]), []);
  });

  it("offer sets, tools beside them, and never what is excluded", async () => {
    assertEquals(await offered(["--toolsets", "tag"]), ["tag_create", "tag_delete"]);
    assertEquals(
      await offered([
        "--toolsets",
        "tag",
        "--tools",
        "status",
        "--exclude-tools=tag_delete,status",
      ]),
      ["tag_create"],
    );
    assertEquals(await offered(["--tools", "status", "--tools", "repo_read"]), [
      "status",
      "repo_read",
    ]);
    const core = selectTools({ toolsets: ["core"], readOnly: false }, facts);
    assert(core.some(({ tool }) => tool === "repo_commit") && core.length < all.length);
  });

  it("offer with --repo what cannot be asked without a repository", async () => {
    const tools = await offered(["--repo", "alice.test/app"]);
    assert(tools.includes("repo_read") && tools.includes("repo_commit"));
    const hidden = all.filter((tool) => !tools.includes(tool));
    assertEquals(
      hidden.filter((tool) => /^repo_(list|create|stars)|^account|^status/.test(tool)),
      hidden,
    );
  });

  it("have variables of the same meaning, which a flag's list takes the place of", async () => {
    assertEquals(await offered([], { KNOTLESS_MCP_READ_ONLY: "1" }), reads);
    assertEquals(await offered([], { KNOTLESS_MCP_READ_ONLY: "false" }), all);
    assertEquals(
      await offered(["--toolsets", "tag"], {
        KNOTLESS_MCP_TOOLSETS: "repo",
        KNOTLESS_MCP_EXCLUDE_TOOLS: "tag_create",
      }),
      ["tag_delete"],
    );
    assertEquals(
      wishOf(readFlags([], {
        KNOTLESS_MCP_TOOLS: "status",
        KNOTLESS_MCP_REPO: "a.test/b, c.test/d",
        KNOTLESS_MCP_LOCKDOWN: "1",
        KNOTLESS_MCP_STRUCTURED: "yes",
      })),
      {
        readOnly: false,
        tools: ["status"],
        repos: ["a.test/b", "c.test/d"],
        lockdown: true,
        structured: true,
        variables: new Map([
          ["--tools", "KNOTLESS_MCP_TOOLS"],
          ["--repo", "KNOTLESS_MCP_REPO"],
        ]),
      },
    );
  });

  for (
    const [argv, said] of [
      [["--toolsets", "brunch"], /no such toolset: brunch.*branch/],
      [["--tools", "repo_raed"], /no such tool: repo_raed \(did you mean repo_read\?\)/],
      [["--exclude-tools", "nothing"], /no such tool: nothing/],
      [["--repo", "app"], /^--repo: app is not a repository/],
    ] as const
  ) {
    it(`refuse ${argv.join(" ")}`, async () => {
      const error = await assertRejects(() => offered([...argv]), UsageError);
      assert(said.test(error.message), error.message);
    });
  }

  for (
    const [name, value, said] of [
      ["KNOTLESS_MCP_TOOLSETS", "brunch", "no such toolset: brunch (did you mean branch?)"],
      ["KNOTLESS_MCP_TOOLS", "status,nope", "no such tool: nope"],
      ["KNOTLESS_MCP_EXCLUDE_TOOLS", "nope", "no such tool: nope"],
      ["KNOTLESS_MCP_REPO", "app", "app is not a repository"],
      ["KNOTLESS_MCP_TOOLS", ",", "names nothing"],
    ] as const
  ) {
    it(`refuse ${name}=${value}, by the variable's name`, async () => {
      const error = await assertRejects(() => offered([], { [name]: value }), UsageError);
      assert(error.message.startsWith(name), error.message);
      assertStringIncludes(error.message, said);
    });
  }

  it("refuse an empty list, which would hide nothing", () => {
    for (const argv of [["--tools"], ["--tools", ""], ["--tools", "--read-only"], ["--repo=,"]]) {
      assertThrows(() => readFlags(argv), UsageError, "names nothing");
    }
    assertThrows(() => readFlags(["--lockdown=no"]), UsageError, "no such flag");
  });

  it("are told to the assistant in at most 2,000 characters", () => {
    const repos = [{ owner: "alice.test", name: "app" }];
    const text = instructionsFor({ readOnly: true, repos, lockdown: true });
    assert(text.length <= 2000, `${text.length} characters`);
    assert(!text.includes("repo_commit"), "a tool that writes is named to who may not write");
    for (const part of ["only reads", "alice.test/app", "withheld", "never follow"]) {
      assertStringIncludes(text.toLowerCase(), part.toLowerCase());
    }
  });

  it("name as many repositories as there is room for, and count the rest", () => {
    const repos = Array.from(
      { length: 400 },
      (_, at) => ({ owner: "alice.test", name: `app${at}` }),
    );
    const text = instructionsFor({ readOnly: true, repos, lockdown: true });
    assert(text.length <= 2000, `${text.length} characters`);
    assertStringIncludes(text, "is withheld.");
    const [, last, rest] = /app(\d+) and (\d+) more\.$/.exec(text) ?? [];
    assertEquals(Number(last) + 1 + Number(rest), 400);
  });
});

describe("what a call may name", () => {
  const nobody = () => Promise.reject(new Error("nothing is to be asked"));
  const check = async (name: string, args: object, filter: Omit<Filter, "readOnly">) => {
    const fact = facts.find((fact) => fact.name === name);
    assert(fact !== undefined);
    await confine(fact, args, { readOnly: false, ...filter }, nobody);
  };
  const repos = [{ owner: "alice.test", name: "app" }];

  it("is anything without flags", async () => {
    await check("status", { server: "https://example.com" }, {});
    await check("repo read", { repo: "bob.test/x", path: "a" }, {});
  });

  it("is no server under --lockdown or --repo", async () => {
    const args = { server: "https://example.com" };
    for (const filter of [{ lockdown: true }, { repos }]) {
      await assertRejects(() => check("status", args, filter), RefusedError, "asks no server");
    }
    await check("status", { repo: "bob.test/x" }, { lockdown: true });
  });

  it("is one repository, its owner, and no name of a new one, under --repo", async () => {
    await check("repo read", { repo: "@Alice.test/APP", path: "a" }, { repos });
    await check("account follows", { handle: "alice.test" }, { repos });
    await check("repo fork", { repo: "alice.test/app" }, { repos });
    for (
      const [name, args] of [
        ["repo fork", { repo: "alice.test/app", name: "leak" }],
        ["repo rename", { repo: "alice.test/app", name: "leak" }],
        ["repo read", { repo: "nonsense", path: "a" }],
        ["repo read", { repo: ["alice.test/app", "nonsense"], path: "a" }],
        ["account follows", { handle: "nonsense" }],
      ] as const
    ) {
      await assertRejects(() => check(name, args, { repos }), RefusedError, "is refused");
    }
  });
});

describe("completion within --repo", () => {
  const filter: Filter = { readOnly: true, repos: [{ owner: "alice.test", name: "app" }] };
  const complete = completeWithin(filter, (name) => Promise.resolve([`all of ${name}`]));

  it("knows no other owner and no other repository", async () => {
    assertEquals(await complete("owner", "", {}), ["alice.test"]);
    assertEquals(await complete("owner", "b", {}), []);
    assertEquals(await complete("repo", "", { owner: "alice.test" }), ["app"]);
    assertEquals(await complete("repo", "", { owner: "bob.test" }), []);
    assertEquals(await complete("path", "", { owner: "alice.test", repo: "secret" }), []);
    assertEquals(await complete("rev", "", { owner: "alice.test", repo: "app" }), ["all of rev"]);
  });
});

describe("the binary's flags", () => {
  let program: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    program = await binary();
    env = { HOME: await Deno.makeTempDir(), PATH: Deno.env.get("PATH") ?? "" };
  });

  it("stop the start when they name what there is not, with what there is", async () => {
    const { status, out, err } = await run(program, ["mcp", "--tools", "repo_raed"], {
      env,
      cwd: "/",
    });
    assertEquals([status, out], [2, ""]);
    assertStringIncludes(err, "did you mean repo_read?");
    assertStringIncludes(err, "hint: there are status, repo_list");
  });

  it("are named when a hidden tool is called by name", async () => {
    await using client = await connect(program, ["mcp", "--toolsets", "tag,branch"], {
      ...env,
      KNOTLESS_MCP_EXCLUDE_TOOLS: "tag_delete",
    });
    const call = async (name: string) => {
      const answer = await client.callTool({ name, arguments: {} });
      assertEquals(answer.isError, true);
      return textsOf(answer)[0];
    };
    const is = "is not offered: this server runs with";
    assertEquals(await call("repo_read"), `repo_read ${is} --toolsets tag,branch`);
    assertEquals(await call("tag_delete"), `tag_delete ${is} --exclude-tools`);
    const { resourceTemplates } = await client.listResourceTemplates();
    assertEquals(resourceTemplates, []);
  });
});
