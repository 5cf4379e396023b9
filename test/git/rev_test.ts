import { assertEquals, assertThrows } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { ConflictError, NotFoundError, UsageError } from "../../core/errors.ts";
import { checkRefFits, checkRefName, checkShortName } from "../../core/git/refname.ts";
import {
  isEmptyScope,
  peel,
  resolveCommit,
  resolveRev,
  type RevScope,
} from "../../core/git/rev.ts";
import { git, gitLines } from "../support/git.ts";
import { loadObjects, makeHistory } from "../support/history.ts";

let dir = "";
let scope: RevScope;

function parse(rev: string): string {
  return gitLines(dir, "rev-parse", "--verify", "--end-of-options", rev)[0] ?? "";
}

describe("rev", () => {
  beforeAll(async () => {
    dir = await Deno.makeTempDir();
    makeHistory(dir, 3, 250);
    git(dir, "tag", "light", "main~3");
    git(dir, "tag", "-a", "-m", "a tag", "heavy", "main~2");
    git(dir, "tag", "-a", "-m", "a tag of a tag", "nested", "heavy");
    git(dir, "tag", "both", "main~5");
    git(dir, "branch", "both", "main~1");
    git(dir, "tag", "tree", "main^{tree}");
    git(dir, "branch", "feature/x", "main~4");
    const refs = new Map<string, string>();
    for (const line of gitLines(dir, "for-each-ref", "--format=%(objectname) %(refname)")) {
      refs.set(line.slice(41), line.slice(0, 40));
    }
    scope = { objects: loadObjects(dir), refs, head: "refs/heads/main" };
  });
  afterAll(() => Deno.remove(dir, { recursive: true }));

  it("resolves refs and what follows them as git rev-parse does", () => {
    const bases = ["HEAD", "main", "feature/x", "heavy", "nested", "light", "refs/tags/heavy"];
    const suffixes = ["", "~", "^", "~0", "^0", "~1", "~7", "^1", "~2^", "^^", "^{commit}"];
    for (const base of bases) {
      for (const suffix of [...suffixes, "^{commit}~3", "~3^{commit}^0~"]) {
        assertEquals(resolveRev(scope, base + suffix), parse(base + suffix), base + suffix);
        assertEquals(resolveCommit(scope, base + suffix), parse(`${base}${suffix}^{commit}`));
      }
    }
  });

  it("follows the second parent of a merge", () => {
    const [merge = ""] = gitLines(dir, "rev-list", "--merges", "--all");
    assertEquals(resolveRev(scope, `${merge}^2`), parse(`${merge}^2`));
    assertThrows(() => resolveRev(scope, `${merge}^9`), NotFoundError, "has no parent 9");
  });

  it("takes a branch before a tag, unlike git", () => {
    assertEquals(resolveRev(scope, "both"), parse("main~1"));
    assertEquals(resolveRev(scope, "refs/tags/both"), parse("main~5"));
  });

  it("resolves object ids and their unique prefixes, in either case", () => {
    for (const oid of gitLines(dir, "rev-list", "--all").slice(0, 50)) {
      for (const length of [8, 12, 39, 40]) {
        assertEquals(resolveCommit(scope, oid.slice(0, length)), oid);
        assertEquals(resolveCommit(scope, oid.slice(0, length).toUpperCase()), oid);
      }
    }
  });

  it("names the candidates of an ambiguous prefix, and takes the one commit among them", () => {
    const [commit, other, blob] = ["abcd1", "abcd2", "abcd3"].map((start) => start.padEnd(40, "0"));
    const kinds = new Map([[commit, "commit"], [other, "commit"], [blob, "blob"]] as const);
    const among = (...oids: (string | undefined)[]): RevScope => ({
      refs: new Map(),
      head: "refs/heads/main",
      objects: {
        has: (oid) => kinds.has(oid),
        read: () => undefined,
        info: (oid) => ({ kind: kinds.get(oid) ?? "blob", size: 1 }),
        find: () => oids.filter((oid) => oid !== undefined),
      },
    });
    assertEquals(resolveCommit(among(commit, blob), "abcd"), commit);
    const error = assertThrows(() => resolveCommit(among(commit, other, blob), "abcd"), UsageError);
    assertEquals(
      error.message,
      `abcd is ambiguous: it could be ${commit} (commit), ${other} (commit) or others`,
    );
    assertThrows(
      () => resolveCommit(among(blob), "abcd"),
      NotFoundError,
      "is a blob, not a commit",
    );
  });

  it("says that nothing is named so", () => {
    assertThrows(
      () => resolveRev(scope, "nowhere"),
      NotFoundError,
      'there is no branch, tag or commit "nowhere"',
    );
    assertThrows(() => resolveRev(scope, "refs/heads/nowhere"), NotFoundError);
    assertThrows(() => resolveRev(scope, "0".repeat(40)), NotFoundError, "there is no object 0000");
    assertThrows(() => resolveRev(scope, "main~100000"), NotFoundError, "before the first commit");
    assertThrows(() => resolveCommit(scope, "tree"), NotFoundError, "is a tree, not a commit");
  });

  it("refuses the rest of git's grammar and says what it takes", () => {
    for (
      const rev of [
        "",
        "@",
        "@{1}",
        "main@{yesterday}",
        "main..both",
        "main...both",
        "^main",
        "-x",
        ":/fix",
        "main:a.txt",
        "main^{tree}",
        "main^{}",
        "main^{/fix}",
        "main^-",
        "main^!",
        "main^@",
        "main~x",
        "main ~1",
        "a\nb",
        "HEAD~9999999999",
      ]
    ) {
      assertThrows(() => resolveRev(scope, rev), UsageError, "is not a rev: give HEAD, a branch");
    }
  });

  it("tells an empty repository, whose HEAD names nothing", () => {
    const empty = { ...scope, refs: new Map<string, string>() };
    assertEquals([isEmptyScope(empty), isEmptyScope(scope)], [true, false]);
    assertThrows(() => resolveRev(empty, "HEAD"), NotFoundError, "which does not exist");
  });

  it("peels tags to commits and trees, and nothing to what it is not", () => {
    const { objects } = scope;
    const nested = parse("nested");
    assertEquals(peel(objects, nested, "commit"), parse("main~2"));
    assertEquals(peel(objects, nested, "tree"), parse("main~2^{tree}"));
    assertEquals(peel(objects, nested, "tag"), nested);
    assertEquals(peel(objects, nested, "blob"), undefined);
  });
});

