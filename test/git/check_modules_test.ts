import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { CorruptError } from "../../core/errors.ts";
import { utf8 } from "../../core/git/bytes.ts";
import { findModulesFaults } from "../../core/git/check_modules.ts";
import { checkConnected } from "../../core/git/connected.ts";
import { parseModules } from "../../core/git/modules.ts";
import { openStore } from "../../core/git/store.ts";
import {
  commitFiles,
  git,
  initRepo,
  putObject,
  randomNumbers,
  tempDir,
  tryGit,
} from "../support/git.ts";

const URLS = [
  ...[
    "https://a.test/x.git",
    "git@a.test:x.git",
    "../x.git",
    "./x",
    "/x",
    "-x",
    "--upload-pack=x",
    "ssh://-x/y",
  ],
  ...[
    "../../../../:x",
    "..//x",
    "../..//x",
    ".//x",
    "../%0ax",
    "./x%0Ay",
    "https://a.test/%0ax",
    "https:///x",
    "http://",
  ],
  ...[
    "https://user@/x",
    "https://user:pw@a.test/x",
    "http::https://a.test/x",
    "http::x",
    "https::-x",
    "ftp://a%0ab/x",
  ],
  ...[
    "git://a.test/%0ax",
    "../a/../../:x",
    "..\\\\x",
    "..\\\\:x",
    "HTTPS:///x",
    "http::../x",
    "https://?x",
    "http:::x",
  ],
];
const NAMES = [
  "x",
  "..",
  "../x",
  "x/..",
  "x/../y",
  "x/..y",
  "x..",
  "..\\\\x",
  "x\\\\..",
  "a b",
  ".",
  "",
  "X.Y",
];

function file(name: string, lines: string): string {
  return `[submodule "${name}"]\n\tpath = x\n\turl = https://a.test/x\n${lines}`;
}

const FILES = [
  ...URLS.map((url) => file("x", `\turl = ${url}\n`)),
  ...URLS.map((url) => file("x", `\turl = "${url}" ; comment\n`)),
  ...NAMES.map((name) => file(name, "")),
  ...["-x", "x", "--", "x -y", '" -x"', '"-x"'].map((path) => file("x", `path = ${path}\n`)),
  ...["!x", "merge", "none", "! x", '"!x"', "\\\\!x"].map((update) =>
    file("x", `update=${update}\n`)
  ),
  ...[
    "url",
    "URL = -x",
    "Url=-x#c",
    "url=\\\n-x",
    "url = \\q\nurl = -x",
    "url = -x \\",
    'url = "-x',
    "url = x;-y",
  ].map((line) => file("x", `${line}\n`)),
  "[submodule]\nurl = -x\n",
  "[submodule.x]\nurl = -x\n",
  '[SubModule "x"] url = -x\n',
  '[submodule "x"]; url = -x\n',
  '[submodule "x" ]\nurl = -x\n',
  '[submodule "x\\"y"]\nurl = -x\n',
  '[submodulex "x"]\nurl = -x\n',
  "[core]\nurl = -x\n",
  '[submodule "x"]\r\nurl = -x\r\n',
  '\ufeff[submodule "x"]\nurl = -x\n',
  'url = -x\n[submodule ".."]\n',
  '[submodule ".."]\n',
  "# only a comment",
  "",
];

describe("findModulesFaults", () => {
  it("finds in .gitmodules what git finds", () => {
    using temp = tempDir();
    const dir = initRepo(join(temp.path, "repo"));
    const made = FILES.map((text, i) => {
      commitFiles(dir, `file ${i}`, { ".gitmodules": text });
      return { text, oid: git(dir, "rev-parse", "HEAD:.gitmodules") };
    });
    const { err } = tryGit(dir, undefined, "fsck", "--strict");
    for (const { text, oid } of made) {
      const said = err.split("\n").filter((line) => line.includes(oid))
        .map((line) => / (gitmodules\w+):/.exec(line)?.[1] ?? "")
        .filter((id) => id !== "" && id !== "gitmodulesParse");
      const found = findModulesFaults(utf8(text)).map(({ id }) => id);
      assertEquals(found.sort(), [...new Set(said)].sort(), JSON.stringify(text));
    }
  });

  it("never fails on noise", () => {
    const random = randomNumbers(4);
    const letters = '[submodule "x"]\n\\=url-;#.\r\t';
    for (let i = 0; i < 5000; i++) {
      const noise = Array.from({ length: random(60) }, () => letters[random(letters.length)]).join(
        "",
      );
      assert([...parseModules(`[submodule "x"]\n${noise}`)].length < 60);
    }
  });
});

describe("checkConnected", () => {
  it("refuses a dangerous .gitmodules, however it is spelt, also when the blob was held under another name", async () => {
    using temp = tempDir();
    const dir = initRepo(join(temp.path, "repo"));
    const blob = putObject(dir, "blob", file("../../x", ""));
    for (const name of [".gitmodules", ".GitModules", "gitmod~1"]) {
      const tree = new TextDecoder().decode(
        tryGit(dir, `100644 blob ${blob}\t${name}\n`, "mktree").out,
      ).trim();
      const commit = git(dir, "commit-tree", "-m", "x", tree);
      const store = openStore(join(dir, ".git"));
      await assertRejects(
        () => checkConnected(store, [commit], { have: () => false }),
        CorruptError,
        blob,
      );
      const have = (oid: string) => oid === blob;
      await assertRejects(() => checkConnected(store, [commit], { have }), CorruptError, blob);
    }
  });
});
