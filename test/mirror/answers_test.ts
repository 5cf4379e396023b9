import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Unpackr } from "msgpackr";
import { mergeBases } from "../../core/git/ancestry.ts";
import { blame, type BlameRun } from "../../core/git/blame.ts";
import { concat, utf8 } from "../../core/git/bytes.ts";
import { diffTrees, type FilePatch, patchFile } from "../../core/git/diff.ts";
import { CommitGraph } from "../../core/git/graph.ts";
import type { MergeConflict, MergeOutcome } from "../../core/git/merge.ts";
import { CONFLICT_KINDS } from "../../core/git/merge_entry.ts";
import type { ObjectReader } from "../../core/git/object.ts";
import { countLines } from "../../core/git/text.ts";
import { isGitlink } from "../../core/git/tree.ts";
import { readObject, walkTree } from "../../core/git/walk.ts";
import { BASES, BLAMES, type Form, MERGES, PATCHES } from "../../core/mirror/answer_forms.ts";
import { Answers, type Room } from "../../core/mirror/answers.ts";
import type { Column } from "../../core/mirror/columns.ts";
import { gitLines, type TempDir, tempDir } from "../support/git.ts";
import { loadObjects, makeHistory } from "../support/history.ts";

const ROOM: Room = { memory: 1 << 20, disk: 1 << 20, files: 100 };
/** Room for all answers of a history, on disk alone. */
const ENOUGH: Room = { memory: 0, disk: 1 << 28, files: 1 << 16 };
const SEAL = 32;
const costly = (seconds = 0) => ({ now: new Date(seconds * 1000), isCostly: true });
const now = new Date(0);
const worker = fileURLToPath(new URL("answers_worker.ts", import.meta.url));

const RUNS: readonly BlameRun[] = [
  { commit: "a".repeat(40), start: 0, count: 3, previous: undefined },
  {
    commit: "b".repeat(40),
    start: 3,
    count: 1,
    previous: { commit: "a".repeat(40), path: concat([utf8("caf"), Uint8Array.of(0xe9, 0xff)]) },
  },
];

const ODD = concat([utf8("caf"), Uint8Array.of(0xe9, 0xff)]);

/** A merge in conflict in every way there is, with and without a file of each tree. */
const MERGE: MergeOutcome = {
  tree: "c".repeat(40),
  conflicts: CONFLICT_KINDS.map((kind, at): MergeConflict => {
    const side = (bit: number) =>
      (at & bit) === 0 ? undefined : {
        mode: at === 3 ? 0o160000 : 0o100644,
        oid: `${bit}`.repeat(40),
        path: utf8(`${at % 3}`),
      };
    return {
      path: at % 2 === 0 ? ODD : utf8("p"),
      kind,
      base: side(1),
      ours: side(2),
      theirs: side(4),
    };
  }),
  keptBoth: [ODD, utf8("p")],
};

function patchOf(text: string, bytes = 100): FilePatch {
  return {
    path: utf8(text),
    bytes: utf8(text.repeat(bytes / text.length)),
    added: 1,
    removed: 2,
    lines: 3,
  };
}

