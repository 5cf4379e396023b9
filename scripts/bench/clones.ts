import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { openGitHost } from "../../test/support/http_backend.ts";
import type { Measure } from "./bench.ts";
import { often, type Taken, timed } from "./timed.ts";

/** What a clone may take of what git's takes over loopback HTTP: with a copy of the repository here, and without. */
const COPY_HERE = 1.3;
const FIRST_TIME = 3;

/** Clones from `url` with and without a copy here, and the same repository at `path` by git over loopback HTTP. */
export async function compareClones(
  url: string,
  path: string,
  { env, dir, runs }: { env: Readonly<Record<string, string>>; dir: string; runs: number },
): Promise<Measure[]> {
  const hosted = join(dir, "hosted");
  await mkdir(hosted);
  await timed(["git", "clone", "-q", "--bare", path, join(hosted, "app.git")], { env });
  await using host = await openGitHost(hosted);
  const clone = async (from: string, more: Record<string, string> = {}): Promise<Taken> => {
    const target = join(dir, "clone");
    const taken = await timed(["git", "clone", "-q", "--bare", from, target], {
      env: { ...env, ...more },
    });
    await rm(target, { recursive: true });
    return taken;
  };
  const git = await often(runs, () => clone(`${host.url}/app.git`));
  const here = await often(runs, () => clone(url));
  const first = await often(runs, async () => {
    const cache = join(dir, "fresh");
    const taken = await clone(url, { KNOTLESS_CACHE_DIR: cache });
    await rm(cache, { recursive: true });
    return taken;
  });
  const ms = (name: string, value: number): Measure => ({ name, value, unit: "ms" });
  return [
    ms("git clone over HTTP", git.wall),
    ms("git clone over HTTP, CPU of the client", git.cpu),
    ms("clone with a copy here", here.wall),
    ms("clone with a copy here, CPU", here.cpu),
    {
      name: "clone with a copy here: to git's",
      value: here.wall / git.wall,
      unit: "×",
      limit: COPY_HERE,
    },
    ms("first clone", first.wall),
    ms("first clone, CPU", first.cpu),
    { name: "first clone: to git's", value: first.wall / git.wall, unit: "×", limit: FIRST_TIME },
  ];
}
