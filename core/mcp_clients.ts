import type { Selection } from "./toolsets.ts";

/** The clients whose configuration is known. */
export const clientNames = [
  "claude-code",
  "claude-desktop",
  "vscode",
  "codex",
  "cursor",
  "opencode",
  "zed",
] as const;

/** What a client is to start. */
export interface ServerWish extends Selection {
  /** The program and the arguments that make it knotless. */
  readonly program: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How many tools there are. */
  readonly toolCount: number;
  readonly repo?: string;
  readonly lockdown: boolean;
  readonly structured: boolean;
}

/** A program to start. */
interface Start {
  readonly command: string;
  readonly args: readonly string[];
  /** Empty where there is nothing to set. */
  readonly env: Readonly<Record<string, string>>;
}

interface Client {
  /** Where the configuration goes. */
  readonly file: string;
  /** How many tools it takes, where that is known to be few. */
  readonly most?: number;
  write(start: Start): string;
}

const clients: Readonly<Record<typeof clientNames[number], Client>> = {
  "claude-code": {
    file: ".mcp.json in a project",
    write: (start) => json({ mcpServers: { knotless: { type: "stdio", ...plain(start) } } }),
  },
  "claude-desktop": {
    file: "claude_desktop_config.json, which Settings, Developer, Edit Config opens",
    write: (start) => json({ mcpServers: { knotless: plain(start) } }),
  },
  vscode: {
    file: ".vscode/mcp.json in a project",
    most: 128,
    write: (start) => json({ servers: { knotless: { type: "stdio", ...plain(start) } } }),
  },
  codex: { file: "~/.codex/config.toml", write: toml },
  cursor: {
    file: ".cursor/mcp.json in a project, or ~/.cursor/mcp.json",
    most: 40,
    write: (start) => json({ mcpServers: { knotless: plain(start) } }),
  },
  opencode: {
    file: "opencode.json in a project",
    write: ({ command, args, env }) =>
      json({
        $schema: "https://opencode.ai/config.json",
        mcp: {
          knotless: {
            type: "local",
            command: [command, ...args],
            enabled: true,
            ...(isFilled(env) && { environment: env }),
          },
        },
      }),
  },
  zed: {
    file: "Zed's settings.json, which zed: open settings opens",
    write: (start) => json({ context_servers: { knotless: plain(start) } }),
  },
};

/** The text that makes a client start the server, and where it goes. */
export function configFor(
  client: typeof clientNames[number],
  wish: ServerWish,
): { file: string; text: string } {
  const { file, most = Infinity, write } = clients[client];
  const isChosen = wish.toolsets !== undefined || wish.tools !== undefined;
  const fewer = wish.toolCount > most && !isChosen && { toolsets: ["core"] };
  const [command = "", ...args] = wish.program;
  const flags = flagsOf({ ...wish, ...fewer });
  const start = { command, args: [...args, "mcp", ...flags], env: settingsOf(wish.env) };
  return { file, text: write(start) };
}

function flagsOf(
  { readOnly, toolsets, tools, excludeTools, repo, lockdown, structured }: ServerWish,
): string[] {
  const list = (flag: string, values: readonly string[] | undefined) =>
    values === undefined ? [] : [flag, values.join(",")];
  return [
    ...(readOnly ? ["--read-only"] : []),
    ...list("--toolsets", toolsets),
    ...list("--tools", tools),
    ...list("--exclude-tools", excludeTools),
    ...(repo === undefined ? [] : ["--repo", repo]),
    ...(lockdown ? ["--lockdown"] : []),
    ...(structured ? ["--structured"] : []),
  ];
}

/** Settings that a client started from a desktop would not have, and the server needs to find what this shell does. */
const SETTINGS = [
  "KNOTLESS_ACCOUNT",
  "KNOTLESS_CONFIG_DIR",
  "KNOTLESS_CACHE_DIR",
  "KNOTLESS_STATE_DIR",
  "KNOTLESS_APPVIEW",
  "KNOTLESS_PDS",
  "KNOTLESS_PLC",
  "KNOTLESS_DNS",
  "KNOTLESS_HANDLE_HTTP",
] as const;

function settingsOf(env: ServerWish["env"]): Record<string, string> {
  return Object.fromEntries(SETTINGS.flatMap((name) => {
    const value = env[name];
    return value ? [[name, value]] : [];
  }));
}

function plain({ command, args, env }: Start) {
  return { command, args, ...(isFilled(env) && { env }) };
}

function isFilled(env: Start["env"]): boolean {
  return Object.keys(env).length > 0;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function toml({ command, args, env }: Start): string {
  // A JSON string is a TOML string.
  const lines = [
    "[mcp_servers.knotless]",
    `command = ${JSON.stringify(command)}`,
    `args = [${args.map((arg) => JSON.stringify(arg)).join(", ")}]`,
  ];
  if (isFilled(env)) {
    lines.push("", "[mcp_servers.knotless.env]");
    for (const [name, value] of Object.entries(env)) {
      lines.push(`${name} = ${JSON.stringify(value)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}
