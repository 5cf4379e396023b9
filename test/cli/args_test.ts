import { describe, it } from "@std/testing/bdd";
import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { readArgs, type Sources } from "../../cli/args.ts";
import { flagsOf, globalFlags, readLine } from "../../cli/flags.ts";
import { UsageError } from "../../core/errors.ts";
import { findFact } from "../../core/facts.ts";
import { smallTable } from "../support/table.ts";

interface From {
  readonly flag?: string;
  readonly checkout?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** The arguments of a command line given as words. */
async function read(words: readonly string[], from: From = {}): Promise<unknown> {
  const found = findFact(words, smallTable.facts);
  if (!found) throw new Error(`no such command: ${words}`);
  const { fact, taken } = found;
  const sources: Sources = {
    repo: from.flag,
    findRepo: () => from.checkout,
    readFile: (path) => Promise.resolve(from.files?.[path] ?? "absent"),
    readStdin: () => Promise.resolve(from.stdin ?? ""),
    confirm: () => Promise.resolve(undefined),
  };
  return await readArgs(
    fact,
    readLine(words.slice(taken), [...globalFlags, ...flagsOf(fact)]),
    sources,
  );
}

const commit = ["repo", "commit", "a/b", "-m", "Fix"];
const committed = { repo: "a/b", message: "Fix" };

describe("flags", () => {
  const cases: readonly [string, string[], Record<string, unknown>][] = [
    ["take dashes for the parameter's underscores", ["--keep-branch"], { keep_branch: true }],
    ["take a boolean's value behind =", ["--keep-branch=false"], { keep_branch: false }],
    ["negate a boolean that is usually on", ["--no-notify"], { notify: false }],
    ["take a negation's negation", ["--no-notify=false"], { notify: true }],
    ["repeat and split lists of texts", ["--topics", "a,b", "--topics=c"], {
      topics: ["a", "b", "c"],
    }],
    ["take an empty text for an empty list", ["--topics", ""], { topics: [] }],
    ["take JSON for an object", ["--options", '{"a":1}'], { options: { a: 1 } }],
    ["take JSON for a list of objects", ["--changes", '[{"path":"x"}]'], {
      changes: [{ path: "x" }],
    }],
    [
      "add up lists of objects, given one by one or together",
      ["--changes", '{"path":"x"}', "--changes", '[{"path":"y"},{"path":"z"}]'],
      { changes: [{ path: "x" }, { path: "y" }, { path: "z" }] },
    ],
    ["let the last one count", ["-m", "other"], { message: "other" }],
    ["take a value that begins with a dash", ["--message", "- one\n- two"], {
      message: "- one\n- two",
    }],
    ["take a value that looks like an unknown flag", ["-m", "--wip"], { message: "--wip" }],
    ["take a value with = in it", ["--message=a=b"], { message: "a=b" }],
    ["take an empty value", ["--message="], { message: "" }],
    ["take a value stuck to its letter", ["-mword"], { message: "word" }],
    ["take a value after clustered letters", ["-qvm", "word"], { message: "word" }],
  ];
  for (const [name, argv, expected] of cases) {
    it(name, async () => {
      assertEquals(await read([...commit, ...argv]), { ...committed, ...expected });
    });
  }

  it("read a structure from a file and from stdin", async () => {
    const files = { "c.json": '[{"path":"x"}]' };
    assertEquals(await read([...commit, "--changes", "@c.json"], { files }), {
      ...committed,
      changes: [{ path: "x" }],
    });
    assertEquals(await read([...commit, "--changes", "-"], { stdin: "[]" }), {
      ...committed,
      changes: [],
    });
  });

  it("override the keys of --input", async () => {
    const files = { "in.json": '{"message":"old","topics":["t"],"repo":"x/y"}' };
    assertEquals(await read(["repo", "commit", "--input", "in.json", "-m", "new"], { files }), {
      message: "new",
      topics: ["t"],
      repo: "x/y",
    });
  });

  it("end at two dashes", async () => {
    assertEquals(await read(["repo", "read", "a/b", "--rev", "v1", "--", "--help"]), {
      repo: "a/b",
      path: "--help",
      rev: "v1",
    });
  });

  const wrong: readonly [string, string[], string, string?][] = [
    [
      "an unknown flag, with the one meant",
      [...commit, "--keep-brunch"],
      "no such flag: --keep-brunch",
      "did you mean --keep-branch?",
    ],
    ["an unknown letter", [...commit, "-Z"], "no such flag: -Z"],
    [
      "a negation of what is usually off",
      [...commit, "--no-keep-branch"],
      "no such flag: --no-keep-branch",
    ],
    ["a flag of the prototype", [...commit, "--__proto__", "x"], "no such flag: --__proto__"],
    [
      "a value that is missing at the end",
      ["repo", "commit", "a/b", "-m"],
      "--message needs a value: --message MESSAGE",
    ],
    [
      "a value that is missing before a flag",
      ["repo", "list", "--limit", "--json"],
      "--limit needs a value: --limit N",
    ],
    [
      "a value where none is taken",
      [...commit, "--keep-branch=maybe"],
      "--keep-branch: maybe is not true or false",
    ],
    ["text for a number", ["repo", "list", "--limit", "many"], "--limit: many is not an integer"],
    [
      "a choice there is not, with the one meant",
      ["repo", "list", "--state", "opne"],
      "--state: opne is not one of open, archived",
      "did you mean open?",
    ],
    [
      "one word too many",
      ["repo", "star", "a/b", "c"],
      "one argument too many: c",
      "usage: knotless repo star [REPO] [flags]",
    ],
    [
      "a flag it cannot do without",
      ["repo", "commit", "a/b"],
      "--message is missing: the commit's message",
    ],
    [
      "a positional it cannot do without",
      ["branch", "create", "-q"],
      "REPO is missing: the repository, as handle/name",
      "name it with -R, in KNOTLESS_REPO, or be in a checkout of it",
    ],
    [
      "broken JSON, by its line and column",
      [...commit, "--changes", '[{"path": "x",\n  path: 1}]'],
      "--changes is not JSON: line 2, column 3: path: 1}]",
    ],
    [
      "stdin asked for twice",
      [...commit, "--changes", "-", "--options", "-"],
      "stdin can be read only once",
    ],
    [
      "an input that is no object",
      [...commit, "--input", "-"],
      "is not JSON: line 1, column 1: the text ends",
    ],
  ];
  for (const [name, argv, message, hint] of wrong) {
    it(`refuse ${name}`, async () => {
      const stdin = argv.includes("--options") ? "[]" : "";
      const error = await assertRejects(() => read(argv, { stdin }), UsageError, message);
      if (hint) assertEquals(error.hint, hint);
    });
  }

  it("name JSON's fault wherever it is", async () => {
    for (
      const [text, place] of [
        ["", "line 1, column 1: the text ends"],
        ["[1,]", "line 1, column 4: ]"],
        ["{", "line 1, column 2: the text ends"],
        ['{"a" 1}', "line 1, column 6: 1}"],
        ['{"a":1,}', "line 1, column 8: }"],
        ["[1 2]", "line 1, column 4: 2]"],
        ["[] x", "line 1, column 4: x"],
        ['"a\nb"', 'line 1, column 1: "a\uFFFDb"'],
        ["01", "line 1, column 2: 1"],
        ["[}", "line 1, column 2: }"],
        [`${"[".repeat(100_000)}x`, "line 1, column 100001: x"],
      ] as const
    ) {
      await assertRejects(
        () => read([...commit, `--options=${text}`]),
        UsageError,
        `--options is not JSON: ${place}`,
      );
    }
  });
});

describe("positionals", () => {
  const checkout = "me.test/here";
  const cases: readonly [string, string[], From, Record<string, unknown>][] = [
    ["fill the places in order", ["repo", "read", "a/b", "x", "v1"], {}, {
      repo: "a/b",
      path: "x",
      rev: "v1",
    }],
    ["leave out what need not be", ["repo", "read", "a/b", "x"], {}, { repo: "a/b", path: "x" }],
    ["leave the repository to the checkout", ["repo", "read", "README.md"], { checkout }, {
      repo: checkout,
      path: "README.md",
    }],
    [
      "take a word like a repository for a path where one word stands",
      ["repo", "read", "lib.rs/x"],
      { checkout },
      { repo: checkout, path: "lib.rs/x" },
    ],
    [
      "take the first for a repository when all places are filled",
      ["repo", "read", "a/b", "x", "v1"],
      { checkout },
      { repo: "a/b", path: "x", rev: "v1" },
    ],
    ["look for no repository among the words beside -R", ["repo", "read", "x", "v1"], {
      flag: "a/b",
      checkout,
    }, { repo: "a/b", path: "x", rev: "v1" }],
    ["give the rest to a list", ["repo", "diff", "a/b", "m", "t", "x", "y,z"], {}, {
      repo: "a/b",
      base: "m",
      head: "t",
      paths: ["x", "y,z"],
    }],
    ["let a list's first word decide", ["repo", "diff", "m", "t", "x"], { checkout }, {
      repo: checkout,
      base: "m",
      head: "t",
      paths: ["x"],
    }],
    ["pass over a place whose flag was given", ["repo", "read", "--path", "x", "a/b", "v1"], {}, {
      repo: "a/b",
      path: "x",
      rev: "v1",
    }],
    ["name a repository beside a whole line", ["repo", "star", "a/b"], { checkout }, {
      repo: "a/b",
      undo: undefined,
    }],
  ];
  for (const [name, argv, from, expected] of cases) {
    it(name, async () => {
      const { undo: _, ...rest } = expected;
      assertEquals(await read(argv, from), rest);
    });
  }

  it("leave a repository that need not be to the command", async () => {
    assertEquals(await read(["status"], { checkout }), {});
    assertEquals(await read(["status"], { flag: "a/b" }), { repo: "a/b" });
  });

  it("take a word that is a repository by its form for it, and miss what stands behind", async () => {
    const error = await assertRejects(() => read(["repo", "read", "alice.test/git"]), UsageError);
    assertStringIncludes(error.message, "PATH is missing");
  });

  it("say what is missing when a word may be either", async () => {
    const error = await assertRejects(() => read(["repo", "read", "x"]), UsageError);
    assertStringIncludes(error.message, "REPO is missing");
  });

  it("refuse -R where no repository is taken", async () => {
    await assertRejects(
      () => read(["login", "a.test"], { flag: "a/b" }),
      UsageError,
      "login takes no --repo",
    );
  });
});

describe("a line", () => {
  it("keeps flags of one name apart from words", () => {
    assertThrows(() => readLine(["--=x"], globalFlags), UsageError, "no such flag: --");
    assertEquals(readLine(["-"], globalFlags).words, ["-"]);
  });
});
