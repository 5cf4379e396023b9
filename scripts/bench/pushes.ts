// deno-lint-ignore-file no-console
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openHome } from "../../test/support/home.ts";
import { openProxiedNetwork, type Seen } from "../../test/support/proxy.ts";
import type { Bench, Measure } from "./bench.ts";
import { compareClones } from "./clones.ts";
import { leftAt } from "./left.ts";
import { showValue } from "./report.ts";
import { median, timed } from "./timed.ts";

const PARTS = 10;
/** What the last third of the pushes may take of what the second took. */
const FLAT = 1.5;
/** With more packs the newest are folded. */
const MOST_LISTED = 24;
/** What a PDS counts for a write, of the 5,000 points it gives an hour. */
const POINTS: Readonly<Record<string, number>> = { create: 3, update: 2, delete: 1 };

interface Push {
  readonly wall: number;
  readonly cpu: number;
  readonly sent: number;
  readonly received: number;
  readonly requests: number;
  readonly points: number;
}

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
  // What git tidies up after a commit is not to run beside the push.
  await git("config", "gc.autoDetach", "false");
  const measures: Measure[] = [];
  const all: Push[] = [];
  let left = await leftAt(network.pds, home.account.did);
  for (let part = 0; part < PARTS; part++) {
    const from = Math.floor(part * count / PARTS);
    const to = Math.floor((part + 1) * count / PARTS);
    for (let number = from; number < to; number++) {
      const path = join(work, `folder${number % 30}`, `file${number % 900}.txt`);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, `commit ${number}\n`.repeat(10));
      await git("add", ".");
      await git("commit", "-q", "-m", `commit ${number}`);
      proxy.forget();
      const { wall, cpu } = await git("push", "-q", url, "main");
      all.push({ wall, cpu, ...sumUp(proxy.seen) });
    }
    const these = all.slice(from);
    const name = `pushes ${from + 1} to ${to}`;
    const of = (key: keyof Push) => these.map((push) => push[key]);
    left = await leftAt(network.pds, home.account.did);
    const lines: Measure[] = [
      { name: `${name}: median`, value: median(of("wall")), unit: "ms" },
      { name: `${name}: CPU, mean`, value: mean(of("cpu")), unit: "ms" },
      { name: `${name}: sent, mean`, value: mean(of("sent")), unit: "B" },
      { name: `${name}: received, mean`, value: mean(of("received")), unit: "B" },
    ];
    measures.push(...lines);
    const said = lines.map(({ name, value }) => `${name.replace(/.*: /, "")} ${showValue(value)}`);
    console.log(`  ${to}: ${said.join("; ")}; ${left.packs} + ${left.tail} packs`);
  }
  const ratio = (key: keyof Push) => {
    const of = all.map((push) => push[key]);
    return mean(of.slice(-Math.floor(count / 3))) /
      mean(of.slice(Math.floor(count / 3), -count / 3));
  };
  const average = (key: keyof Push) => mean(all.map((push) => push[key]));
  const flat = (what: string, key: keyof Push): Measure => ({
    name: `last third to the one before, ${what}`,
    value: ratio(key),
    unit: "×",
    limit: FLAT,
  });
  const clones = await compareClones(url, work, { env, dir: home.dir, runs: 5 });
  proxy.forget();
  await home.cli(["repo", "compact", `${home.account.handle}/app`]);
  const compacted = sumUp(proxy.seen);
  return [
    ...measures,
    { name: "requests a push, mean", value: average("requests"), unit: "" },
    { name: "points a push, mean", value: average("points"), unit: "" },
    { name: "packs listed at the end", value: left.packs, unit: "", limit: MOST_LISTED },
    { name: "packs in the tail at the end", value: left.tail, unit: "" },
    { name: "manifest at the end", value: left.manifest, unit: "B" },
    { name: "pack records at the end", value: left.records, unit: "" },
    { name: "blobs at the end", value: left.blobs, unit: "" },
    flat("time", "wall"),
    flat("CPU", "cpu"),
    flat("bytes sent", "sent"),
    flat("bytes received", "received"),
    ...clones,
    { name: "compact: sent", value: compacted.sent, unit: "B" },
    { name: "compact: received", value: compacted.received, unit: "B" },
    { name: "compact: requests", value: compacted.requests, unit: "" },
  ];
};

function sumUp(seen: readonly Seen[]): Omit<Push, "wall" | "cpu"> {
  const sum = (of: (one: Seen) => number) => seen.reduce((total, one) => total + of(one), 0);
  return {
    sent: sum(({ body }) => body.length),
    received: sum(({ answered }) => answered),
    requests: seen.length,
    points: sum(pointsOf),
  };
}

function pointsOf({ nsid, body }: Seen): number {
  const action = /^com\.atproto\.repo\.(create|put|delete)Record$/.exec(nsid)?.[1];
  if (action !== undefined) return POINTS[action === "put" ? "update" : action] ?? 0;
  if (nsid !== "com.atproto.repo.applyWrites") return 0;
  const { writes } = JSON.parse(body.toString());
  return writes.reduce(
    (sum: number, { $type }: { $type: string }) => sum + (POINTS[$type.replace(/.*#/, "")] ?? 0),
    0,
  );
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
