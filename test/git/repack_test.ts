import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { CorruptError } from "../../core/errors.ts";
import { concat, utf8 } from "../../core/git/bytes.ts";
import { formatEntryHeader } from "../../core/git/entry.ts";
import { hashObject } from "../../core/git/hash.ts";
import { repack, type Repacked } from "../../core/git/repack.ts";
import { openStore } from "../../core/git/store.ts";
import {
  buildLongRepo,
  buildOddRepo,
  git,
  gitBytes,
  initRepo,
  listObjects,
  putObject,
  sampleText,
  tempDir,
} from "../support/git.ts";

const quiet = { signal: new AbortController().signal, progress: () => {} };

/** Repacks a repository and lets git index the result into a fresh one beside it. */
async function repackBeside(
  dir: string,
  tips: readonly string[],
): Promise<Repacked & { fresh: string }> {
  const fresh = initRepo(mkdtempSync(`${dir}-`), { bare: true });
  const store = openStore(dir);
  try {
    const file = join(fresh, "whole");
    const packed = await repack(store, tips, file, quiet);
    git(fresh, "index-pack", "--strict", "-o", join(fresh, "whole.idx"), file);
    gitBytes(fresh, readFileSync(file), "index-pack", "--stdin");
    return { ...packed, fresh };
  } finally {
    store.close();
  }
}

function tipsOf(dir: string): string[] {
  return git(dir, "for-each-ref", "--format=%(objectname)").split("\n").filter((line) => line);
}

function reachable(dir: string, ...tips: string[]): string[] {
  return git(dir, "rev-list", "--objects", ...tips).split("\n").map((line) => line.slice(0, 40))
    .sort();
}

function held(dir: string): string[] {
  return listObjects(dir).map(({ oid }) => oid).sort();
}

function packBytes(dir: string): number {
  const [, size = ""] = /size-pack: (\d+)/.exec(git(dir, "count-objects", "-v")) ?? [];
  return Number(size) * 1024;
}

