import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { link, open, rename, rm } from "node:fs/promises";
import { promisify } from "node:util";
import { childEnv } from "../child.ts";
import { RefusedError } from "../errors.ts";
import type { Env } from "../folders.ts";
import type { ReleaseFile } from "./release.ts";
import type { Source } from "./source.ts";

const MOST_BYTES = 500_000_000;
const START_MS = 30_000;

/**
 * Puts the program of a release in the place of another. It is checked and started before it has the place, and again
 * after; the old one is kept beside until then, and comes back when the new one does not start.
 */
export async function replaceProgram(
  program: string,
  source: Source,
  wanted: ReleaseFile,
  { env, progress }: { readonly env: Env; progress(text: string, done: number): void },
): Promise<void> {
  const fresh = `${program}.new`;
  const old = `${program}.old`;
  try {
    await fetchFile(source, wanted, fresh, progress);
    await checkStart(fresh, wanted.version, env);
    await keep(program, old);
    try {
      await rename(fresh, program);
      await checkStart(program, wanted.version, env);
    } catch (error) {
      await rename(old, program);
      throw error;
    }
    // A system may hold on to a program that runs; the next upgrade takes its place.
    await rm(old, { force: true }).catch(() => {});
  } finally {
    await rm(fresh, { force: true });
  }
}

async function fetchFile(
  source: Source,
  { file, sha256 }: ReleaseFile,
  path: string,
  progress: (text: string, done: number) => void,
): Promise<void> {
  const hash = createHash("sha256");
  let length = 0;
  await rm(path, { force: true });
  const out = await open(path, "wx", 0o755);
  try {
    for await (const chunk of await source.open(file)) {
      length += chunk.length;
      if (length > MOST_BYTES) throw new RefusedError(`${file} is over ${MOST_BYTES} bytes`);
      hash.update(chunk);
      await out.writeFile(chunk);
      progress(`bytes of ${file}`, length);
    }
    await out.sync();
  } finally {
    await out.close();
  }
  if (hash.digest("hex") === sha256) return;
  throw new RefusedError(`${file} is not what the release's checksums say`, {
    code: "refused.checksum",
  });
}

/** A second name for what is there, so that its own is never missing; where that cannot be, the second is the only one. */
async function keep(program: string, old: string): Promise<void> {
  await rm(old, { force: true });
  try {
    await link(program, old);
  } catch {
    await rename(program, old);
  }
}

async function checkStart(path: string, version: string, env: Env): Promise<void> {
  let said: string;
  try {
    const options = { env: childEnv(env), timeout: START_MS };
    said = (await promisify(execFile)(path, ["--version"], options)).stdout;
  } catch (cause) {
    throw new RefusedError("the new program does not start here: the old one stays", { cause });
  }
  if (said.trim() === `knotless ${version}`) return;
  throw new RefusedError(`the new program does not say that it is ${version}: the old one stays`);
}
