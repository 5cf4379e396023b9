import process from "node:process";
import { endWith } from "./cli/end.ts";
import { version } from "./core/version.ts";

/** Which program this is: the name it was started by, or its first word where there are no links. */
async function run(name: string, argv: readonly string[]): Promise<number> {
  const [first] = argv;
  if (name === "knotless-mcp") {
    const status = await (await import("./mcp/main.ts")).serve(argv, process.env);
    // Every reply is out by now; what a call left running must not keep the process.
    process.exit(status);
  }
  if (name === "git-remote-knotless") {
    return await (await import("./remote/main.ts")).main(argv, process.env);
  }
  if (first === "--version" || first === "-V") {
    // To open process.stdout costs more than all else here.
    // deno-lint-ignore no-console
    console.log(`knotless ${version}`);
    return 0;
  }
  // Its commands have a second word; the server has flags.
  if (first === "mcp" && !/^[^-]/.test(argv[1] ?? "")) {
    return await run("knotless-mcp", argv.slice(1));
  }
  if (first === "remote-helper") return await run("git-remote-knotless", argv.slice(1));
  return await (await import("./cli/start.ts")).start(argv);
}

// Not by node:path, which takes a tenth of a start to load.
const name = process.argv0.replace(/^.*[\\/]|\.exe$/gi, "");
// A command that waits for what never comes ends when nothing else is left to do, and that is no success.
process.exitCode = 70;
run(name, process.argv.slice(2)).then(endWith);
