import { assert, assertEquals, assertRejects } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { mkdirSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  findMerge,
  makeMerge,
  type MergeAnswer,
  type MergeAsked,
  type MergePlace,
} from "../../core/forge/merge.ts";
import { CorruptError } from "../../core/errors.ts";
import { mergeBases } from "../../core/git/ancestry.ts";
import { latin1 } from "../../core/git/bytes.ts";
import { readCommits } from "../../core/git/history.ts";
import { mergeCommits, type MergeOutcome, mergeTrees } from "../../core/git/merge.ts";
import { CONFLICT_KINDS } from "../../core/git/merge_entry.ts";
import type { ObjectReader } from "../../core/git/object.ts";
import { isGitlink } from "../../core/git/tree.ts";
import { MERGES } from "../../core/mirror/answer_forms.ts";
import { Answers } from "../../core/mirror/answers.ts";
import { gitBytes, gitLines, initRepo, type TempDir, tempDir } from "../support/git.ts";
import { makeHistory } from "../support/history.ts";
import { makeMergeHistory } from "../support/merge_history.ts";
import { localPath, openLocal } from "../support/reading.ts";
import { seededRandom } from "../support/random.ts";

const context = { now: () => new Date() };

const answersIn = (cacheDir: string) => join(localPath(cacheDir), "answers");
const filesIn = async (cacheDir: string) => await readdir(answersIn(cacheDir)).catch(() => []);

/** Answers that are in files alone, as the next process would open them. */
const onDisk = (cacheDir: string) =>
  new Answers(localPath(cacheDir), "1", MERGES, { memory: 0, disk: 1 << 28, files: 1 << 16 });

/** What the merge engine says, asked past what is kept. */
function ask(objects: ObjectReader, asked: MergeAsked): MergeAnswer {
  const { tree, conflicts, keptBoth } = "commits" in asked
    ? mergeCommits(objects, readCommits(objects), asked.commits.ours, asked.commits.theirs, asked)
    : mergeTrees(objects, asked.trees, asked);
  return { state: conflicts.length === 0 ? "clean" : "conflicts", tree, conflicts, keptBoth };
}

/** The place with nothing of its repository to read: what it answers was kept. */
function emptied(place: MergePlace): MergePlace {
  const none = () => {
    throw new Error("a kept answer reads no object");
  };
  const objects = { has: none, read: none, info: none, find: none };
  return { ...place, objects };
}

/** What is told apart of merges that were tried. */
class Seen {
  readonly kinds = new Set<string>();
  keptBoth = 0;
  clean = 0;
  crossed = 0;
  submodules = 0;
  odd = 0;

  count({ state, conflicts, keptBoth }: { readonly state: string } & MergeOutcome): void {
    if (state === "clean") this.clean++;
    this.keptBoth += keptBoth.length;
    for (const { kind, path, base, ours, theirs } of conflicts) {
      this.kinds.add(kind);
      if (/[\x80-\xff]/.test(latin1(path))) this.odd++;
      if ([base, ours, theirs].some((file) => file && isGitlink(file.mode))) this.submodules++;
    }
  }
}

interface Made {
  readonly files: Readonly<Record<string, string>>;
  readonly parent: number | undefined;
}

/** Makes these commits in the repository that `openLocal` opens. */
function openMade(cacheDir: string, commits: readonly Made[]) {
  const dir = localPath(cacheDir);
  mkdirSync(dir, { recursive: true });
  initRepo(dir, { bare: true });
  const data = (text: string) => `data ${text.length}\n${text}\n`;
  const stream = commits.map(({ files, parent }, at) => {
    const from = parent === undefined ? "" : `from :${parent + 1}\n`;
    const entries = Object.entries(files).map(([path, text]) =>
      `M 100644 inline ${path}\n${data(text)}`
    );
    const head = `commit refs/heads/c${at}\nmark :${at + 1}\ncommitter A <a@a> ${1e9 + at} +0000\n`;
    return `${head}${data("m")}${from}${entries.join("")}\n`;
  });
  gitBytes(dir, stream.join(""), "fast-import", "--quiet");
  return openLocal(cacheDir);
}

/** The commits of `openMade` in their order. */
function oidsIn(cacheDir: string): string[] {
  const args = ["for-each-ref", "--sort=committerdate", "--format=%(objectname)"];
  return gitLines(localPath(cacheDir), ...args);
}

const labels = { ours: "main", theirs: "side" };

