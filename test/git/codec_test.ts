import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { CorruptError, UsageError } from "../../core/errors.ts";
import { sameBytes, utf8 } from "../../core/git/bytes.ts";
import { commitText, formatCommit, parseCommit } from "../../core/git/commit.ts";
import { hashObject } from "../../core/git/hash.ts";
import { formatIdentity, parseIdentity, zoneMinutes } from "../../core/git/identity.ts";
import { quoteGitPath, quotePath, unquotePath } from "../../core/git/path.ts";
import { formatTag, parseTag } from "../../core/git/tag.ts";
import { compareEntries, formatTree, parseTree } from "../../core/git/tree.ts";
import {
  buildLongRepo,
  buildOddRepo,
  catObjects,
  git,
  gitBytes,
  listObjects,
  putObject,
  randomNumbers,
  tempDir,
} from "../support/git.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

describe("the codecs", () => {
  it("give back every object of a repository byte by byte, with its oid", () => {
    using temp = tempDir();
    for (
      const dir of [
        buildOddRepo(join(temp.path, "odd")),
        buildLongRepo(join(temp.path, "long"), { commits: 50 }),
      ]
    ) {
      const listed = listObjects(dir);
      const contents = catObjects(dir, listed.map(({ oid }) => oid));
      listed.forEach(({ oid, kind }, i) => {
        const bytes = contents[i] ?? new Uint8Array();
        if (kind === "commit") assert(sameBytes(formatCommit(parseCommit(bytes)), bytes), oid);
        if (kind === "tree") assert(sameBytes(formatTree(parseTree(bytes)), bytes), oid);
        if (kind === "tag") assert(sameBytes(formatTag(parseTag(bytes)), bytes), oid);
        if (kind === "commit" || kind === "tree" || kind === "blob" || kind === "tag") {
          assertEquals(hashObject(kind, bytes), oid);
        }
      });
    }
  });

  it("keep headers they do not know, on several lines too", () => {
    const raw = `tree ${"a".repeat(40)}\nparent ${"b".repeat(40)}\nparent ${"c".repeat(40)}
author A U Thor <a@b.test> 1234567890 +0530\ncommitter C <c@d.test> 1234567891 -0800
encoding ISO-8859-1\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n wsBc\n =\n -----END PGP SIGNATURE-----
HG:extra rebase_source:1\n\nsubject\n\nbody\n`;
    const commit = parseCommit(utf8(raw));
    assertEquals(commit.parents, ["b".repeat(40), "c".repeat(40)]);
    assertEquals(commit.extra?.map(({ name }) => name), ["gpgsig", "HG:extra"]);
    assertEquals(
      text(commit.extra?.[0]?.value ?? new Uint8Array()),
      "-----BEGIN PGP SIGNATURE-----\n\nwsBc\n=\n-----END PGP SIGNATURE-----",
    );
    assertEquals(commit.author.time, 1234567890);
    assertEquals(commit.committer.zone, "-0800");
    assertEquals(text(commit.message), "subject\n\nbody\n");
    assertEquals(text(formatCommit(commit)), raw);
  });

  it("read a commit whatever its message lacks", () => {
    const tree = `tree ${"a".repeat(40)}\n`;
    assertEquals(text(parseCommit(utf8(tree)).message), "");
    assertEquals(text(parseCommit(utf8(`${tree}\n`)).message), "");
    assertEquals(text(parseCommit(utf8(`${tree}author A <a> 1 +0000`)).author.name), "A");
    assertEquals(parseCommit(utf8(`${tree}\nparent of all`)).parents, []);
    for (const bad of ["", "\n", "parent x\n", "tree abc\n\n", `${tree}parent xyz\n`]) {
      assertThrows(() => parseCommit(utf8(bad)), CorruptError);
    }
    assertThrows(
      () => parseTag(utf8(`object ${"a".repeat(40)}\ntype soup\ntag x\n\n`)),
      CorruptError,
    );
  });

  it("read author lines as git does, broken ones too", () => {
    using temp = tempDir();
    const dir = buildOddRepo(join(temp.path, "odd"));
    const tree = git(dir, "rev-parse", "HEAD^{tree}");
    const lines = [
      "A U Thor <a@b.test> 1234567890 +0200",
      "A<a@b.test> 1 +0000",
      "<a@b.test> 1 +0000",
      "  A   <a@b.test>  5   -0330",
      "A <a@b.test> more <x> 77 +0100",
      "A <a@b.test>",
      "A <a@b.test> xyz +0000",
      "A <a@b.test> 12",
      "A < a@b.test > 3 +0000",
      "A <> 3 +1400",
    ];
    for (const line of lines) {
      const oid = putObject(
        dir,
        "commit",
        `tree ${tree}\nauthor ${line}\ncommitter ${line}\n\nx\n`,
      );
      const [name, email, time] = git(dir, "log", "-1", "--format=%an%x00%ae%x00%at", oid)
        .split("\0");
      const identity = parseIdentity(utf8(line));
      assertEquals(text(identity.name), name, line);
      assertEquals(text(identity.email), email, line);
      assertEquals(String(identity.time || ""), time, line);
    }
    for (const line of ["A <a@b.test> 1 +0000", " <> 1 -0700", " <a@b.test> 1 +0000"]) {
      assertEquals(text(formatIdentity(parseIdentity(utf8(line)))), line);
    }
    const sly = { name: utf8("A <x>\n"), email: utf8("a>b\0"), time: 1, zone: "+0000" };
    assertEquals(text(formatIdentity(sly)), "A x <ab> 1 +0000");
    assertEquals(zoneMinutes("-0330"), -210);
    assertEquals(zoneMinutes("+0530"), 330);
  });

  it("decode messages by their encoding, and show what does not fit it", () => {
    assertEquals(commitText(Uint8Array.of(0x63, 0xe9, 0x93), "ISO-8859-1"), "c\u00e9\u0093");
    assertEquals(commitText(utf8("café"), undefined), "café");
    assertEquals(commitText(Uint8Array.of(0x63, 0xe9), "UTF-8"), "c\ufffd");
    assertEquals(commitText(Uint8Array.of(0x82, 0xa0), "Shift_JIS"), "あ");
    assertEquals(commitText(utf8("é"), "no such encoding"), "é");
  });

  it("put the entries of a tree in git's order", () => {
    using temp = tempDir();
    const dir = buildOddRepo(join(temp.path, "odd"));
    const blob = git(dir, "rev-parse", "HEAD:empty");
    const tree = git(dir, "rev-parse", "HEAD^{tree}");
    const names = ["a", "a.b", "a0", "a-b", "ab", "A", "é", "a b", "z/".slice(0, 1)];
    const entries = names.map((name, i) => ({
      mode: i % 2 === 0 ? 0o40000 : 0o100644,
      name: utf8(name),
      oid: i % 2 === 0 ? tree : blob,
    }));
    const lines = entries.map(({ mode, name, oid }) =>
      `${mode.toString(8).padStart(6, "0")} ${mode === 0o40000 ? "tree" : "blob"} ${oid}\t${
        text(name)
      }\n`
    );
    const expected = text(gitBytes(dir, lines.reverse().join(""), "mktree")).trim();
    assertEquals(hashObject("tree", formatTree(entries)), expected);
    assert(
      compareEntries({ mode: 0o40000, name: utf8("a") }, { mode: 0o100644, name: utf8("a.b") }) > 0,
    );
  });

  it("refuse a tree that is cut short anywhere but between entries", () => {
    const bytes = formatTree([
      { mode: 0o100644, name: utf8("one"), oid: "a".repeat(40) },
      { mode: 0o40000, name: utf8("two"), oid: "b".repeat(40) },
    ]);
    for (let end = 1; end < bytes.length; end++) {
      if (end === bytes.length / 2) continue;
      if (parsesTo(bytes.subarray(0, end)) !== undefined) {
        assertEquals(parsesTo(bytes.subarray(0, end)), 1);
      }
    }
    assertEquals(parsesTo(bytes), 2);
  });
});

