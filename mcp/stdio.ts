import process from "node:process";
import { KnotlessError, quote } from "../core/errors.ts";
import { version } from "../core/version.ts";
import { claimStdout, serveTools } from "./connection.ts";

const HELP = `Serve knotless to an assistant: MCP over stdin and stdout

Usage: knotless-mcp [--read-only]

  --read-only  Offer only the tools that read
  --version    Print the version
  --help       Print this
`;

type Flag = "--help" | "--read-only" | "--version";

const FLAGS: readonly string[] = ["--help", "--read-only", "--version"] satisfies Flag[];

/** Runs knotless-mcp until its client goes, and gives the exit status; every reply is out by then. */
export async function serve(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const unknown = argv.find((word) => !FLAGS.includes(word));
  if (unknown !== undefined) {
    const text = `error: no such flag: ${quote(unknown)}\nhint: run knotless-mcp --help\n`;
    await writeOut(process.stderr, text);
    return 2;
  }
  const has = (flag: Flag) => argv.includes(flag);
  if (has("--help") || has("--version")) {
    await writeOut(process.stdout, has("--help") ? HELP : `knotless-mcp ${version}\n`);
    return 0;
  }
  // Before the rest is loaded, for whatever that may print.
  const write = claimStdout();
  const [{ facts }, { loadCommand }, { openWorld }] = await Promise.all([
    import("../core/facts.gen.ts"),
    import("../core/table.ts"),
    import("../core/open.ts"),
  ]);
  try {
    return await serveTools(write, {
      version,
      facts,
      load: loadCommand,
      open: openWorld(
        { as: env.KNOTLESS_ACCOUNT || undefined, offline: isOn(env.KNOTLESS_OFFLINE) },
        env,
      ),
      readOnly: has("--read-only"),
      report: (error) => {
        if (!isOn(env.KNOTLESS_DEBUG)) return;
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      },
    });
  } catch (error) {
    if (!(error instanceof KnotlessError)) throw error;
    await writeOut(process.stderr, `error: ${error.message}\n`);
    return error.exit;
  }
}

/** True for a variable that is set to anything but nothing, 0 and false. */
function isOn(value = ""): boolean {
  return !["", "0", "false"].includes(value);
}

function writeOut(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => stream.write(text, () => resolve()));
}
