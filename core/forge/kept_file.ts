import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WriteContext } from "../context.ts";
import { RemoteError } from "../errors.ts";
import { isMissing, readText } from "../files.ts";
import { tryLock } from "../lock.ts";
import type { Mirror } from "../mirror/mirror.ts";

/** Says what a folder is for. */
const NOTE = "for";
const LOCK = "lock";

/**
 * Runs `work` with the path of a file in the mirror's folder. When the network or a kill cuts it off, the file stays for
 * the next run of the same, as `key` tells it; what no run comes for is swept after a day.
 */
export async function withKeptFile<T>(
  { tid }: WriteContext,
  { path }: Mirror,
  key: string,
  work: (file: string) => Promise<T>,
): Promise<T> {
  const folder = join(path, `push-${tid()}`);
  const release = await claim(path, key, folder) ?? await make(folder, key);
  let isKept = false;
  try {
    return await work(join(folder, "pack"));
  } catch (error) {
    isKept = error instanceof RemoteError;
    throw error;
  } finally {
    if (!isKept) await rm(folder, { recursive: true, force: true });
    release?.();
  }
}

async function make(folder: string, key: string): Promise<(() => void) | undefined> {
  await mkdir(folder, { recursive: true });
  const release = await tryLock(join(folder, LOCK));
  await writeFile(join(folder, NOTE), key);
  return release;
}

/** Takes over the folder of a run of the same that is over. */
async function claim(
  path: string,
  key: string,
  folder: string,
): Promise<(() => void) | undefined> {
  for (const name of await readdir(path).catch(() => [])) {
    if (!name.startsWith("push-")) continue;
    const left = join(path, name);
    if (readText(join(left, NOTE)) !== key) continue;
    const release = await tryLock(join(left, LOCK));
    if (release === undefined) continue;
    try {
      await rename(left, folder);
      return release;
    } catch (error) {
      release();
      // Another that was quicker has renamed it.
      if (!isMissing(error)) throw error;
    }
  }
  return undefined;
}