describe("answers of merges", () => {
  let temp: TempDir;
  const opened: Disposable[] = [];

  /** A repository whose merges cost as much as a file is worth: of large texts, or far from their base. */
  function makeLarge(name: string) {
    const cacheDir = join(temp.path, name);
    const lines = Array.from({ length: 5000 }, (_, at) => `line ${at}\n`).join("");
    const text = (first: string, end: string, middle = "") =>
      `${first}\n${lines}${middle}${lines}${end}`;
    const made: Made[] = [
      { files: { large: text("a", ""), far: "" }, parent: undefined },
      { files: { large: text("one", "mine\n") }, parent: 0 },
      { files: { large: text("two", "yours\n") }, parent: 0 },
      { files: { far: "0\n" }, parent: 0 },
      { files: { large: text("a", "", "middle\n") }, parent: 0 },
    ];
    for (let count = 1; count < 220; count++) {
      made.push({ files: { far: `${count}\n` }, parent: count === 1 ? 3 : made.length - 1 });
    }
    const place = openMade(cacheDir, made);
    opened.push(place);
    const [root = "", one = "", two = "", , other = "", ...others] = oidsIn(cacheDir);
    const far = others.at(-1) ?? "";
    return { cacheDir, place, commits: [root, one, two, far, other] as const };
  }

  const treesOf = ({ objects }: MergePlace, commits: readonly string[]) =>
    commits.map((oid) => readCommits(objects).commit(oid).tree);

  beforeAll(() => {
    temp = tempDir();
  });
  afterAll(() => {
    for (const place of opened) place[Symbol.dispose]();
    temp[Symbol.dispose]();
  });

  it("are what a merge made anew comes to, of every kind of merge", async () => {
    const seen = new Seen();
    const makers = [
      (dir: string) => makeHistory(dir, 5, 120),
      ...[1, 2, 3, 4, 5, 6].map((seed) => (dir: string) => makeMergeHistory(dir, seed, 40)),
    ];
    for (const [number, make] of makers.entries()) {
      const cacheDir = join(temp.path, `made-${number}`);
      await mkdir(localPath(cacheDir), { recursive: true });
      await make(localPath(cacheDir));
      using reading = openLocal(cacheDir);
      const { objects } = reading;
      const commits = readCommits(objects);
      const all = gitLines(localPath(cacheDir), "rev-list", "--all");
      const random = seededRandom(number + 1);
      const pick = () => all[Math.floor(random() * all.length)] ?? "";
      for (let times = 0; times < 150; times++) {
        const [ours, theirs, third] = [pick(), pick(), pick()];
        const tree = (oid: string) => commits.commit(oid).tree;
        const trees = { base: tree(third), ours: tree(ours), theirs: tree(theirs) };
        const keepBoth = ([undefined, "ours", "theirs"] as const)[times % 3];
        const how = { labels: { ours: "main", theirs: `side ${times} \xe9` }, keepBoth };
        const asked = times % 5 === 0 ? { trees, ...how } : { commits: { ours, theirs }, ...how };
        const fresh = ask(objects, asked);
        assertEquals(await findMerge(context, reading, asked), fresh);
        assertEquals(await findMerge(context, reading, asked), fresh);
        const { state: _, ...outcome } = fresh;
        await onDisk(cacheDir).set(`${times}`, outcome, { now: new Date(), isCostly: true });
        assertEquals(onDisk(cacheDir).get(`${times}`, new Date()), outcome);
        seen.count(fresh);
        if (mergeBases(commits, ours, theirs).length > 1) seen.crossed++;
      }
    }
    assertEquals([...seen.kinds].sort(), [...CONFLICT_KINDS].sort());
    const { clean, keptBoth, crossed, submodules, odd } = seen;
    const counts = [clean, keptBoth, crossed, submodules, odd];
    assert(counts.every((count) => count > 5), counts.join());
  });

  it("come from files in the next process, which reads no object for them", async () => {
    const { cacheDir, place, commits: [, one, two, far, other] } = makeLarge("files");
    const trees = treesOf(place, [one, two, far]);
    const asked: MergeAsked[] = [
      { commits: { ours: one, theirs: two }, labels },
      { commits: { ours: one, theirs: two }, labels, keepBoth: "theirs" },
      { commits: { ours: other, theirs: two }, labels },
      { trees: { base: trees[0], ours: trees[1] ?? "", theirs: trees[2] ?? "" }, labels },
      { trees: { base: undefined, ours: trees[0] ?? "", theirs: trees[1] ?? "" }, labels },
      { commits: { ours: two, theirs: far }, labels },
    ];
    const expected = asked.map((one) => ask(place.objects, one));
    assertEquals(expected.map(({ state }) => state), [
      "conflicts",
      "conflicts",
      "clean",
      "conflicts",
      "conflicts",
      "clean",
    ]);
    for (const one of asked) await findMerge(context, place, one);
    assertEquals((await filesIn(cacheDir)).length, asked.length);
    for (const [at, one] of asked.entries()) {
      assertEquals(await findMerge(context, emptied(place), one), expected[at]);
    }
  });

  it("have no file where a merge takes no longer than reading one", async () => {
    const cacheDir = join(temp.path, "small");
    const place = openMade(cacheDir, [
      { files: { a: "1\n" }, parent: undefined },
      { files: { a: "2\n" }, parent: 0 },
      { files: { a: "3\n" }, parent: 0 },
    ]);
    using _ = place;
    const [, ours = "", theirs = ""] = oidsIn(cacheDir);
    const { state } = await findMerge(context, place, { commits: { ours, theirs }, labels });
    assertEquals([state, await filesIn(cacheDir)], ["conflicts", []]);
    await assertRejects(
      () => findMerge(context, emptied(place), { commits: { ours, theirs }, labels }),
      Error,
    );
  });

  it("are others for other labels, sides, bases and ways to merge", async () => {
    const { cacheDir, place, commits: [root, one, two, , other] } = makeLarge("others");
    const sides = treesOf(place, [root, one, two, other]);
    const [base = "", ours = "", theirs = "", changed = ""] = sides;
    const commits = { ours: one, theirs: two };
    const trees = { base, ours, theirs };
    const asked: MergeAsked[] = [
      { commits },
      { commits, labels },
      { commits, labels: { ours: "main", theirs: "other" } },
      { commits, labels: { ours: "main side", theirs: "" } },
      { commits, labels: { ours: "main", theirs: 'side",null' } },
      { commits, labels: { ours: "side", theirs: "main" } },
      { commits, labels, keepBoth: "ours" },
      { commits, labels, keepBoth: "theirs" },
      { commits: { ours: two, theirs: one }, labels },
      { commits: { ours: other, theirs: two }, labels },
      { trees, labels },
      { trees: { ...trees, base: undefined }, labels },
      { trees: { ...trees, base: changed, theirs: base }, labels },
    ];
    const expected = asked.map((one) => ask(place.objects, one));
    for (const one of asked) await findMerge(context, place, one);
    for (const [at, one] of asked.entries()) {
      assertEquals(await findMerge(context, place, one), expected[at]);
      assertEquals(await findMerge(context, emptied(place), one), expected[at]);
    }
    assertEquals((await filesIn(cacheDir)).length, asked.length);
    // Only the trees that two commits come from by themselves merge as they do.
    assertEquals(new Set(expected.map((one) => JSON.stringify(one))).size, asked.length - 1);
  });

  it("are found out again where a file is damaged, cut short or another's", async () => {
    const { cacheDir, place, commits: [, one, two] } = makeLarge("damaged");
    const asked = { commits: { ours: one, theirs: two }, labels };
    const expected = await findMerge(context, place, asked);
    const [name = ""] = await filesIn(cacheDir);
    const file = join(answersIn(cacheDir), name);
    const whole = new Uint8Array(await readFile(file));
    await findMerge(context, place, { ...asked, keepBoth: "ours" });
    const [next = ""] = (await filesIn(cacheDir)).filter((one) => one !== name);
    const foreign = new Uint8Array(await readFile(join(answersIn(cacheDir), next)));
    const flipped = Uint8Array.from(
      whole,
      (byte, at) => at === whole.length - 20 ? byte ^ 1 : byte,
    );
    for (const bytes of [flipped, whole.subarray(0, -1), new Uint8Array(), foreign]) {
      await writeFile(file, bytes);
      await assertRejects(() => findMerge(context, emptied(place), asked), Error);
      using again = openLocal(cacheDir);
      assertEquals(await findMerge(context, again, asked), expected);
      assertEquals(await findMerge(context, emptied(place), asked), expected);
    }
  });

  it("leave out the objects to write: to have those the merge is made, and its answer kept", async () => {
    const { cacheDir, place, commits: [, ours, theirs] } = makeLarge("objects");
    const asked = { commits: { ours, theirs }, labels };
    const whole = mergeCommits(place.objects, readCommits(place.objects), ours, theirs, asked);
    assert(whole.objects.length > 0);
    assertEquals(await makeMerge(context, place, asked), whole);
    assertEquals((await filesIn(cacheDir)).length, 1);
    const { objects: _, ...outcome } = whole;
    assertEquals(await findMerge(context, emptied(place), asked), {
      state: "conflicts",
      ...outcome,
    });
    assertEquals(await findMerge(context, place, asked), { state: "conflicts", ...outcome });
    const file = join(answersIn(cacheDir), (await filesIn(cacheDir))[0] ?? "");
    const { ino } = await stat(file);
    assertEquals(await makeMerge(context, place, asked), whole);
    // What is kept is not written again.
    assertEquals((await stat(file)).ino, ino);
  });

  it("are not those of a merge that was not made", async () => {
    const { cacheDir, place, commits: [, ours] } = makeLarge("missing");
    const commits = { ours, theirs: "1".repeat(40) };
    for (const find of [findMerge, makeMerge]) {
      await assertRejects(() => find(context, place, { commits, labels }), CorruptError);
    }
    assertEquals(await filesIn(cacheDir), []);
  });
});
