import { quote } from "./errors.ts";
import { type Env, findFolders } from "./folders.ts";

/** What this machine's disk refused, and what would do. */
export interface DiskTrouble {
  readonly message: string;
  readonly hint: string;
}

const CODES = new Set(["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM"]);
/** Where a folder cannot be: below one that cannot be written, or where a file is. */
const NO_FOLDER = new Set(["ENOENT", "ENOTDIR", "EEXIST", "ENAMETOOLONG", "ELOOP"]);
const FULL = /ENOSPC|EDQUOT|no space left|disk is full/i;
const DATABASE = /database or disk is full|unable to open database file|readonly database/i;

/** Explains an error of a folder of ours that is full or may not be written; undefined for any other. */
export function explainDisk(error: unknown, env: Env, platform: string): DiskTrouble | undefined {
  const { configDir, stateDir, cacheDir } = findFolders(env, platform);
  const folders = [
    [configDir, "KNOTLESS_CONFIG_DIR"],
    [stateDir, "KNOTLESS_STATE_DIR"],
    [cacheDir, "KNOTLESS_CACHE_DIR"],
  ] as const;
  for (let depth = 0; depth < 4 && error instanceof Error; depth++, error = error.cause) {
    const code = "code" in error ? String(error.code) : "";
    const path = "path" in error ? String(error.path) : undefined;
    const isFull = FULL.test(`${code} ${error.message}`);
    const isDatabase = DATABASE.test(error.message);
    const isFolder = "syscall" in error && error.syscall === "mkdir";
    if (!CODES.has(code) && !isDatabase && !(isFolder && NO_FOLDER.has(code))) continue;
    const own = folders.find(([dir]) =>
      path?.startsWith(dir) || (isFolder && dir.startsWith(`${path}/`))
    );
    // A write that finds no room names no file, and a database none either: what grows are the copies.
    const [dir, variable] = own ??
      (isDatabase || (isFull && path === undefined) ? [cacheDir, "KNOTLESS_CACHE_DIR"] : []);
    if (dir === undefined) continue;
    return {
      message: `cannot use ${quote(dir)}: ${quote(error.message)}`,
      hint: `${
        isFull ? "make room there" : "make it writable"
      }, or name another folder in ${variable}`,
    };
  }
  return undefined;
}
