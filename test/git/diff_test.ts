import { assert, assertEquals, assertThrows } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { CorruptError } from "../../core/errors.ts";
import { concat, latin1, sameBytes, utf8 } from "../../core/git/bytes.ts";
import { diffLines } from "../../core/git/diff_lines.ts";
import { diffTrees, patchFile } from "../../core/git/diff.ts";
import { readCommits } from "../../core/git/history.ts";
import type { ObjectReader, Oid } from "../../core/git/object.ts";
import { walkTree } from "../../core/git/walk.ts";
import { gitBytes, gitLines } from "../support/git.ts";
import { loadObjects, makeHistory } from "../support/history.ts";
import { seededRandom } from "../support/random.ts";

const commitCount = 400;
let dir = "";
let objects: ObjectReader;

function ours(a: Oid, b: Oid, paths: Uint8Array[] = []): Uint8Array {
  return concat(diffTrees(objects, a, b, paths).map((change) => patchFile(objects, change).bytes));
}

/** The diffs of pairs of trees, by one run of git. */
function theirs(pairs: readonly [Oid, Oid][]): Uint8Array[] {
  const input = pairs.map(([a, b]) => `${a} ${b}\n`).join("");
  const args = ["diff-tree", "--stdin", "-r", "-p", "-M", "--full-index", "--no-ext-diff"];
  const all = latin1(gitBytes(dir, input, ...args));
  let at = 0;
  return pairs.map(([a, b], index) => {
    const start = at + `${a} ${b}\n`.length;
    const next = pairs[index + 1];
    const end = next === undefined ? all.length : all.indexOf(`${next.join(" ")}\n`, start);
    at = end;
    return Uint8Array.from(all.slice(start, end), (letter) => letter.charCodeAt(0));
  });
}

function checkParity(name: string, pairs: readonly [Oid, Oid][]): void {
  const differing = pairs.filter(([a, b]) => a !== b);
  const expected = theirs(differing);
  const wrong = differing.filter(([a, b], index) =>
    !sameBytes(ours(a, b), expected[index] ?? new Uint8Array())
  );
  const equal = differing.length - wrong.length;
  Deno.stderr.writeSync(utf8(`    ${name}: diff parity ${equal} of ${differing.length}\n`));
  assertEquals(wrong, []);
}

describe("diff", () => {
  let trees: { own: Oid; parents: Oid[] }[] = [];

  beforeAll(async () => {
    dir = await Deno.makeTempDir();
    makeHistory(dir, 42, commitCount);
    objects = loadObjects(dir);
    const commits = readCommits(objects);
    trees = gitLines(dir, "rev-list", "--all").map((oid) => {
      const { tree, parents } = commits.commit(oid);
      return { own: tree, parents: parents.map((parent) => commits.commit(parent).tree) };
    });
  });
  afterAll(() => Deno.remove(dir, { recursive: true }));

  it("of each commit from its parents is git's, byte for byte", () => {
    checkParity(
      "commits",
      trees.flatMap(({ own, parents }) => parents.map((parent): [Oid, Oid] => [parent, own])),
    );
  });

  it("of any two commits is git's, byte for byte", () => {
    const random = seededRandom(4);
    const pick = () => trees[Math.floor(random() * trees.length)]?.own ?? "";
    checkParity("pairs", Array.from({ length: 400 }, () => [pick(), pick()]));
  });

  it("is cut to paths as git cuts it", () => {
    const random = seededRandom(6);
    const pick = () => trees[Math.floor(random() * trees.length)]?.own ?? "";
    for (let round = 0; round < 60; round++) {
      const [a, b] = [pick(), pick()];
      const all = [...walkTree(objects, a)].map(({ path }) => new TextDecoder().decode(path));
      const file = all[Math.floor(random() * all.length)] ?? "";
      const paths = [file.split("/")[0] ?? "", `${file}`, "src/", "README/", "doc"]
        .filter((path) => path !== "" && !path.includes("\ufffd") && random() < 0.5);
      if (paths.length === 0) continue;
      const args = ["--literal-pathspecs", "diff", "--full-index", "-M", a, b, "--", ...paths];
      const expected = gitBytes(dir, undefined, ...args);
      assertEquals(latin1(ours(a, b, paths.map((path) => utf8(path)))), latin1(expected));
    }
  });

  it("of a first commit is from the empty tree", () => {
    const [first = ""] = gitLines(dir, "rev-list", "--max-parents=0", "main");
    const { tree } = readCommits(objects).commit(first);
    const patches = diffTrees(objects, undefined, tree).map((change) => patchFile(objects, change));
    const args = ["diff-tree", "--root", "-p", "-r", "--full-index", "--no-commit-id", first];
    assertEquals(
      latin1(concat(patches.map(({ bytes }) => bytes))),
      latin1(gitBytes(dir, undefined, ...args)),
    );
  });

  it("counts the lines of each file", () => {
    for (const { own, parents: [parent] } of trees.slice(0, 80)) {
      if (parent === undefined || parent === own) continue;
      const stats = gitLines(dir, ...[
        "diff-tree",
        "-r",
        "-M",
        "--numstat",
        "--no-commit-id",
        parent,
        own,
      ]);
      diffTrees(objects, parent, own).forEach((change, index) => {
        const { added, removed, lines, bytes } = patchFile(objects, change);
        assertEquals(lines, latin1(bytes).split("\n").length - 1);
        // Git counts a change of type as if both sides were text of one file.
        if (change.old && change.new && change.old.mode >> 12 !== change.new.mode >> 12) return;
        const counts = stats[index]?.split("\t").slice(0, 2).map((count) => Number(count) || 0);
        assertEquals([added, removed], counts);
      });
    }
  });

  it("says which object is missing", () => {
    const gone: Oid = "1".repeat(40);
    assertThrows(
      () => diffTrees(objects, gone, undefined),
      CorruptError,
      `the tree ${gone} is miss`,
    );
  });
});

describe("lines", () => {
  it("of hostile texts are compared in bounded time, and rightly", () => {
    const count = 30_000;
    const random = seededRandom(8);
    const text = (line: (index: number) => string) =>
      utf8(Array.from({ length: count }, (_, index) => `${line(index)}\n`).join(""));
    const pairs = [
      [text(() => (random() < 0.5 ? "a" : "b")), text(() => (random() < 0.5 ? "a" : "b"))],
      [text((i) => `${i % 317}`), text((i) => `${i % 211}`)],
      [text((i) => `${i}`), text((i) => `${count - i}`)],
      [text((i) => (i % 2 ? `${i}` : "")), text((i) => (i % 2 ? "" : `${i}`))],
    ] as const;
    for (const [before, after] of pairs) {
      const { a, b, changes } = diffLines(before, after);
      const parts: Uint8Array[] = [];
      let at = 0;
      for (const change of changes) {
        parts.push(before.subarray(a.starts[at], a.starts[change.a]));
        parts.push(after.subarray(b.starts[change.b], b.starts[change.b + change.bCount]));
        at = change.a + change.aCount;
      }
      parts.push(before.subarray(a.starts[at]));
      assert(sameBytes(concat(parts), after));
    }
  });

  it("whose hashes collide are told apart", () => {
    const lines = Array.from({ length: 3000 }, (_, index) => `\0${index}`);
    const { changes } = diffLines(utf8(lines.join("\n")), utf8([...lines].reverse().join("\n")));
    assert(changes.length > 0);
  });
});
