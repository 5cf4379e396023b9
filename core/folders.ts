import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Where knotless keeps things on this machine. */
export interface Folders {
  readonly configDir: string;
  readonly stateDir: string;
  readonly cacheDir: string;
}

/** The folders that the environment names, by knotless's own variables or XDG's; a relative XDG value does not count. */
export function findFolders(env: Env, platform: string): Folders {
  const home = env.HOME || homedir();
  const find = (own: string | undefined, xdg: string | undefined, usual: string) =>
    own ? own : join(xdg && isAbsolute(xdg) ? xdg : usual, "knotless");
  if (platform === "win32") {
    const roaming = env.APPDATA || join(home, "AppData", "Roaming");
    const local = env.LOCALAPPDATA || join(home, "AppData", "Local");
    return {
      configDir: find(env.KNOTLESS_CONFIG_DIR, undefined, roaming),
      stateDir: find(env.KNOTLESS_STATE_DIR, undefined, join(local, "state")),
      cacheDir: find(env.KNOTLESS_CACHE_DIR, undefined, join(local, "cache")),
    };
  }
  return {
    configDir: find(env.KNOTLESS_CONFIG_DIR, env.XDG_CONFIG_HOME, join(home, ".config")),
    stateDir: find(env.KNOTLESS_STATE_DIR, env.XDG_STATE_HOME, join(home, ".local", "state")),
    cacheDir: find(env.KNOTLESS_CACHE_DIR, env.XDG_CACHE_HOME, join(home, ".cache")),
  };
}
