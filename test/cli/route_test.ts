import { describe, it } from "@std/testing/bdd";
import { assertEquals, assertThrows } from "@std/assert";
import { route } from "../../cli/route.ts";
import { UsageError } from "../../core/errors.ts";
import type { Fact } from "../../core/facts.ts";
import { smallTable } from "../support/table.ts";

const { facts } = smallTable;

function to(line: string, table: readonly Fact[] = facts): unknown {
  const found = route(line.split(" ").filter(Boolean), table);
  return found.to === "command"
    ? [found.fact.name, ...found.rest]
    : ["help", found.words, ...found.rest];
}

describe("routing", () => {
  it("finds the command of the longest name", () => {
    const longer = { ...facts[0], name: "repo read all", aliases: [] } as unknown as Fact;
    assertEquals(to("repo read all x", [...facts, longer]), ["repo read all", "x"]);
    assertEquals(to("repo read every x", [...facts, longer]), ["repo read", "every", "x"]);
  });

  it("finds it behind and between the flags of all commands", () => {
    assertEquals(to("-R a/b repo read x"), ["repo read", "-R", "a/b", "x"]);
    assertEquals(to("repo -Ra/b --json read x"), ["repo read", "-Ra/b", "--json", "x"]);
    assertEquals(to("--as repo -qv -qR a/b repo --color=never read"), [
      "repo read",
      "--as",
      "repo",
      "-qv",
      "-qR",
      "a/b",
      "--color=never",
    ]);
  });

  it("answers an old name", () => {
    assertEquals(to("branch new-one x"), ["branch create", "x"]);
  });

  it("explains what is asked for", () => {
    assertEquals(to(""), ["help", []]);
    assertEquals(to("--help"), ["help", [], "--help"]);
    assertEquals(to("repo"), ["help", ["repo"]]);
    assertEquals(to("help repo read --json"), ["help", ["repo", "read"], "--json"]);
  });

  for (
    const [line, message, hint] of [
      ["repo raed x", "no such command: repo raed", "did you mean knotless repo read?"],
      ["repo ls", "no such command: repo ls", "did you mean knotless repo list?"],
      ["repo cat x", "no such command: repo cat", "did you mean knotless repo read?"],
      ["repo rm x", "no such command: repo rm", "did you mean knotless repo delete?"],
      ["branch new", "no such command: branch new", "did you mean knotless branch create?"],
      ["branch frobnicate", "no such command: branch frobnicate", "branch takes create"],
      ["repos ls", "no such command: repos ls", "did you mean knotless repo list?"],
      ["reop read", "no such command: reop read", "did you mean knotless repo read?"],
      ["signin", "no such command: signin", "did you mean knotless login?"],
      ["commit", "no such command: commit", "did you mean knotless repo commit?"],
      [
        "clone alice.test/app",
        "no such command: clone alice.test/app",
        "run git clone knotless://alice.test/app",
      ],
      ["clone $(x)", "no such command: clone $(x)", "run git clone knotless://HANDLE/NAME"],
      ["push", "no such command: push", "run git push"],
      ["pull", "no such command: pull", "run git pull"],
      ["init", "no such command: init", "run git init, then knotless repo create"],
      [
        "pr list",
        "no such command: pr list",
        "this version has no pull requests: knotless help lists what it has",
      ],
      [
        "issue",
        "no such command: issue",
        "this version has no issues: knotless help lists what it has",
      ],
      ["version", "no such command: version", "did you mean knotless --version?"],
      ["auth login", "no such command: auth login", "did you mean knotless login?"],
      ["xyzzy", "no such command: xyzzy", "knotless help lists them"],
      ["--jsno", "no such flag: --jsno", "did you mean --json?"],
      [
        "--limit 5 repo list",
        "no such flag: --limit",
        "the flags of a command come after its name",
      ],
      ["\x1b[2J\u202e", "no such command: \uFFFD[2J\uFFFD", "knotless help lists them"],
    ] as const
  ) {
    it(`says of ${JSON.stringify(line)}: ${hint}`, () => {
      const error = assertThrows(() => to(line), UsageError, message);
      assertEquals(error.hint, hint);
    });
  }
});
