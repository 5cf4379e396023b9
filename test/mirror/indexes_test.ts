import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Unpackr } from "msgpackr";
import { CorruptError } from "../../core/errors.ts";
import { utf8 } from "../../core/git/bytes.ts";
import { logPath } from "../../core/git/graph_log.ts";
import { log, readCommits } from "../../core/git/history.ts";
import { lineFinder } from "../../core/git/search.ts";
import { type ObjectStore, openStore } from "../../core/git/store.ts";
import { dropDamagedIndexes } from "../../core/mirror/damage.ts";
import { readObject } from "../../core/git/walk.ts";
import { type Indexed, Indexes } from "../../core/mirror/indexes.ts";
import { buildLongRepo, git, putObject, type TempDir, tempDir } from "../support/git.ts";

const path = "dir3/sub3/file3.ts";
const signal = new AbortController().signal;

describe("the indexes of a mirror", () => {
  let temp: TempDir;
  let dir: string;
  let store: ObjectStore;
  let tip: string;
  let tree: string;
  let indexed: Indexed;
  let history: string[];

  beforeAll(() => {
    temp = tempDir();
    dir = buildLongRepo(join(temp.path, "long"), { commits: 1400, files: 300 });
    git(dir, "tag", "-a", "-m", "one", "v1", "main~5");
    git(dir, "update-ref", "refs/odd/tree", git(dir, "rev-parse", "main^{tree}"));
    store = openStore(dir);
    tip = git(dir, "rev-parse", "main");
    tree = readCommits(store).commit(tip).tree;
    const refs = git(dir, "for-each-ref", "--format=%(refname) %(objectname) %(*objectname)");
    indexed = {
      cid: "one",
      refs: new Map(
        refs.split("\n").map((line) => {
          const [name = "", oid = "", peeled] = line.split(" ");
          return [name, { oid, ...(peeled && { peeled }) }];
        }),
      ),
    };
    history = git(dir, "rev-list", "main", "--", path).split("\n");
  });
  afterAll(() => {
    store.close();
    temp[Symbol.dispose]();
  });
  beforeEach(async () => {
    for (const name of ["graph.msgpack", "search.msgpack"]) {
      await rm(join(dir, name), { force: true });
    }
  });

  /** As a new process would open them. */
  const open = () => new Indexes(dir, store);
  const logOf = (indexes: Indexes) => [
    ...logPath(indexes.graph, { tip, path: utf8(path) }).filter((oid) => oid !== undefined),
  ];

  it("grow by steps that each process adds to, and answer the same all the time", async () => {
    assertEquals(logOf(open()), history);
    const counts: number[] = [];
    for (let isWhole = false; !isWhole;) {
      const indexes = open();
      isWhole = await indexes.growGraph(indexed);
      counts.push(open().graph.columns.count);
      assertEquals(logOf(open()), history);
    }
    assertEquals(counts, [1000, 1400]);
    const found: number[] = [];
    for (let isWhole = false; !isWhole;) {
      isWhole = await open().growTrigrams(tree);
      found.push(open().trigrams.columns.count);
    }
    assertEquals(found, [300]);
  });

  it("are made whole in one go, and written once", async () => {
    const indexes = open();
    await indexes.build(indexed, tree, signal);
    assertEquals(open().graph.columns.count, 1400);
    assertEquals(open().trigrams.columns.count, 300);
    assertEquals(logOf(indexes), history);
    const left = (await readdir(dir)).filter((name) => name.startsWith("index-"));
    assertEquals(left, []);
  });

  it("read nothing but what a question needs", async () => {
    await open().build(indexed, tree, signal);
    const reads: string[] = [];
    const counted = {
      ...store,
      has: store.has.bind(store),
      read: (oid: string) => {
        reads.push(oid);
        return store.read(oid);
      },
    };
    const indexes = new Indexes(dir, { ...counted, info: store.info.bind(store), find: () => [] });
    assertEquals(logOf(indexes), history);
    assertEquals(reads, []);
    const mayHold = indexes.trigrams.holders("line of 1399 ");
    const files = indexes.files(tree);
    assert(files.filter(({ oid }) => mayHold(oid)).length <= 2);
  });

  it("list a few new commits without writing, many with", async () => {
    await open().build(indexed, undefined, signal);
    const before = await readFile(join(dir, "graph.msgpack"));
    const commits = [tip];
    for (let at = 0; at < 40; at++) {
      const commit = `tree ${tree}\nparent ${commits.at(-1)}\n` +
        `author A <a@a> ${1800000000 + at} +0000\ncommitter A <a@a> ${
          1800000000 + at
        } +0000\n\nm\n`;
      commits.push(putObject(dir, "commit", commit));
    }
    store.refresh();
    for (const [count, rows] of [[10, 1400], [40, 1440]] as const) {
      const refs = new Map([["refs/heads/main", { oid: commits[count] ?? "" }]]);
      const indexes = open();
      assertEquals(await indexes.growGraph({ refs, cid: `at ${count}` }), true);
      assertEquals(open().graph.columns.count, rows);
    }
    assert(before.length < (await readFile(join(dir, "graph.msgpack"))).length);
  });

  it("are made anew when they are missing, cut short, of another version or something else", async () => {
    await open().build(indexed, tree, signal);
    const graph = join(dir, "graph.msgpack");
    const search = join(dir, "search.msgpack");
    const whole = await readFile(graph);
    const other = Uint8Array.from(whole);
    new DataView(other.buffer).setFloat64(1 + 5 + 8, 99, true);
    for (const bytes of [whole.subarray(0, whole.length - 1), other, utf8("nonsense"), utf8("")]) {
      await writeFile(graph, bytes);
      assertEquals(open().graph.columns.count, 0);
      assertEquals(logOf(open()), history);
    }
    await open().build(indexed, tree, signal);
    assertEquals(open().graph.columns.count, 1400);
    await truncate(search, 1000);
    assertEquals(open().trigrams.columns.count, 0);
    await open().build(indexed, tree, signal);
    assertEquals(open().trigrams.columns.count, 300);
  });

  it("notice a byte that is another wherever it is, and are made anew without it", async () => {
    let noticed = 0;
    const ask = async (indexes: Indexes): Promise<unknown> => {
      try {
        const mayHold = indexes.trigrams.holders("line of 1399 ");
        const found = indexes.files(tree).filter(({ oid }) =>
          mayHold(oid) !== false && lineFinder("line of 1399 ")(readObject(store, oid, "blob"))[0]
        );
        return [logOf(indexes), found];
      } catch (error) {
        assertEquals(error instanceof CorruptError && error.code, "corrupt.index");
        noticed++;
        assertEquals(await dropDamagedIndexes(dir), true);
        return await ask(open());
      }
    };
    await open().build(indexed, tree, signal);
    const right = await ask(open());
    for (const name of ["graph.msgpack", "search.msgpack"]) {
      const whole = await readFile(join(dir, name));
      noticed = 0;
      for (let place = 7; place < whole.length; place += Math.ceil(whole.length / 15)) {
        const bytes = Uint8Array.from(whole);
        bytes[place] = (bytes[place] ?? 0) ^ 0x10;
        await writeFile(join(dir, name), bytes);
        assertEquals(await ask(open()), right, `${name} at ${place}`);
        await writeFile(join(dir, name), bytes);
        const grown = open();
        await grown.build(indexed, tree, signal);
        assertEquals(await ask(grown), right, `${name} at ${place}, grown`);
        await writeFile(join(dir, name), whole);
      }
      assert(noticed >= 7, `${name}: ${noticed}`);
      assertEquals(await dropDamagedIndexes(dir), false);
    }
  });

  it("give commits to long walks and short ones", async () => {
    const all = git(dir, "rev-list", "main").split("\n");
    for (const indexes of [open(), open()]) {
      for (const most of [20, all.length]) {
        const commits = log({ commits: indexes.commits(), tips: [tip] });
        assertEquals([...commits.take(most)], all.slice(0, most));
      }
      await open().build(indexed, undefined, signal);
    }
  });

  it("are MessagePack that others can read", async () => {
    await open().build(indexed, tree, signal);
    const value = new Unpackr({ moreTypes: true }).unpack(
      await readFile(join(dir, "graph.msgpack")),
    );
    assertEquals(value.map((column: object) => column.constructor.name), [
      "Float64Array",
      "Uint32Array",
      "Uint8Array",
      "Uint8Array",
      "Float64Array",
      "Int32Array",
      "Int32Array",
      "Int32Array",
      "Uint32Array",
      "Uint32Array",
      "Uint8Array",
      "Uint8Array",
    ]);
  });

  it("are the same files however they were made", async () => {
    const files = async () => [
      (await readFile(join(dir, "graph.msgpack"))).toHex(),
      (await readFile(join(dir, "search.msgpack"))).toHex(),
    ];
    await open().build(indexed, tree, signal);
    const built = await files();
    await rm(join(dir, "graph.msgpack"));
    await rm(join(dir, "search.msgpack"));
    while (!await open().growGraph(indexed));
    while (!await open().growTrigrams(tree));
    assertEquals(await files(), built);
  });

  it("do without a folder that can be written", async () => {
    const indexes = new Indexes(join(temp.path, "nowhere"), store);
    await indexes.build(indexed, tree, signal);
    assertEquals(indexes.graph.columns.count, 1400);
    assertEquals(logOf(indexes), history);
  });
});
