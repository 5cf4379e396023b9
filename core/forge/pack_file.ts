import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { WriteContext } from "../context.ts";
import type { Mirror } from "../mirror/mirror.ts";

/** Runs `work` with the path of a file to be, in the mirror's folder, that is gone afterwards. */
export async function withPackFile<T>(
  context: WriteContext,
  { path }: Mirror,
  work: (file: string) => Promise<T>,
): Promise<T> {
  const folder = join(path, `push-${context.tid()}`);
  await mkdir(folder, { recursive: true });
  try {
    return await work(join(folder, "pack"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
