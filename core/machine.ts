import process from "node:process";
import { childEnv } from "./child.ts";
import type { Machine } from "./context.ts";
import type { Env, Folders } from "./folders.ts";

/** What a surface lends a command that acts on this machine; one without a person lends nothing. */
export type MachineSurface = Partial<
  Pick<Machine, "interactive" | "noInput" | "readLine" | "readSecret" | "say">
>;

/** This machine, as a machine command may touch it. */
export function openMachine(
  { interactive = false, noInput = false, readLine, readSecret, say }: MachineSurface,
  env: Env,
  folders: Folders,
): Machine {
  return {
    ...folders,
    env,
    program: findProgram(),
    interactive,
    noInput,
    readLine: readLine ?? (() => Promise.resolve(undefined)),
    readSecret: readSecret ?? (() => Promise.resolve(undefined)),
    say: say ?? (() => {}),
    browse: (url) => browse(url, env),
  };
}

/** How this program is started again: the binary alone, or the runtime with the module that it runs. */
function findProgram(): readonly string[] {
  const [runtime = process.execPath, module = ""] = process.argv;
  const isCompiled = module === "" || module.startsWith("/$bunfs/") ||
    /^[A-Z]:[\\/]~BUN/.test(module);
  if (isCompiled) return [process.execPath];
  return process.versions["deno"] ? [runtime, "run", "-A", module] : [runtime, module];
}

/** Opens a URL in the browser that the environment or the desktop names; false when there is none. */
async function browse(url: string, env: Env): Promise<boolean> {
  const chosen = env.KNOTLESS_BROWSER || env.BROWSER;
  if (chosen === "false") return false;
  const hasDesktop = process.platform === "darwin" || process.platform === "win32" ||
    Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
  if (!chosen && (!hasDesktop || env.SSH_CONNECTION)) return false;
  const opener = chosen ? [chosen] : OPENERS[process.platform] ?? ["xdg-open"];
  const [program = "", ...args] = opener;
  const { spawn } = await import("node:child_process");
  return await new Promise((resolve) => {
    const child = spawn(program, [...args, url], {
      env: childEnv(env),
      stdio: "ignore",
      detached: true,
    });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

const OPENERS: Readonly<Partial<Record<string, readonly string[]>>> = {
  darwin: ["open"],
  // Not `start`, which is a shell's: a shell would read the & of the URL.
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};