describe("repack", () => {
  it("keeps just what all refs reach, from loose objects, one pack or several", async () => {
    using temp = tempDir();
    const dir = join(buildOddRepo(join(temp.path, "odd")), ".git");
    putObject(dir, "blob", "reached by nothing");
    const expected = reachable(dir, "--all");
    for (const pack of [[], ["repack", "-q", "-d"], ["repack", "-q", "-adf"]]) {
      if (pack.length > 0) git(dir, ...pack);
      const { fresh, objects, bytes, sha256, file } = await repackBeside(dir, tipsOf(dir));
      assertEquals(held(fresh), expected);
      assertEquals(objects, expected.length);
      assertEquals(bytes, statSync(file).size);
      assertEquals(sha256, createHash("sha256").update(readFileSync(file)).digest("hex"));
      git(dir, "update-ref", "refs/heads/more", git(dir, "commit-tree", "-m", "x", "main^{tree}"));
      git(dir, "repack", "-q", "-d");
      git(dir, "update-ref", "-d", "refs/heads/more");
    }
  });

  it("keeps deltas: the pack is as small as the one git made", async () => {
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "long"), { commits: 400 });
    const { fresh, bytes } = await repackBeside(dir, tipsOf(dir));
    assertEquals(held(fresh), reachable(dir, "--all"));
    assert(bytes < packBytes(dir) * 1.02, `${bytes} for ${packBytes(dir)}`);
  });

  it("cuts chains at 50 deltas, as git does, however long they were", async () => {
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "long"), { commits: 300, files: 3 });
    const longest = (repo: string) => {
      const [index = ""] = readdirSync(join(repo, "objects/pack")).filter((name) =>
        name.endsWith(".idx")
      );
      const said = git(repo, "verify-pack", "-v", join("objects/pack", index));
      return Math.max(...[...said.matchAll(/^chain length = (\d+)/gm)].map(([, n]) => Number(n)));
    };
    // With threads git's chains are now longer, now shorter.
    const deep = ["--depth=200", "--window=50", "--threads=1"];
    git(dir, "repack", "-q", "-adf", ...deep);
    assert(longest(dir) > 50, `${longest(dir)}`);
    const { fresh } = await repackBeside(dir, tipsOf(dir));
    assertEquals(longest(fresh), 50);
    assertEquals(held(fresh), reachable(dir, "--all"));
  });

  it("takes deltas that name their bases for ones that count back", async () => {
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "long"), { commits: 200 });
    const before = packBytes(dir);
    git(dir, "-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-adf");
    const { fresh, bytes } = await repackBeside(dir, tipsOf(dir));
    assertEquals(held(fresh), reachable(dir, "--all"));
    assert(bytes < before * 1.15, `${bytes} for ${before}`);
  });

  it("makes whole what was made on an object that is left out", async () => {
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "long"), { commits: 200 });
    const old = git(dir, "rev-parse", "main~150");
    const { fresh } = await repackBeside(dir, [old]);
    assertEquals(held(fresh), reachable(dir, old));
  });

  it("joins packs that came thin, and takes an object of several packs once", async () => {
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "long"), { commits: 120 });
    const pieces = initRepo(join(temp.path, "pieces"), { bare: true });
    for (const range of ["main~80", "main~40\n^main~80", "main\n^main~40"]) {
      const options = ["--revs", "--thin", "--stdout", "--delta-base-offset"];
      const pack = gitBytes(dir, `${range}\n`, "pack-objects", "-q", ...options);
      gitBytes(pieces, pack, "index-pack", "--stdin", "--fix-thin");
    }
    assert(packBytes(pieces) > packBytes(dir) * 1.1);
    const { fresh, bytes } = await repackBeside(pieces, tipsOf(dir));
    assertEquals(held(fresh), reachable(dir, "--all"));
    assert(bytes < packBytes(dir) * 1.15, `${bytes} for ${packBytes(dir)}`);
  });

  it("breaks a circle of deltas that two packs make together", async () => {
    using temp = tempDir();
    const dir = initRepo(join(temp.path, "circle"), { bare: true });
    const shared = sampleText(3000).slice(0, 3000);
    const [one, two] = [`${shared}1`, `${shared}2`];
    installPack(dir, one, { on: one, letter: "2" });
    installPack(dir, two, { on: two, letter: "1" });
    const tips = [one, two].map((text) => hashObject("blob", utf8(text)));
    const { fresh, objects } = await repackBeside(dir, tips);
    assertEquals(objects, 2);
    assertEquals(held(fresh), tips.sort());
  });

  it("keeps the objects it is told to keep beside those, and not what they reach", async () => {
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "long"), { commits: 40 });
    const old = git(dir, "rev-parse", "main~20");
    const also = [git(dir, "rev-parse", "main"), git(dir, "rev-parse", "main^{tree}"), old];
    const file = join(temp.path, "pack");
    const store = openStore(dir);
    await repack(store, [old], file, { ...quiet, also });
    store.close();
    const fresh = initRepo(join(temp.path, "fresh"), { bare: true });
    gitBytes(fresh, readFileSync(file), "index-pack", "--stdin");
    assertEquals(held(fresh), [...new Set([...reachable(dir, old), ...also])].sort());
  });

  it("writes an empty pack for no tips", async () => {
    using temp = tempDir();
    const dir = initRepo(join(temp.path, "empty"), { bare: true });
    const { objects, bytes } = await repackBeside(dir, []);
    assertEquals([objects, bytes], [0, 32]);
  });

  it("refuses a tip whose history is not whole, and leaves no file", async () => {
    using temp = tempDir();
    const dir = initRepo(join(temp.path, "torn"), { bare: true });
    const tree = putObject(dir, "tree", "");
    const person = "A <a@a.test> 1700000000 +0000";
    const gone = "1".repeat(40);
    const torn = putObject(
      dir,
      "commit",
      `tree ${tree}\nparent ${gone}\nauthor ${person}\ncommitter ${person}\n\nx\n`,
    );
    const store = openStore(dir);
    const file = join(temp.path, "pack");
    const error = await assertRejects(() => repack(store, [torn], file, quiet), CorruptError);
    assert(error.message.includes(gone));
    await assertRejects(() => repack(store, [gone], file, quiet), CorruptError);
    assert(!existsSync(file));
  });

  it("ends when it is told to, and leaves no file", async () => {
    using temp = tempDir();
    const dir = buildLongRepo(join(temp.path, "long"), { commits: 300 });
    const store = openStore(dir);
    const file = join(temp.path, "pack");
    const controller = new AbortController();
    const progress = (text: string) => {
      if (text === "writing objects") controller.abort(new Error("enough"));
    };
    const { signal } = controller;
    await assertRejects(
      () => repack(store, tipsOf(dir), file, { signal, progress }),
      Error,
      "enough",
    );
    assert(!existsSync(file));
  });
});

/** Puts a pack in a repository: a blob, and another made on it that has another last letter. */
function installPack(dir: string, whole: string, { on, letter }: { on: string; letter: string }) {
  const size = on.length;
  const varint = [size % 128 | 0x80, size >>> 7];
  const copied = size - 1;
  const copy = [0xb0, copied & 255, copied >>> 8];
  const delta = Uint8Array.of(...varint, ...varint, ...copy, 1, letter.charCodeAt(0));
  const first = concat([
    Uint8Array.from(formatEntryHeader("blob", size)),
    deflateSync(utf8(whole)),
  ]);
  const body = concat([
    utf8("PACK"),
    Uint8Array.of(0, 0, 0, 2, 0, 0, 0, 2),
    first,
    Uint8Array.from(formatEntryHeader(first.length, delta.length)),
    deflateSync(delta),
  ]);
  const trailer = createHash("sha1").update(body).digest();
  const path = join(dir, "objects", "pack", `pack-${trailer.toString("hex")}.pack`);
  mkdirSync(join(dir, "objects", "pack"), { recursive: true });
  writeFileSync(path, concat([body, trailer]));
  git(dir, "index-pack", path);
}
