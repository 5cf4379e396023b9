import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { CorruptError } from "../../core/errors.ts";
import { concat, utf8 } from "../../core/git/bytes.ts";
import { checkObject, findFaults } from "../../core/git/check.ts";
import { hashObject } from "../../core/git/hash.ts";
import type { ObjectKind } from "../../core/git/object.ts";
import { openStore } from "../../core/git/store.ts";
import {
  buildLongRepo,
  buildOddRepo,
  commitFiles,
  git,
  initRepo,
  listObjects,
  putObject,
  randomNumbers,
  tempDir,
  tryGit,
} from "../support/git.ts";

/** What git's check says of each object, by oid. */
function gitFaults(dir: string): Map<string, Set<string>> {
  const run = tryGit(dir, undefined, "fsck", "--strict", "--no-dangling", "--no-reflogs");
  const found = new Map<string, Set<string>>();
  for (const line of run.err.split("\n")) {
    const [, oid = "", id = ""] = /(?:error|warning) in \w+ ([0-9a-f]{40}): (\w+)/.exec(line) ?? [];
    if (id !== "" && id !== "broken") found.set(oid, (found.get(oid) ?? new Set()).add(id));
  }
  return found;
}

function ids(kind: ObjectKind, bytes: Uint8Array): string[] {
  return findFaults(kind, bytes).map(({ id }) => id).sort();
}

