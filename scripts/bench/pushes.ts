import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openHome } from "../../test/support/home.ts";
import { openProxiedNetwork } from "../../test/support/proxy.ts";
import type { Bench, Measure } from "./bench.ts";
import { compareClones } from "./clones.ts";
import { median, timed } from "./timed.ts";

const PARTS = 10;
/** What the last third of the pushes may take of what the second took. */
const FLAT = 1.5;

/** Small commits pushed one by one, and the clone afterwards: neither time nor bytes of a push may grow. */
export const pushes: Bench = async (_binary, { pushes: count }) => {
  await using network = await openProxiedNetwork();
  await using home = await openHome(network);
  const { proxy } = network;
  await home.cli(["repo", "create", "app"]);
  const url = `knotless://${home.account.handle}/app`;
  const work = join(home.dir, "work");
  const env = {
    ...home.env,
    GIT_AUTHOR_NAME: "Ann",
    GIT_AUTHOR_EMAIL: "ann@author.test",
    GIT_COMMITTER_NAME: "Ann",
    GIT_COMMITTER_EMAIL: "ann@author.test",
  };
  const git = (...args: string[]) => timed(["git", ...args], { env, cwd: work });
  await mkdir(work);
  await git("init", "-q", "-b", "main");
  const walls: number[] = [];
  const sent: number[] = [];
  const received: number[] = [];
  for (let number = 0; number < count; number++) {
    const path = join(work, `folder${number % 30}`, `file${number % 900}.txt`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `commit ${number}\n`.repeat(10));
    await git("add", ".");
    await git("commit", "-q", "-m", `commit ${number}`);
    proxy.forget();
    walls.push((await git("push", "-q", url, "main")).wall);
    sent.push(proxy.seen.reduce((sum, { body }) => sum + body.length, 0));
    received.push(proxy.seen.reduce((sum, { answered }) => sum + answered, 0));
  }
  const parts = Array.from({ length: PARTS }, (_, part) => {
    const from = Math.floor(part * count / PARTS);
    const to = Math.floor((part + 1) * count / PARTS);
    const of = (numbers: readonly number[]) => numbers.slice(from, to);
    return {
      from,
      to,
      wall: median(of(walls)),
      sent: mean(of(sent)),
      received: mean(of(received)),
    };
  });
  const curve = parts.flatMap(({ from, to, wall, sent, received }): Measure[] => [
    { name: `pushes ${from + 1} to ${to}: median`, value: wall, unit: "ms" },
    { name: `pushes ${from + 1} to ${to}: sent, mean`, value: sent, unit: "B" },
    { name: `pushes ${from + 1} to ${to}: received, mean`, value: received, unit: "B" },
  ]);
  const ratio = (of: readonly number[]) =>
    mean(of.slice(-Math.floor(count / 3))) / mean(of.slice(Math.floor(count / 3), -count / 3));
  return [
    ...curve,
    { name: "last third to the one before, time", value: ratio(walls), unit: "×", limit: FLAT },
    {
      name: "last third to the one before, bytes sent",
      value: ratio(sent),
      unit: "×",
      limit: FLAT,
    },
    ...await compareClones(url, work, { env, dir: home.dir, runs: 5 }),
  ];
};

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
