import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { latin1, utf8 } from "../../core/git/bytes.ts";
import { readCommits } from "../../core/git/history.ts";
import { mergeCommits, type MergeResult, mergeTrees } from "../../core/git/merge.ts";
import type { ObjectReader } from "../../core/git/object.ts";
import { openStore } from "../../core/git/store.ts";
import { git, gitLines } from "../support/git.ts";
import { loadObjects, makeHistory } from "../support/history.ts";
import { seededRandom } from "../support/random.ts";
import { makeMergeHistory } from "../support/merge_history.ts";
import { type GitMerge, gitMerges } from "../support/merges.ts";

type Pair = readonly [string, string];

/** What a merge leaves in the index, as git lists it. */
function stagesOf({ conflicts }: MergeResult): string[] {
  const stages = conflicts.flatMap(({ path, base, ours, theirs }) =>
    [base, ours, theirs].flatMap((file, index) => {
      if (file === undefined) return [];
      const mode = file.mode.toString(8).padStart(6, "0");
      return [`${mode} ${file.oid} ${index + 1}\t${latin1(path)}`];
    })
  );
  return [...new Set(stages)].sort();
}

/** Counts how often our merges are as git's are. */
class Parity {
  merges = 0;
  clean = 0;
  state = 0;
  tree = 0;
  stages = 0;
  readonly wrong: string[] = [];

  count(name: string, ours: MergeResult, git: GitMerge): void {
    const isClean = ours.conflicts.length === 0;
    this.merges++;
    if (git.isClean) this.clean++;
    if (isClean === git.isClean) this.state++;
    else this.wrong.push(`${name}: git's is ${git.isClean ? "clean" : "in conflict"}`);
    const isTree = ours.tree === git.tree;
    if (isTree) this.tree++;
    if (stagesOf(ours).join() === git.stages.join()) this.stages++;
    // Where a file is to follow a directory to what is a file, git 2.39 loses one of the two.
    else if (!git.said.includes("(file location)")) this.wrong.push(`${name}: other conflicts`);
    if (!isTree && !git.said.includes("(file location)")) this.wrong.push(`${name}: another tree`);
  }

  print(name: string): void {
    const { merges, clean, state, tree, stages } = this;
    const text = `    ${name}: merge state ${state} of ${merges} (${clean} clean), ` +
      `tree ${tree} of ${merges}, conflicts ${stages} of ${merges}\n`;
    Deno.stderr.writeSync(utf8(text));
  }
}

function countPairs(
  parity: Parity,
  dir: string,
  objects: ObjectReader,
  pairs: readonly Pair[],
): void {
  const commits = readCommits(objects);
  const judged = gitMerges(dir, pairs);
  pairs.forEach(([ours, theirs], index) => {
    const git = judged[index];
    const merged = mergeCommits(objects, commits, ours, theirs, { labels: { ours, theirs } });
    if (git !== undefined) parity.count(`${ours} ${theirs}`, merged, git);
  });
}

/** Merges random pairs of commits of repositories that are made by the way. */
async function countMade(
  name: string,
  make: (dir: string, seed: number) => void,
  seeds: number,
  pairs: number,
): Promise<Parity> {
  const parity = new Parity();
  for (let seed = 1; seed <= seeds; seed++) {
    const dir = await Deno.makeTempDir();
    try {
      make(dir, seed);
      const random = seededRandom(seed);
      const all = gitLines(dir, "rev-list", "--all");
      const pick = () => all[Math.floor(random() * all.length)] ?? "";
      const picked = Array.from({ length: pairs }, (): Pair => [pick(), pick()])
        .filter(([one, other]) => one !== other);
      countPairs(parity, dir, loadObjects(dir), picked);
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  }
  parity.print(name);
  return parity;
}

describe("merges", () => {
  it("of a made history are git's, tree and conflicts", async () => {
    const { merges, tree, stages, wrong } = await countMade(
      "made history",
      (dir, seed) => makeHistory(dir, seed, 300),
      2,
      500,
    );
    assertEquals(wrong, []);
    assertEquals([tree, stages], [merges, merges]);
  });

  it("of histories made to collide are git's, but where git loses files", async () => {
    const { merges, state, tree, wrong } = await countMade(
      "made to collide",
      (dir, seed) => makeMergeHistory(dir, seed, 40),
      12,
      200,
    );
    assertEquals(wrong, []);
    assertEquals(state, merges);
    assert(tree > merges * 0.99);
  });

  it("that revert each of this project's own commits are git's", async () => {
    const dir = await Deno.makeTempDir();
    try {
      const own = new URL("../..", import.meta.url).pathname;
      git(dir, "clone", "-q", "--bare", own, ".");
      const list = ["rev-list", "--first-parent", "--max-count=200", "HEAD"];
      const [tip = "", ...reverted] = gitLines(dir, ...list);
      const pairs: [string, string][] = [];
      for (const commit of reverted.slice(0, -1)) {
        const args = ["commit-tree", "-p", commit, "-m", "revert", `${commit}^^{tree}`];
        const [revert = ""] = gitLines(dir, ...args);
        pairs.push([tip, revert]);
      }
      const judged = gitMerges(dir, pairs);
      const objects = loadObjects(dir);
      const commits = readCommits(objects);
      const parity = new Parity();
      reverted.slice(0, -1).forEach((commit, index) => {
        const [, theirs = ""] = pairs[index] ?? [];
        const git = judged[index];
        const trees = {
          base: commits.commit(commit).tree,
          ours: commits.commit(tip).tree,
          theirs: commits.commit(theirs).tree,
        };
        const merged = mergeTrees(objects, trees, { labels: { ours: tip, theirs } });
        if (git !== undefined) parity.count(commit, merged, git);
      });
      parity.print("own reverts");
      assertEquals(parity.wrong, []);
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  });

  // The figures of docs/design/merge.md: MERGE_REPOSITORY names a bare repository to redo the merges of.
  const repository = Deno.env.get("MERGE_REPOSITORY");
  if (repository !== undefined) {
    it("of a repository's own history are git's", () => {
      const every = Number(Deno.env.get("MERGE_EVERY") ?? 1);
      const args = ["rev-list", "--all", "--min-parents=2", "--max-parents=2", "--parents"];
      const pairs = gitLines(repository, ...args).map((line): Pair => {
        const [, one = "", other = ""] = line.split(" ");
        return [one, other];
      }).filter((_, index) => index % every === 0);
      const objects = openStore(repository);
      const parity = new Parity();
      for (let at = 0; at < pairs.length; at += 100) {
        countPairs(parity, repository, objects, pairs.slice(at, at + 100));
      }
      parity.print(repository);
      objects.close();
      assertEquals(parity.wrong, []);
    });
  }
});
