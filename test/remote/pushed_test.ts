import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";
import { assertEquals, assertRejects } from "@std/assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { RefusedError } from "../../core/errors.ts";
import { unboundEnv } from "../../remote/git.ts";
import {
  findCutOff,
  type Held,
  openPushed,
  packObjects,
  resolveSources,
} from "../../remote/pushed.ts";
import { git, gitBytes, initRepo, sampleText, type TempDir, tempDir } from "../support/git.ts";

/** The environment in which git starts the helper for the repository at `dir`. */
function envOf(dir: string) {
  return {
    PATH: process.env.PATH,
    HOME: "/nonexistent",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_DIR: join(dir, ".git"),
  };
}

function commit(dir: string, file: string, text: string): string {
  writeFileSync(join(dir, file), text);
  git(dir, "add", file);
  git(dir, "commit", "-q", "-m", `change ${file}`);
  return git(dir, "rev-parse", "HEAD");
}

describe("the repository that is pushed from", () => {
  let temp: TempDir;
  let dir: string;
  let mirror: string;
  let held: Held;
  const long = sampleText(79_000, 3);

  beforeEach(() => {
    temp = tempDir();
    dir = join(temp.path, "work");
    initRepo(dir);
    const tip = commit(dir, "long", long);
    // A name that a list of folders would be cut at, and read wrongly.
    mirror = join(temp.path, 'a "mirror": of it');
    git(temp.path, "clone", "-q", "--mirror", dir, mirror);
    held = { path: mirror, tips: [tip] };
  });

  afterEach(() => temp[Symbol.dispose]());

  it("must name its objects by SHA-1", async () => {
    const other = join(temp.path, "other");
    git(temp.path, "init", "-q", "--object-format=sha256", other);
    await assertRejects(
      () => openPushed(envOf(other)),
      RefusedError,
      "mismatched algorithms: client sha256; server sha1",
    );
  });

  it("says which object a source names: a ref, an expression, an oid, or none", async () => {
    const head = git(dir, "rev-parse", "HEAD");
    const blob = git(dir, "rev-parse", "HEAD:long");
    const pushed = await openPushed(envOf(dir));
    const sources = ["refs/heads/main", "HEAD:long", head, undefined, "nothing", "HEAD^{tree}"];
    const requests = sources.map((source) => ({
      source,
      target: "refs/tags/x",
      isForced: false,
    }));
    const resolved = await resolveSources(pushed, requests, new Map([["refs/tags/x", blob]]));
    assertEquals(resolved.filter(({ before }) => before === "blob").length, 5);
    const unseen = new Map([["refs/tags/x", "1".repeat(40)]]);
    const [first] = await resolveSources(pushed, requests, unseen);
    assertEquals([first?.object?.kind, first?.before], ["commit", undefined]);
    assertEquals(resolved.map(({ object }) => object?.kind), [
      "commit",
      "blob",
      "commit",
      undefined,
      undefined,
      "tree",
    ]);
    assertEquals(resolved[1]?.object?.oid, blob);
  });

  it("packs one changed line as a delta onto what the other side has", async () => {
    const tip = commit(dir, "long", long.replace(/\n/, "\nchanged\n"));
    const file = join(temp.path, "pack");
    const pushed = await openPushed(envOf(dir));
    const options = { held, file, isHeard: false };
    assertEquals(await packObjects(pushed, [tip], { ...options, isThin: true }), {
      objects: 3,
      isBulk: false,
    });
    const thin = (await Deno.stat(file)).size;
    assertEquals(thin < 600, true, `${thin} bytes`);
    await packObjects(pushed, [tip], { ...options, isThin: false });
    gitBytes(mirror, await Deno.readFile(file), "index-pack", "--stdin", "--strict");
  });

  it("packs nothing when the other side has it all, wherever this one lacks what that has", async () => {
    const tip = git(dir, "rev-parse", "HEAD");
    const elsewhere = join(temp.path, "elsewhere");
    git(temp.path, "clone", "-q", mirror, elsewhere);
    const theirs = commit(elsewhere, "other", "theirs");
    git(elsewhere, "push", "-q", mirror, "HEAD:refs/heads/theirs");
    const pushed = await openPushed(envOf(dir));
    const { objects } = await packObjects(pushed, [tip], {
      held: { path: mirror, tips: [theirs] },
      file: join(temp.path, "pack"),
      isThin: true,
      isHeard: false,
    });
    assertEquals(objects, 0);
  });

  it("finds what would cut history off, and only that", async () => {
    const base = commit(dir, "a", "1");
    const next = commit(dir, "a", "2");
    commit(dir, "a", "3");
    const shallow = join(temp.path, "shallow");
    git(temp.path, "clone", "-q", "--depth=2", `file://${dir}`, shallow);
    const tip = commit(shallow, "b", "new");
    const pushed = await openPushed(envOf(shallow));
    assertEquals(pushed.roots, [next]);
    assertEquals([...await findCutOff(pushed, [tip], held)], [tip]);
    git(dir, "push", "-q", mirror, `${base}:refs/heads/base`);
    const reaching = { path: mirror, tips: [...held.tips, base] };
    assertEquals([...await findCutOff(pushed, [tip], reaching)], []);
  });

  it("does not tie git to itself when git serves another", async () => {
    const env = await unboundEnv({
      ...envOf(dir),
      GIT_OBJECT_DIRECTORY: "/nowhere",
      GIT_CONFIG_COUNT: "0",
      BUN_BE_BUN: "1",
    });
    assertEquals(Object.keys(env).sort(), [
      "GIT_CONFIG_GLOBAL",
      "GIT_CONFIG_NOSYSTEM",
      "HOME",
      "PATH",
    ]);
  });
});
