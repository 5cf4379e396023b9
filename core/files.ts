import { access, open, readFile, rename, rm } from "node:fs/promises";

/** The file's text, or undefined when there is no such file. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
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