describe("findFaults", () => {
  it("finds nothing in what git writes", () => {
    using temp = tempDir();
    for (
      const dir of [
        join(buildOddRepo(join(temp.path, "odd")), ".git"),
        buildLongRepo(join(temp.path, "long"), { commits: 60 }),
      ]
    ) {
      const store = openStore(dir);
      for (const { oid } of listObjects(dir)) {
        const object = store.read(oid);
        if (object) checkObject(object.kind, object.bytes, oid, { strict: true });
      }
    }
  });

  it("finds in trees what git finds", () => {
    using temp = tempDir();
    const dir = initRepo(join(temp.path, "repo"));
    commitFiles(dir, "one", { "a/b": "text\n" });
    const blob = Uint8Array.fromHex(git(dir, "rev-parse", "HEAD:a/b"));
    const tree = Uint8Array.fromHex(git(dir, "rev-parse", "HEAD:a"));
    const none = new Uint8Array(20);
    const entry = (
      mode: string,
      name: string | Uint8Array,
      oid = mode.endsWith("40000") ? tree : blob,
    ) =>
      concat([
        utf8(`${mode} `),
        typeof name === "string" ? utf8(name) : name,
        Uint8Array.of(0),
        oid,
      ]);
    const names = [
      ...[
        "ok",
        ".",
        "..",
        ".git",
        ".GIT",
        ".giT",
        "git~1",
        "GIT~1",
        "git~2",
        ".git ",
        ".git.",
        ".git. .",
        ".git::$DATA",
      ],
      ...[
        ".git:x",
        ".gitx",
        "x.git",
        ".git\u200c",
        ".g\u200dit",
        "\ufeff.git",
        ".g\u206fiT",
        "a\\.git",
        "a\\b",
        ".git\\x",
      ],
      ...[
        "\\git~1",
        "a/b",
        "",
        "...",
        " .git",
        ".git\u2010",
        "caf\u00e9",
        "\u200c.git",
        "git~1 ",
        "git~1:x",
        "gi\u200ct~1",
      ],
    ];
    const cases = [
      ...names.map((name) => entry("100644", name)),
      ...names.map((name) => entry("40000", name)),
      ...[
        ".gitmodules",
        ".GITMODULES",
        "gitmod~1",
        "GITMOD~4",
        "gitmod~5",
        ".gitmodules ",
        ".git\u200cmodules",
        "gi7eba~1",
      ]
        .map((name) => entry("120000", name)),
      entry("100644", ".gitmodule"),
      entry("100644", Uint8Array.of(0x2e, 0x67, 0x69, 0x74, 0xff)),
      entry("040000", "x"),
      entry("0100644", "x"),
      entry("160000", "x"),
      entry("160000", "x", none),
      entry("100644", "x", none),
      concat([entry("100644", "a"), entry("100644", "a")]),
      concat([entry("100644", "b"), entry("100644", "a")]),
      concat([entry("40000", "a"), entry("100644", "a.b")]),
      concat([entry("100644", "a"), entry("100644", "a.b"), entry("40000", "a")]),
      concat([
        entry("100644", "a"),
        entry("100644", "a-"),
        entry("100644", "a."),
        entry("40000", "a"),
      ]),
      concat([entry("100644", "a"), entry("40000", "a")]),
      concat([entry("40000", "a"), entry("100644", "a")]),
      concat([
        entry("100644", "a"),
        entry("100644", "a.b"),
        entry("40000", "a.c"),
        entry("100644", "b"),
      ]),
    ];
    const made = cases.map((bytes) => ({ bytes, oid: putObject(dir, "tree", bytes) }));
    const expected = gitFaults(dir);
    for (const { bytes, oid } of made) {
      assertEquals(
        ids("tree", bytes),
        [...expected.get(oid) ?? []].sort(),
        new TextDecoder().decode(bytes),
      );
    }
  });

  it("refuses names of drives, which git passes over, and no other colon", () => {
    const oid = new Uint8Array(20).fill(1);
    const found = (name: string) => ids("tree", concat([utf8(`100644 ${name}\0`), oid]));
    for (const name of ["C:", "z:", "c:\\", "C:\\Users\\x"]) {
      assertEquals(found(name), ["drivePath"], name);
    }
    for (const name of ["a:b", "ab:", "1:", ":", "C", "C;\\x", "x:y\\z"]) {
      assertEquals(found(name), [], name);
    }
  });

  it("refuses a tree that git cannot read at all, and never fails otherwise", () => {
    const oid = new Uint8Array(20).fill(1);
    const bad = [
      "100644 a",
      "100644",
      "x",
      "100648 a\0",
      " a\0",
      "100644 a\0short",
      "99999999 a\0",
    ];
    for (const text of bad) assertEquals(ids("tree", utf8(text)), ["badTree"], text);
    assertEquals(ids("tree", concat([utf8("150000 a\0"), oid])), ["badFilemode"]);
    const random = randomNumbers(9);
    const whole = concat([utf8("100644 one\0"), oid, utf8("40000 two\0"), oid]);
    for (let i = 0; i < 2000; i++) {
      const bytes = whole.slice(0, random(whole.length + 1));
      if (bytes.length > 0) bytes[random(bytes.length)] = random(256);
      findFaults("tree", bytes);
    }
  });

  it("finds in commits and tags what git finds", () => {
    using temp = tempDir();
    const dir = initRepo(join(temp.path, "repo"));
    const commit = commitFiles(dir, "one", { "a": "text\n" });
    const tree = git(dir, "rev-parse", "HEAD^{tree}");
    const people = [
      "A U Thor <a@b.test> 1234567890 +0200",
      "<a@b.test> 1 +0000",
      " <a@b.test> 1 +0000",
      "A<a@b.test> 1 +0000",
      "A> <a@b.test> 1 +0000",
      "A a@b.test 1 +0000",
      "A <a@b.test 1 +0000",
      "A <a<b.test> 1 +0000",
      "A <a@b.test>1 +0000",
      "A <a@b.test> 01 +0000",
      "A <a@b.test> 0 +0000",
      "A <a@b.test> x +0000",
      "A <a@b.test> 1",
      "A <a@b.test> 1 ",
      "A <a@b.test> 1 0000",
      "A <a@b.test> 1 +00000",
      "A <a@b.test> 1 +000",
      "A <a@b.test> 1 +0000 ",
      "A <a@b.test> 18446744073709551615 +0000",
      "A <a@b.test> 99999999999999999999999 +0000",
      "A <a@b.test> 9223372036854775807 +0000",
      "A <a@b.test>  1 +0000",
      "A <a@b.test> 1  +0000",
      "A <> 1 +0000",
    ];
    const good = people[0];
    const commits = [
      ...people.map((line) => `tree ${tree}\nauthor ${line}\ncommitter ${good}\n\nx\n`),
      ...people.map((line) => `tree ${tree}\nauthor ${good}\ncommitter ${line}\n\nx\n`),
      `tree ${tree}\ncommitter ${good}\n\nx\n`,
      `tree ${tree}\nauthor ${good}\n\nx\n`,
      `tree ${tree}\nauthor ${good}\nauthor ${good}\ncommitter ${good}\n\nx\n`,
      `tree ${tree}\nparent ${commit}\nauthor ${good}\ncommitter ${good}\ngpgsig a\n b\n\nx\n`,
      `tree ${tree}\nauthor ${good}\ncommitter ${good}\n\nx\0y\n`,
      `tree ${tree}\nauthor ${good}\ncommitter ${good}\n`,
    ];
    const tags = [
      ...people.map((line) => `object ${commit}\ntype commit\ntag v\ntagger ${line}\n\nx\n`),
      `object ${commit}\ntype commit\ntag v\n\nx\n`,
      `object ${commit}\ntype commit\ntag v..x\ntagger ${good}\n\nx\n`,
      `object ${commit}\ntype commit\ntag v x\ntagger ${good}\n\nx\n`,
      `object ${commit}\ntype commit\ntag v\ntagger ${good}\nmore x\n\nx\n`,
    ];
    const made = [
      ...commits.map((text) => ({ kind: "commit" as const, text })),
      ...tags.map((text) => ({ kind: "tag" as const, text })),
    ].map(({ kind, text }) => ({ kind, text, oid: putObject(dir, kind, text) }));
    const expected = gitFaults(dir);
    for (const { kind, text, oid } of made) {
      assertEquals(ids(kind, utf8(text)), [...expected.get(oid) ?? []].sort(), text);
    }
  });

  it("finds headers that no reader could follow", () => {
    const good = "A <a@b.test> 1 +0000";
    const tree = "a".repeat(40);
    const cases: [ObjectKind, string, string][] = [
      ["commit", "", "unterminatedHeader"],
      ["commit", "tree x", "unterminatedHeader"],
      ["commit", `tree ${tree}\nauthor \0\n\n`, "nulInHeader"],
      ["commit", `author ${good}\ncommitter ${good}\n\n`, "missingTree"],
      ["commit", `tree ${tree}x\nauthor ${good}\n\n`, "badTreeSha1"],
      ["commit", `tree ${tree.toUpperCase()}\nauthor ${good}\n\n`, "badTreeSha1"],
      ["commit", `tree ${tree}\nparent x\nauthor ${good}\n\n`, "badParentSha1"],
      ["tag", `type commit\n\n`, "missingObject"],
      ["tag", `object x\ntype commit\n\n`, "badObjectSha1"],
      ["tag", `object ${tree}\n\n`, "missingTypeEntry"],
      ["tag", `object ${tree}\ntype soup\n\n`, "badType"],
      ["tag", `object ${tree}\ntype blob\n\n`, "missingTagEntry"],
    ];
    for (const [kind, text, id] of cases) {
      assertEquals(ids(kind, utf8(text)), [id], text);
      const oid = hashObject(kind, utf8(text));
      const error = assertThrows(() => checkObject(kind, utf8(text), oid), CorruptError, oid);
      assertEquals(error.facts, { oid, fault: id });
    }
  });

  it("lets what is merely odd pass unless asked to be strict", () => {
    const old = concat([utf8("040000 x\0"), new Uint8Array(20).fill(1)]);
    const oid = hashObject("tree", old);
    checkObject("tree", old, oid);
    assertThrows(() => checkObject("tree", old, oid, { strict: true }), CorruptError, "mode");
  });
});
