import { command, type Zod } from "../command.ts";
import { facts } from "../facts.gen.ts";
import { spellName } from "../forge/names.ts";
import { clientNames, configFor } from "../mcp_clients.ts";
import { columns } from "../text.ts";
import { describeTool, isTool, tokensOf, weighTool } from "../tools.ts";
import { checkSelection, selectTools } from "../toolsets.ts";

const names = (z: Zod, what: string) =>
  z.array(z.string().min(1).max(100)).max(500).optional().describe(what);

const selection = (z: Zod) => ({
  toolsets: names(z, "only these sets of tools; a group's name is one too"),
  tools: names(z, "these tools, beside those of the sets"),
  exclude_tools: names(z, "not these tools, whatever else names them"),
  read_only: z.boolean().default(false).describe("only the tools that read"),
});

/** What a person asked for, in the words of the server's flags. */
interface Asked {
  readonly toolsets?: string[] | undefined;
  readonly tools?: string[] | undefined;
  readonly exclude_tools?: string[] | undefined;
  readonly read_only: boolean;
}

const config = command({
  name: "mcp config",
  summary: "Print what makes a client start the MCP server",
  details:
    "The flags are those of the server, and are put into the configuration. A client that takes fewer tools than there are gets the set named core, unless other sets or tools are named.",
  kind: "machine",
  params: ({ z, repo }) => ({
    client: z.enum(clientNames).describe("the client"),
    repo: repo().optional().describe("no other repository may be named"),
    ...selection(z),
    lockdown: z.boolean().default(false)
      .describe("only text by people with a part in the repository"),
    structured: z.boolean().default(false).describe("answers as structured content too"),
  }),
  positionals: ["client"],
  examples: [
    { line: "mcp config claude-code", says: "see what goes into a .mcp.json for Claude Code" },
    {
      line: "mcp config codex --read-only -R alice.test/app --lockdown",
      says: "for an assistant that reviews one repository",
    },
  ],
  run({ machine, note }, { client, repo, lockdown, structured, ...asked }) {
    checkSelection(selectionOf(asked), facts);
    const { file, text } = configFor(client, {
      program: machine.program,
      env: machine.env,
      toolCount: facts.filter(isTool).length,
      ...selectionOf(asked),
      ...(repo && { repo: spellName(repo) }),
      lockdown,
      structured,
    });
    note(`for ${file}`);
    return Promise.resolve({ client, file, config: text });
  },
  render: ({ config }) => config,
});

const tools = command({
  name: "mcp tools",
  summary: "List the tools an assistant is offered, and what each weighs",
  details:
    "A tool weighs what a model is given of it with every request: its name, description and input. Four bytes are about one token.",
  kind: "machine",
  params: ({ z }) => selection(z),
  examples: [
    { line: "mcp tools", says: "list all" },
    { line: "mcp tools --toolsets core --read-only", says: "see what two flags leave" },
  ],
  run({ note }, asked) {
    checkSelection(selectionOf(asked), facts);
    const listed = selectTools(selectionOf(asked), facts).map((fact) => {
      const bytes = weighTool(describeTool(fact));
      return {
        tool: fact.tool,
        group: fact.group,
        kind: fact.kind,
        bytes,
        tokens: tokensOf(bytes),
      };
    });
    const bytes = listed.reduce((sum, tool) => sum + tool.bytes, 0);
    note(`${listed.length} tools, ${bytes} bytes, about ${tokensOf(bytes)} tokens`);
    return Promise.resolve({ tools: listed, bytes, tokens: tokensOf(bytes) });
  },
  render: ({ tools }, style) => columns(tools, ["tool", "group", "kind", "bytes", "tokens"], style),
});

function selectionOf({ toolsets, tools, exclude_tools, read_only }: Asked) {
  return {
    ...(toolsets && { toolsets }),
    ...(tools && { tools }),
    ...(exclude_tools && { excludeTools: exclude_tools }),
    readOnly: read_only,
  };
}

export default [config, tools];