describe("ref names", () => {
  it("takes the names git check-ref-format takes", async () => {
    const pieces = [
      "a",
      ".",
      "..",
      "/",
      "@",
      "{",
      "@{",
      "~",
      " ",
      ".lock",
      "é",
      "\\",
      "*",
      "-",
      "x.y",
    ];
    const names = pieces.flatMap((one) =>
      pieces.flatMap((two) => [one + two, `a${one}b${two}`, `${one}/${two}`])
    );
    for (const name of new Set(names)) {
      if (name.startsWith("-") || name === "@") continue;
      const { success } = await new Deno.Command("git", {
        args: ["check-ref-format", `refs/heads/${name}`],
      }).output();
      let isTaken = true;
      try {
        checkRefName(`refs/heads/${name}`);
      } catch {
        isTaken = false;
      }
      assertEquals(isTaken, success, name);
    }
  });

  it("has limits of its own", () => {
    for (
      const name of ["-x", "HEAD", "@", "a".repeat(40), "é".repeat(101), "\ud800", "", "a\u0000"]
    ) {
      assertThrows(() => checkShortName("branch", name), UsageError, "cannot name a branch: it ");
      assertThrows(() => checkRefName(`refs/tags/${name}`), UsageError);
    }
    for (
      const ref of ["HEAD", "heads/main", "refs/knotless/x", `refs/x/${"y".repeat(300)}`]
    ) {
      assertThrows(() => checkRefName(ref), UsageError, "cannot be a ref: it ");
    }
    for (const ref of ["refs/x", "refs/heads", "refs/knotless"]) {
      assertThrows(() => checkRefName(ref), UsageError, "it is in no folder below refs/");
    }
    checkRefName("refs/notes/commits");
    checkShortName("tag", "v1.0");
  });

  it("keeps a name and one below it apart", () => {
    assertThrows(() => checkRefFits("refs/heads/a", ["refs/heads/a/b"]), ConflictError);
    assertThrows(() => checkRefFits("refs/heads/a/b/c", ["refs/heads/a"]), ConflictError);
    checkRefFits("refs/heads/a", ["refs/heads/a", "refs/heads/ab", "refs/tags/a/b"]);
  });
});