describe("answers beside a mirror", () => {
  let temp: TempDir;
  let path: string;
  let folder: string;

  beforeAll(() => {
    temp = tempDir();
    path = join(temp.path, "mirror");
    folder = join(path, "answers");
  });
  afterAll(() => temp[Symbol.dispose]());
  beforeEach(async () => {
    await rm(path, { recursive: true, force: true });
    await mkdir(path);
  });

  /** As a new process would open them. */
  const open = <V>(form: Form<V>, room = ROOM, engine = "1") =>
    new Answers(path, engine, form, room);
  const files = async () => (await readdir(folder).catch(() => [])).sort();
  const only = async () => join(folder, (await files())[0] ?? "");

  it("are what was kept, here and in the next process", async () => {
    const blames = open(BLAMES);
    assertEquals(blames.get("one", now), undefined);
    await blames.set("one", RUNS, costly());
    await blames.set("none", [], costly());
    for (const answers of [blames, open(BLAMES)]) {
      assertEquals(answers.get("one", now), RUNS);
      assertEquals(answers.get("none", now), []);
      assertEquals(answers.get("two", now), undefined);
    }
    const patches = [patchOf("a"), patchOf("b"), { ...patchOf("c"), bytes: new Uint8Array() }];
    await open(PATCHES).set("one", patches, costly());
    assertEquals(open(PATCHES).get("one", now), patches);
    await open(BASES).set("one", { base: undefined }, costly());
    await open(BASES).set("two", { base: "c".repeat(40) }, costly());
    assertEquals(open(BASES).get("one", now), { base: undefined });
    assertEquals(open(BASES).get("two", now), { base: "c".repeat(40) });
    const clean = { tree: "d".repeat(40), conflicts: [], keptBoth: [] };
    await open(MERGES).set("one", MERGE, costly());
    await open(MERGES).set("two", clean, costly());
    assertEquals(open(MERGES).get("one", now), MERGE);
    assertEquals(open(MERGES).get("two", now), clean);
    assertEquals((await files()).length, 7);
  });

  it("equal what is found out anew, whatever the history", async () => {
    for (const seed of [3, 4]) {
      const dir = join(path, `${seed}`);
      await mkdir(dir);
      makeHistory(dir, seed, 50);
      const objects = loadObjects(dir);
      const commits = gitLines(dir, "rev-list", "--all");
      const graph = new CommitGraph(objects);
      for (const [at, tip] of commits.entries()) {
        const other = commits[(at * 7 + 3) % commits.length] ?? tip;
        const found = () => patchesOf(objects, graph.commit(other).tree, graph.commit(tip).tree);
        await open(PATCHES, ENOUGH).set(`${at}`, found(), costly());
        assertEquals(open(PATCHES).get(`${at}`, now), found());
        const [base] = mergeBases(graph, tip, other);
        await open(BASES, ENOUGH).set(`${at}`, { base }, costly());
        assertEquals(open(BASES).get(`${at}`, now), { base });
        if (at % 5 !== 0) continue;
        for (const file of walkTree(objects, graph.commit(tip).tree)) {
          if (isGitlink(file.mode)) continue;
          const key = `${at} ${file.path.toHex()}`;
          const end = countLines(readObject(objects, file.oid, "blob"));
          const runs = blame(graph, { tip, file, start: 0, end });
          let step = runs.next();
          while (!step.done) step = runs.next();
          await open(BLAMES, ENOUGH).set(key, step.value, costly());
          assertEquals(open(BLAMES).get(key, now), step.value);
        }
      }
    }
  });

  it("stay in memory alone when they cost little, or are over a quarter of the room", async () => {
    const patches = open(PATCHES);
    await patches.set("cheap", [patchOf("a")], { now, isCostly: false });
    await patches.set("large", [patchOf("b", 1 << 18)], costly());
    assertEquals(patches.get("cheap", now), [patchOf("a")]);
    assertEquals(await files(), []);
  });

  it("are never what a file says that is not as it was written", async () => {
    await open(BLAMES).set("one", RUNS, costly());
    const file = await only();
    const whole = new Uint8Array(await readFile(file));
    const tries: Uint8Array[] = [
      new Uint8Array(),
      utf8("nonsense"),
      whole.subarray(0, whole.length / 2),
      whole.subarray(0, whole.length - 1),
      concat([whole, whole]),
      new Uint8Array(whole.length),
    ];
    for (let at = 0; at < whole.length; at++) {
      const flipped = Uint8Array.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      tries.push(flipped);
    }
    let refused = 0;
    for (const bytes of tries) {
      await writeFile(file, bytes);
      const found = open(BLAMES).get("one", now);
      // What stands between the arrays is for other readers.
      if (found !== undefined) assertEquals(found, RUNS);
      else refused++;
    }
    const columns = BLAMES.write(RUNS).reduce((sum, { byteLength }) => sum + byteLength, 0);
    assert(refused > SEAL + columns, `${refused} of ${tries.length}`);
    await open(BLAMES).set("one", RUNS, costly());
    assertEquals(open(BLAMES).get("one", now), RUNS);
    await open(BLAMES).set("two", RUNS, costly());
    const other = (await files()).find((name) => !file.endsWith(name)) ?? "";
    await rename(join(folder, other), file);
    assertEquals(open(BLAMES).get("one", now), undefined);
  });

  it("of merges are never what their arrays cannot say, whoever wrote them", async () => {
    const [oids, paths, numbers, both] = MERGES.write(MERGE).map(bytesOfColumn);
    assert(oids && paths && numbers && both);
    const change = (at: number, value: number) => {
      const changed = new Uint32Array(numbers.slice().buffer);
      changed[at] = value;
      return bytesOfColumn(changed);
    };
    const kind = CONFLICT_KINDS.length;
    const tries: readonly (readonly Uint8Array[])[] = [
      [oids, paths, change(1, kind), both],
      [oids, paths, change(12, 0xffffffff), both],
      [oids, paths, change(0, 99), both],
      [oids, paths, change(11 * 7 + 2, 99), both],
      [oids, paths, change(11 * 7 + 4, 99), both],
      [oids.slice(0, -1), paths, numbers, both],
      [oids.slice(0, -20), paths, numbers, both],
      [new Uint8Array(), paths, numbers, both],
      [new Uint8Array(), new Uint8Array(), new Uint8Array(), new Uint8Array()],
      [oids, paths.slice(0, -1), numbers, both],
      [oids, paths.slice(0, paths.indexOf(0) + 1), numbers, both],
      [oids, new Uint8Array(), numbers, both],
      [oids, paths, numbers.slice(0, -1), both],
      [oids, paths, numbers.slice(0, -4), both],
      [oids, paths, numbers, both.slice(0, -1)],
    ];
    const written = (columns: readonly Uint8Array[]): Form<MergeOutcome> => ({
      ...MERGES,
      write: () => [...columns],
    });
    await open(written([oids, paths, numbers, both])).set("one", MERGE, costly());
    assertEquals(open(MERGES).get("one", now), MERGE);
    for (const columns of tries) {
      await open(written(columns)).set("one", MERGE, costly());
      assertEquals(open(MERGES).get("one", now), undefined);
    }
    await open(MERGES).set("one", MERGE, costly());
    assertEquals(open(MERGES).get("one", now), MERGE);
  });

  it("of merges take no more room than they are given", async () => {
    const many = { ...MERGE, conflicts: Array(40).fill(MERGE.conflicts).flat() };
    const merges = open(MERGES, { memory: 1 << 16, disk: 1 << 16, files: 100 });
    await merges.set("large", many, costly());
    assertEquals([merges.get("large", now), await files()], [undefined, []]);
    for (let at = 0; at < 6; at++) await merges.set(`${at}`, MERGE, { now, isCostly: false });
    const kept = [0, 1, 2, 3, 4, 5].filter((at) => merges.get(`${at}`, now) !== undefined);
    assertEquals(kept, [2, 3, 4, 5]);
  });

  it("are of one version of the program and of one kind", async () => {
    await open(PATCHES, ROOM, "1.0.0").set("one", [patchOf("a")], costly());
    assertEquals(open(PATCHES, ROOM, "1.0.1").get("one", now), undefined);
    assertEquals(open(BLAMES, ROOM, "1.0.0").get("one", now), undefined);
    assertEquals(open(PATCHES, ROOM, "1.0.0").get("one", now), [patchOf("a")]);
  });

  it("give way to newer ones when there is no more room, those first that were used longest ago", async () => {
    const kept = () =>
      Array.from({ length: 8 }, (_, at) => at).filter((at) =>
        open(PATCHES).get(`${at}`, new Date(at * 1000)) !== undefined
      );
    const few = { ...ROOM, files: 4 };
    for (let at = 0; at < 4; at++) {
      await open(PATCHES, few).set(`${at}`, [patchOf("a")], costly(at));
    }
    open(PATCHES).get("0", new Date(10_000));
    await open(PATCHES, few).set("4", [patchOf("a")], costly(11));
    assertEquals(kept(), [0, 2, 3, 4]);
    const small = { ...ROOM, disk: 38_000 };
    await open(PATCHES, small).set("5", [patchOf("a", 9_000)], costly(12));
    await open(PATCHES, small).set("6", [patchOf("a", 9_000)], costly(13));
    await open(PATCHES, small).set("7", [patchOf("a", 9_000)], costly(14));
    assertEquals(kept(), [3, 4, 5, 6, 7]);
    const sizes = await Promise.all(
      (await files()).map(async (name) => (await stat(join(folder, name))).size),
    );
    assert(sizes.reduce((sum, size) => sum + size) <= 38_000);
  });

  it("give way together with what writers left that were cut off", async () => {
    await mkdir(join(folder, "index-abc"), { recursive: true });
    await writeFile(join(folder, "index-abc", "columns"), "half");
    const later = Date.now() / 1000 + 10;
    for (let at = 0; at < 4; at++) {
      await open(PATCHES, { ...ROOM, files: 4 }).set(`${at}`, [patchOf("a")], costly(later + at));
    }
    assertEquals((await files()).filter((name) => name.startsWith("index-")), []);
    assertEquals((await files()).length, 4);
  });

  it("are shared by processes that keep and take away at once", async () => {
    const ended = await Promise.all(
      ["1", "2", "3"].map((seed) =>
        new Deno.Command(Deno.execPath(), {
          args: ["run", "-q", "-A", "--no-check", worker, path, seed],
          stderr: "inherit",
        }).output()
      ),
    );
    for (const { code, stdout } of ended) {
      const [given = 0, wrong] = new TextDecoder().decode(stdout).split(" ").map(Number);
      assertEquals([code, wrong], [0, 0]);
      assert(given > 50, `${given}`);
    }
    assert((await files()).length <= 14);
  });

  it("do without a folder that can be written", async () => {
    await rm(path, { recursive: true });
    await writeFile(path, "in the way");
    const blames = open(BLAMES);
    await blames.set("one", RUNS, costly());
    assertEquals(blames.get("one", now), RUNS);
    assertEquals(open(BLAMES).get("one", now), undefined);
  });

  it("are MessagePack that others can read", async () => {
    await open(BLAMES).set("one", RUNS, costly());
    const value = new Unpackr({ moreTypes: true }).unpack(await readFile(await only()));
    const names = value.map((column: object) => column.constructor.name);
    const [head, checksums, ...columns] = names;
    assertEquals([head, checksums], ["Float64Array", "Uint32Array"]);
    assertEquals(columns, ["Uint8Array", "Uint8Array", "Uint8Array", "Uint32Array"]);
  });
});

function patchesOf(objects: ObjectReader, from: string, to: string): FilePatch[] {
  return diffTrees(objects, from, to).map((change) => patchFile(objects, change));
}

function bytesOfColumn({ buffer, byteOffset, byteLength }: Column): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
