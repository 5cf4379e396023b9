import { assert, assertEquals, assertThrows } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { CorruptError } from "../../core/errors.ts";
import { isAncestor, mergeBases } from "../../core/git/ancestry.ts";
import { log, readCommits } from "../../core/git/history.ts";
import type { ObjectReader } from "../../core/git/object.ts";
import { findEntry, walkTree } from "../../core/git/walk.ts";
import { gitBytes, gitLines } from "../support/git.ts";
import { loadObjects, makeHistory } from "../support/history.ts";
import { seededRandom } from "../support/random.ts";

const commitCount = 400;
let dir = "";
let mainTip = "";
let objects: ObjectReader;

async function shellLines(script: string, ...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", script, "sh", ...args],
    cwd: dir,
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
  const text = new TextDecoder().decode(stdout);
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function tips(): string[] {
  return gitLines(dir, "for-each-ref", "--format=%(objectname)");
}

describe("history", () => {
  beforeAll(async () => {
    dir = await Deno.makeTempDir();
    makeHistory(dir, 7, commitCount);
    objects = loadObjects(dir);
    [mainTip = ""] = gitLines(dir, "rev-parse", "main");
  });
  afterAll(() => Deno.remove(dir, { recursive: true }));

  it("lists commits in the order of git log", () => {
    const commits = readCommits(objects);
    for (const tip of tips().slice(-40)) {
      assertEquals([...log({ commits, tips: [tip] })], gitLines(dir, "rev-list", tip));
    }
  });

  it("starts from several tips as git does", () => {
    const commits = readCommits(objects);
    const several = tips().filter((_, index) => index % 50 === 0);
    assertEquals(
      [...log({ commits, tips: several })],
      gitLines(dir, "rev-list", ...several),
    );
  });

  it("passes over the commits of the pages before", () => {
    const commits = readCommits(objects);
    const all = [...log({ commits, tips: [mainTip] })];
    assertEquals([...log({ commits, tips: [mainTip], skip: 30 })], all.slice(30));
  });

  it("reads no more commits than it gives, and their parents", () => {
    const commits = readCommits(objects);
    let reads = 0;
    const counted = { commit: (oid: string) => (reads++, commits.commit(oid)) };
    const walk = log({ commits: counted, tips: [mainTip] });
    for (let n = 0; n < 10; n++) walk.next();
    assert(reads <= 30, `${reads} reads for 10 commits`);
  });

  it("simplifies the history of a path as git does", async () => {
    const commits = readCommits(objects);
    const paths = new Map<string, Uint8Array>();
    for (const tip of tips().slice(-60)) {
      for (const { path } of walkTree(objects, commits.commit(tip).tree)) {
        for (let end = path.indexOf(47); end >= 0; end = path.indexOf(47, end + 1)) {
          paths.set(path.subarray(0, end).toHex(), path.subarray(0, end));
        }
        paths.set(path.toHex(), path);
      }
    }
    let shown = 0;
    for (const bytes of paths.values()) {
      const found = [...log({ commits, tips: [mainTip], path: { objects, bytes } })];
      // Arguments cannot carry bytes that are not UTF-8, so the path comes from a file.
      const spec = `${dir}/paths`;
      await Deno.writeFile(spec, bytes);
      const script = 'p=$(cat "$1"; printf x); git --literal-pathspecs rev-list main -- "${p%x}"';
      assertEquals(found, await shellLines(script, spec), new TextDecoder().decode(bytes));
      shown += found.length;
    }
    assert(paths.size > 50 && shown > 200, `${paths.size} paths, ${shown} commits`);
  });

  it("finds the merge bases git finds, in its order", async () => {
    const commits = readCommits(objects);
    const all = gitLines(dir, "rev-list", "--all");
    const random = seededRandom(1);
    const pick = () => all[Math.floor(random() * all.length)] ?? "";
    let several = 0;
    for (let pair = 0; pair < 150; pair++) {
      const [one, other] = [pick(), pick()];
      const bases = mergeBases(commits, one, other);
      if (bases.length > 1) several++;
      const script = 'git merge-base --all "$1" "$2" || test $? = 1';
      assertEquals(bases, await shellLines(script, one, other));
      assertEquals(isAncestor(commits, one, other), bases.includes(one));
    }
    assert(several > 0, "no pair had several merge bases");
  });

  it("finds many merge bases, without those that others have in their history", () => {
    const stream: string[] = [];
    const commit = (mark: number, date: number, parents: number[]) => {
      stream.push(`commit refs/heads/many${mark}\nmark :${mark}\n`);
      stream.push(`committer N <n@e> ${date} +0000\ndata 0\n`);
      parents.forEach((parent, index) => stream.push(`${index ? "merge" : "from"} :${parent}\n`));
      stream.push("\n");
    };
    // Every third is a child, with a date that lies, of the one before.
    for (let mark = 1; mark <= 60; mark++) {
      commit(mark, mark % 3 === 0 ? 1000 - mark : 1000 + mark, mark % 3 === 0 ? [mark - 1] : []);
    }
    const all = Array.from({ length: 60 }, (_, index) => index + 1);
    commit(61, 5000, all);
    commit(62, 5000, all.toReversed());
    gitBytes(dir, stream.join(""), "fast-import", "--quiet", "--force");
    const commits = readCommits(loadObjects(dir));
    const tips = gitLines(dir, "rev-parse", "many61", "many62");
    const bases = mergeBases(commits, tips[0] ?? "", tips[1] ?? "");
    assertEquals(bases, gitLines(dir, "merge-base", "--all", ...tips));
    assertEquals(bases.length, 40);
  });

  it("finds any path of a tree and nothing else", () => {
    const { tree } = readCommits(objects).commit(mainTip);
    const listed = gitBytes(dir, undefined, "ls-tree", "-r", "-z", "main");
    const walked = [...walkTree(objects, tree)];
    assertEquals(walked.length, listed.filter((byte) => byte === 0).length);
    for (const { path, mode, oid } of walked) {
      assertEquals(findEntry(objects, tree, path), { mode, oid });
      assertEquals(findEntry(objects, tree, new Uint8Array([...path, 47, 120])), undefined);
    }
  });

  it("says which commit is missing", () => {
    assertThrows(
      () => [...log({ commits: readCommits(objects), tips: ["0".repeat(40)] })],
      CorruptError,
      "the commit 0000000000000000000000000000000000000000 is missing",
    );
  });
});
