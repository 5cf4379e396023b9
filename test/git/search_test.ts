import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { latin1, utf8 } from "../../core/git/bytes.ts";
import { isGlob, readGlob } from "../../core/git/glob.ts";
import { readCommits } from "../../core/git/history.ts";
import type { ObjectReader, Oid } from "../../core/git/object.ts";
import { lineFinder } from "../../core/git/search.ts";
import {
  listFiles,
  readText,
  scopeOf,
  type SearchedFile,
  searchFiles,
} from "../../core/git/search_tree.ts";
import { NO_TRIGRAMS, TrigramIndex } from "../../core/git/trigram.ts";
import { TrigramGrowth } from "../../core/git/trigram_build.ts";
import { gitBytes, gitLines } from "../support/git.ts";
import { loadObjects, makeHistory } from "../support/history.ts";

let dir = "";
let objects: ObjectReader;
let tree: Oid;
let files: SearchedFile[];

function ours(text: string, path = "", index?: TrigramIndex): string[] {
  const isInScope = scopeOf(objects, tree, utf8(path)) ?? (() => false);
  const plan = {
    find: lineFinder(text),
    isInScope,
    mayHold: index?.holders(text) ?? (() => undefined),
    from: 0,
    allowance: { left: Infinity },
  };
  return [...searchFiles(objects, files, plan)].flatMap((file) =>
    file?.lines.map((line) => `${file.path}:${line + 1}`) ?? []
  );
}

async function theirs(text: string, path = "", locale = "C"): Promise<string[]> {
  const args = ["grep", "-n", "-z", "-i", "-F", "-I", "-e", text, "main"];
  const { code, stdout, stderr } = await new Deno.Command("git", {
    args: ["-C", dir, ...args, ...(path === "" ? [] : ["--", path])],
    env: { LC_ALL: locale, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" },
  }).output();
  if (code > 1) throw new Error(new TextDecoder().decode(stderr));
  return latin1(stdout).split("\n").slice(0, -1).map((line) => {
    const [file = "", number = ""] = line.split("\0");
    return `${file.replace(/^main:/, "")}:${number}`;
  });
}

/** An index of the files, extended a few at a time. */
function indexed(some: readonly SearchedFile[]): TrigramIndex {
  let columns = NO_TRIGRAMS;
  const oids = [...new Set(some.map(({ oid }) => oid))];
  for (let at = 0; at < oids.length; at += 7) {
    const growth = new TrigramGrowth(columns);
    for (const oid of oids.slice(at, at + 7)) growth.add({ oid, text: readText(objects, oid) });
    columns = growth.columns();
  }
  return new TrigramIndex(columns);
}

const queries = [
  "alpha",
  "RETURN X;",
  "if (y)",
  "\tif",
  "a",
  "int f() 3",
  "nothing has this",
  "{",
  "x",
  "kkk",
  "  ",
  "end 1",
];

describe("search", () => {
  beforeAll(async () => {
    dir = await Deno.makeTempDir();
    makeHistory(dir, 9, 200);
    const [before = ""] = gitLines(dir, "rev-parse", "main");
    const added: [string, Uint8Array | string][] = [
      ["text/cases", "été\nÉTÉ\nStraße\nSTRASSE\nΣίσυφος\nnone\n"],
      ["text/bytes", Uint8Array.of(0xe9, 0x74, 0xe9, 10, 0xc3, 0xa9, 0x61, 0x6c, 0x70, 0x68, 0x61)],
      ["text/long", `${"x".repeat(9000)} alpha\n${"y".repeat(500)}`],
      ["text/late", `${"alpha\n".repeat(1500)}\0`],
      ["text/glob[1].txt", "alpha\r\nbeta\r\n"],
      ["text/kelvin", "10 \u212a and \u017fet é\n"],
    ];
    const encoded = added.map(([path, content]) => {
      const bytes = typeof content === "string" ? utf8(content) : content;
      return `M 100644 inline ${path}\ndata ${bytes.length}\n${latin1(bytes)}\n`;
    });
    const commit = `commit refs/heads/main\ncommitter N <n@e> 1800000000 +0000\ndata 1\nm\n` +
      `from ${before}\n${encoded.join("")}`;
    gitBytes(
      dir,
      Uint8Array.from(commit, (letter) => letter.charCodeAt(0)),
      "fast-import",
      "--quiet",
      "--force",
    );
    objects = loadObjects(dir);
    const [tip = ""] = gitLines(dir, "rev-parse", "main");
    tree = readCommits(objects).commit(tip).tree;
    files = listFiles(objects, tree);
  });
  afterAll(() => Deno.remove(dir, { recursive: true }));

  it("finds the lines git grep finds, with an index of all files, of some, and of none", async () => {
    let hits = 0;
    const indexes = [undefined, indexed(files), indexed(files.slice(0, 20))];
    for (const query of queries) {
      const wanted = await theirs(query);
      for (const index of indexes) assertEquals(ours(query, "", index), wanted, query);
      hits += wanted.length;
    }
    Deno.stderr.writeSync(utf8(`    search: ${hits} of ${hits} hits are git's\n`));
    assert(hits > 500, `${hits} hits`);
  });

  it("finds letters beyond ASCII in any case as git does in a UTF-8 locale", async () => {
    const index = indexed(files);
    for (const query of ["été", "ÉTÉ", "straße", "Σ", "ς", "ίσ", "K and ſET É", "éalpha"]) {
      const wanted = await theirs(query, "", "C.UTF-8");
      assert(wanted.length > 0, query);
      for (const used of [undefined, index]) assertEquals(ours(query, "", used), wanted, query);
    }
  });

  it("looks where git's pathspec looks", async () => {
    const paths = [
      "text",
      "text/",
      "src/deep",
      "*.txt",
      "src/*.c",
      "s*/x",
      "?ext/*",
      "text/glob[[]1].txt",
      "text/glob\\[1\\].txt",
      "text/glob[1].txt",
      "*[a-c].*",
      "*[!a-c]",
      "[^s]*/*",
      "*[[:upper:]]*",
      "te?t",
      "**/a.txt",
      "*/a.txt",
      "none",
      "*[",
      "*\\",
      "",
    ];
    for (const path of paths) {
      assertEquals(ours("a", path.replace(/\/$/, "")), await theirs("a", path), path);
    }
  });

  it("stops before the file that the allowance does not reach and goes on from there", () => {
    const all = ours("a");
    const found: string[] = [];
    let from: number | undefined = 0;
    let rounds = 0;
    while (from !== undefined) {
      const steps = searchFiles(objects, files, {
        find: lineFinder("a"),
        isInScope: () => true,
        mayHold: () => undefined,
        from,
        allowance: { left: 300 },
      });
      let step = steps.next();
      for (; !step.done; step = steps.next()) {
        const { path, lines = [] } = step.value ?? {};
        found.push(...lines.map((line) => `${path}:${line + 1}`));
      }
      from = step.value;
      rounds++;
    }
    assertEquals(found, all);
    assert(rounds > 3, `${rounds} rounds`);
  });
});

describe("a glob", () => {
  it("is told from a plain path", () => {
    assertEquals(["a/b.ts", "a*", "a?", "[a]", "a\\*"].map(isGlob), [
      false,
      true,
      true,
      true,
      true,
    ]);
  });

  it("does not take long however many stars it has", () => {
    const fits = readGlob("*a".repeat(1000) + "b");
    assertEquals(fits("a".repeat(4000)), false);
  });
});
