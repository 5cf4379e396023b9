import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { git } from "../../test/support/git.ts";
import { openHome } from "../../test/support/home.ts";
import { openGitHost } from "../../test/support/http_backend.ts";
import { openNetwork } from "../../test/support/network.ts";
import { bundleModule, compile } from "../build.ts";
import type { Bench, Measure } from "./bench.ts";
import { compareClones } from "./clones.ts";
import { openSample, type Sample } from "./sample.ts";
import { peakOf, timed } from "./timed.ts";

/** A whole repository pushed, cloned, indexed and compacted, against git. */
export const sync: Bench = async (binary, options) => {
  const sample = await openSample(options);
  await using network = await openNetwork({ own: true });
  await using home = await openHome(network);
  const { env, dir } = home;
  await home.cli(["repo", "create", "app"]);
  const repo = `${home.account.handle}/app`;
  const url = `knotless://${repo}`;
  const ms = (name: string, value: number): Measure => ({ name, value, unit: "ms" });
  const mb = (name: string, value: number): Measure => ({ name, value, unit: "MB" });

  let pushed = { wall: NaN, cpu: NaN };
  const refs = `${sample.branch}:refs/heads/main`;
  const peak = await peakOf(binary, async () => {
    pushed = await timed(["git", "-C", sample.path, "push", "-q", url, refs], { env });
  });
  const gitPushed = await pushByGit(sample, dir, env);
  const indexed = await compareIndex(sample, binary, dir);
  const clones = await compareClones(url, join(dir, "pushed", "app.git"), { env, dir, runs: 3 });
  const clonePeak = await peakOf(binary, async () => {
    const fresh = { ...env, KNOTLESS_CACHE_DIR: join(dir, "peak") };
    await timed(["git", "clone", "-q", "--bare", url, join(dir, "peak-clone")], { env: fresh });
  });
  await pushMore(sample, url, { env, dir });
  const compacted = await timed([binary, "repo", "compact", repo], { env });
  return [
    { name: "commits", value: sample.commits, unit: "" },
    { name: "files", value: sample.files, unit: "" },
    ms("push", pushed.wall),
    ms("push, CPU", pushed.cpu),
    mb("push, peak memory", peak),
    ms("git push over HTTP", gitPushed.wall),
    { name: "push: to git's", value: pushed.wall / gitPushed.wall, unit: "×" },
    ...indexed,
    ...clones,
    mb("first clone, peak memory", clonePeak),
    ms("compact", compacted.wall),
    ms("compact, CPU", compacted.cpu),
  ];
};

async function pushByGit(sample: Sample, dir: string, env: Record<string, string>) {
  const root = join(dir, "pushed");
  const path = join(root, "app.git");
  await mkdir(root);
  git(root, "init", "-q", "--bare", "-b", "main", path);
  git(path, "config", "http.receivepack", "true");
  await using host = await openGitHost(root);
  const to = [`${host.url}/app.git`, `${sample.branch}:refs/heads/main`];
  return await timed(["git", "-C", sample.path, "push", "-q", ...to], { env });
}

/** The pack of all that was pushed, indexed with the objects' links followed, here and by git. */
async function compareIndex(sample: Sample, binary: string, dir: string): Promise<Measure[]> {
  const folder = join(dir, "indexed");
  await mkdir(folder);
  const revs = ["pack-objects", "--revs", "-q", join(folder, "pack")];
  await timed(
    ["bash", "-c", 'echo "$1" | git -C "$2" "\${@:3}"', "bash", sample.tip, sample.path, ...revs],
  );
  const pack = (await readdir(folder)).find((name) => name.endsWith(".pack")) ?? "";
  const program = await compileIndexer(join(dirname(binary), "bench"));
  const out = join(dir, "out");
  await mkdir(out);
  let ours = { wall: NaN, cpu: NaN };
  const peak = await peakOf(program, async () => {
    ours = await timed([program, join(folder, pack), out]);
  });
  const bare = join(dir, "strict.git");
  git(dir, "init", "-q", "--bare", bare);
  const flags = ["--stdin", "--threads=1", "--check-self-contained-and-connected"];
  const theirs = await timed(
    [
      "bash",
      "-c",
      'git -C "$1" index-pack "\${@:3}" < "$2"',
      "bash",
      bare,
      join(folder, pack),
      ...flags,
    ],
  );
  await rm(folder, { recursive: true });
  return [
    { name: "index a pack, CPU", value: ours.cpu, unit: "ms" },
    { name: "index a pack, peak memory", value: peak, unit: "MB" },
    { name: "git index-pack, CPU", value: theirs.cpu, unit: "ms" },
    { name: "index a pack: CPU to git's", value: ours.cpu / theirs.cpu, unit: "×" },
  ];
}

async function compileIndexer(folder: string): Promise<string> {
  const source = fileURLToPath(new URL("index_pack.ts", import.meta.url));
  await bundleModule(source, join(folder, "indexer"));
  await compile(join(folder, "indexer", "index_pack.js"), join(folder, "index_pack"));
  return join(folder, "index_pack");
}

/** Some pushes, so that there is something to compact. */
async function pushMore(
  { path, tip }: Sample,
  url: string,
  { env, dir }: { env: Record<string, string>; dir: string },
): Promise<void> {
  const more = join(dir, "more.git");
  git(dir, "clone", "-q", "--bare", path, more);
  let before = tip;
  for (let number = 0; number < 5; number++) {
    before = git(more, "commit-tree", "-p", before, "-m", `more ${number}`, `${tip}^{tree}`);
    await timed(["git", "-C", more, "push", "-q", url, `${before}:refs/heads/main`], { env });
  }
}
