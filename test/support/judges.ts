/** The programs of others that judge the MCP server: installed once, with Deno, by a lock of their own. */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withLock } from "../../core/lock.ts";
import { type Ended, run } from "./run.ts";

const SOURCE = fileURLToPath(new URL("../judges", import.meta.url));
const CACHE = fileURLToPath(new URL("../../.cache/judges", import.meta.url));
/** Installing takes seconds; this bounds a registry that does not answer. */
const PATIENCE_MS = 300_000;

const PROGRAMS = {
  conformance: "@modelcontextprotocol/conformance/dist/index.js",
  inspector: "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
} as const;

/** Runs a judge to its end, in a folder of its own. */
export async function judge(
  name: keyof typeof PROGRAMS,
  args: readonly string[],
): Promise<Ended> {
  const program = join(await install(), "node_modules", PROGRAMS[name]);
  const cwd = await Deno.makeTempDir({ prefix: "knotless-judge-" });
  try {
    return await run(Deno.execPath(), ["run", "--quiet", "--allow-all", program, ...args], {
      env: {
        PATH: Deno.env.get("PATH") ?? "",
        HOME: cwd,
        NO_COLOR: "1",
        DENO_NO_UPDATE_CHECK: "1",
        MCP_CATALOG_PATH: join(cwd, "catalog.json"),
      },
      cwd,
    });
  } finally {
    await rm(cwd, { recursive: true });
  }
}

/** Gives the folder the judges are in; parallel callers wait for the one that fills it. */
async function install(): Promise<string> {
  const files = await Promise.all(
    ["package.json", "deno.lock"].map(async (name) =>
      [name, await readFile(join(SOURCE, name), "utf8")] as const
    ),
  );
  const key = createHash("sha256").update(JSON.stringify(files)).digest("hex").slice(0, 16);
  const folder = join(CACHE, key);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  return await withLock(join(CACHE, "lock"), AbortSignal.timeout(PATIENCE_MS), async () => {
    if (existsSync(folder)) return folder;
    const fresh = `${folder}.new`;
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh);
    await writeFile(join(fresh, "deno.json"), '{ "nodeModulesDir": "auto" }\n');
    for (const [name, text] of files) await writeFile(join(fresh, name), text);
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["install", "--quiet", "--frozen"],
      cwd: fresh,
      env: { NO_COLOR: "1" },
      stdin: "null",
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).output();
    if (!success) {
      throw new Error(`the judges did not install:\n${new TextDecoder().decode(stderr)}`);
    }
    await rename(fresh, folder);
    return folder;
  });
}