function parsesTo(bytes: Uint8Array): number | undefined {
  try {
    return parseTree(bytes).length;
  } catch (error) {
    assert(error instanceof CorruptError);
    return undefined;
  }
}

describe("paths", () => {
  it("are shown as they are unless they would mislead", () => {
    assertEquals(quotePath(utf8("docs/naïve 日本.md")), "docs/naïve 日本.md");
    assertEquals(quotePath(Uint8Array.of(0x63, 0xe9)), '"c\\351"');
    assertEquals(quotePath(utf8('a"b\\c\n\x01\x7f')), '"a\\"b\\\\c\\n\\001\\177"');
    assertEquals(quotePath(utf8('é"')), '"\\303\\251\\""');
    assertEquals(quotePath(utf8("a\u0085b")), '"a\\302\\205b"');
    assertEquals(quotePath(utf8("a\u202egpj.txt")), '"a\\342\\200\\256gpj.txt"');
    assertEquals(quotePath(utf8("a\u200bb")), '"a\\342\\200\\213b"');
    assertEquals(quotePath(utf8("می\u200cخواهم")), "می\u200cخواهم");
  });

  it("come back from their quoted form, whatever they hold", () => {
    const random = randomNumbers(3);
    for (let i = 0; i < 500; i++) {
      const path = Uint8Array.from({ length: random(12) }, () => random(256));
      assert(sameBytes(unquotePath(quotePath(path)), path));
      assert(sameBytes(unquotePath(quoteGitPath(path)), path));
    }
    for (const bad of ['"', '"a', '"a"b"', '"\\9"', '"\\400"', '"a\\"', '"\\q"', '"a"b']) {
      assertThrows(() => unquotePath(bad), UsageError);
    }
  });

  it("are quoted as git quotes them", () => {
    using temp = tempDir();
    const dir = buildOddRepo(join(temp.path, "odd"));
    const shown = git(dir, "ls-tree", "-r", "--name-only", "HEAD").split("\n");
    const raw = text(gitBytes(dir, undefined, "ls-tree", "-r", "--name-only", "-z", "HEAD"));
    assert(raw.includes("tab\there"));
    assertEquals(shown.map((path) => quoteGitPath(unquotePath(path))), shown);
  });
});
