import { readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { access, open, rename, rm } from "node:fs/promises";

/**
 * The file's text, or undefined when there is no such file. It is there at once: for files as small as ours, to hand the
 * reading to a thread and wait for it takes several times as long.
 */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** What there is at the path; undefined when there is nothing, or it may not be looked at. */
export function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The names in a folder; none when there is no such folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** True when there is a file or folder. */
export async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** True for the error of a file or folder that is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/**
 * Puts `bytes` at `path` so that a reader sees all of the old file or all of the new one, and a power cut leaves one of
 * them. `unique` tells two writers' temporary files apart.
 */
export async function writeAtomic(
  path: string,
  bytes: Uint8Array | string,
  { mode = 0o644, unique }: { mode?: number; unique: string },
): Promise<void> {
  const temporary = `${path}.${unique}.tmp`;
  try {
    const file = await open(temporary, "w", mode);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
