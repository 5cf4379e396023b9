/** Directories of sandboxes that keep nothing, in memory where the machine has that. */
import { tmpdir } from "node:os";
import { readProcess } from "./processes.ts";

const prefix = "knotless-sandbox-";

/** A sandbox that was killed could not clean up: its name tells that it is gone. */
async function sweep(home: string): Promise<void> {
  for await (const { name } of Deno.readDir(home)) {
    if (!name.startsWith(prefix)) continue;
    const pid = Number(name.slice(prefix.length).split("-")[0]);
    if (await readProcess(pid)) continue;
    await Deno.remove(`${home}/${name}`, { recursive: true }).catch(() => {});
  }
}

/** Makes a directory that lasts as long as its scope. */
export async function makeTemporary(): Promise<AsyncDisposable & { readonly path: string }> {
  const home = await Deno.stat("/dev/shm").then(() => "/dev/shm", tmpdir);
  if (Deno.build.os !== "windows") await sweep(home);
  const path = await Deno.makeTempDir({ dir: home, prefix: `${prefix}${Deno.pid}-` });
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
