/** Has the PDS ready to import: its packages installed and bundled once for each set of inputs. */
import { fileURLToPath } from "node:url";

const inputs = ["package.json", "bundle.ts", "sqlite.ts"];
const cache = fileURLToPath(new URL("../../.cache/sandbox/", import.meta.url));

/** Installing takes seconds; this bounds a registry that does not answer. */
const patience = 300_000;

function read(input: string): Promise<string> {
  return Deno.readTextFile(new URL(input, import.meta.url));
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function fingerprint(): Promise<string> {
  const texts = await Promise.all(inputs.map(read));
  const bytes = new TextEncoder().encode(texts.join("\0"));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return digest.toHex().slice(0, 16);
}

/** Installs with Deno, which runs no lifecycle scripts unless told to. */
async function install(directory: string, signal: AbortSignal): Promise<void> {
  await Deno.writeTextFile(`${directory}/package.json`, await read("package.json"));
  await Deno.writeTextFile(`${directory}/deno.json`, '{ "nodeModulesDir": "auto" }\n');
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["install", "--quiet"],
    cwd: directory,
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
    signal,
  }).output();
  if (code === 0) return;
  signal.throwIfAborted();
  throw new Error(`the sandbox's packages did not install:\n${new TextDecoder().decode(stderr)}`);
}

/**
 * Gives the path of the PDS bundle. Parallel callers wait for the one that makes it; the lock ends
 * with the process that holds it. `report` is told when there is something to wait for.
 */
export async function prepareBundle(
  signal: AbortSignal,
  report: (text: string) => void,
): Promise<string> {
  const directory = `${cache}${await fingerprint()}`;
  const path = `${directory}/pds.mjs`;
  if (await exists(path)) return path;
  await Deno.mkdir(directory, { recursive: true });
  using lock = await Deno.open(`${directory}/lock`, { create: true, write: true });
  await lock.lock(true);
  if (await exists(path)) return path;

  report("sandbox: installing the PDS, once");
  const packages = `${directory}/packages`;
  await Deno.mkdir(packages, { recursive: true });
  await install(packages, AbortSignal.any([signal, AbortSignal.timeout(patience)]));
  const { bundle } = await import("./bundle.ts");
  await bundle(packages, directory, "pds.mjs");
  await Deno.remove(packages, { recursive: true });
  return path;
}
