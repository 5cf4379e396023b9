import { describe, it } from "@std/testing/bdd";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { helpFor, sectionOf } from "../../cli/help.ts";
import { topics } from "../../cli/topics.ts";
import { facts } from "../../core/facts.gen.ts";
import type { Fact } from "../../core/facts.ts";
import { type Style, widthOf } from "../../core/text.ts";
import { readRows } from "../support/rows.ts";
import { assertGolden } from "../support/golden.ts";
import { runCli } from "../support/cli.ts";
import { smallTable } from "../support/table.ts";

const style: Style = { terminal: false, color: false, width: 80, now: new Date(0) };
const full = { style, isShort: false };
const short = { style, isShort: true };

describe("help", () => {
  it("of the program, a group, a command and a topic is as it was", () => {
    const texts = [[], ["repo"], ["repo", "commit"], ["exit-codes"], ["environment"], ["flags"], [
      "formatting",
    ]];
    for (const words of texts) {
      assertGolden(
        `help/sample/${words.join("_") || "root"}.txt`,
        helpFor(words, smallTable.facts, full),
      );
    }
    assertGolden(
      "help/sample/repo_commit_h.txt",
      helpFor(["repo", "commit"], smallTable.facts, short),
    );
  });

  it("of every command is as it was", () => {
    assertGolden("help/root.txt", helpFor([], facts, full));
    for (const group of new Set(facts.map(({ group }) => group))) {
      const texts = facts.filter((fact) => fact.group === group)
        .map(({ name }) => `$ knotless ${name} --help\n${helpFor(name.split(" "), facts, full)}`);
      assertGolden(`help/${group}.txt`, texts.join("\n"));
    }
  });

  it("is at most 80 columns wide", () => {
    for (const table of [facts, smallTable.facts]) {
      const groups = [...new Set(table.map(({ group }) => group))];
      const asked = [
        [],
        ...groups.map((group) => [group]),
        ...table.map(({ name }) => name.split(" ")),
      ];
      for (const words of [...asked, ...Object.keys(topics).map((topic) => [topic])]) {
        for (const line of helpFor(words, table, full).split("\n")) {
          assert(
            widthOf(line) <= 80 || line.startsWith("  knotless "),
            `${words.join(" ")}: ${line}`,
          );
        }
      }
    }
  });

  it("of the program is at most 40 lines, with every command of the plan too", async () => {
    const planned = (await readRows()).map(({ command, kind }): Fact => ({
      name: command,
      group: command.split(" ")[0] ?? "",
      kind,
      summary: "Do what it says in a line of words",
      positionals: [],
      aliases: [],
      examples: [],
      params: [],
      schema: { type: "object" },
      module: "",
    }));
    const text = helpFor([], planned, full);
    const lines = text.split("\n");
    assert(lines.length <= 41, `${lines.length} lines:\n${text}`);
    for (const line of lines) assert(widthOf(line) <= 80, line);
    for (const fact of planned) assert(sectionOf(fact), `${fact.name} stands in no chapter`);
  });

  it("sets its headings off where there is colour", () => {
    const text = helpFor([], smallTable.facts, {
      style: { ...style, color: true },
      isShort: false,
    });
    assertStringIncludes(text, "\x1b[1mUsage\x1b[22m ");
  });

  it("is had in each of its ways", async () => {
    const run = (line: string) => runCli(line.split(" "), { table: smallTable });
    const expected = helpFor(["repo", "read"], smallTable.facts, full);
    const lines = ["help repo read", "repo read --help", "--help repo read", "repo --help read x"];
    for (const line of lines) {
      const { status, out, err } = await run(line);
      assertEquals([status, out, err], [0, expected, ""], line);
    }
    assertEquals(
      (await run("repo read -h x --bogus")).out,
      helpFor(["repo", "read"], smallTable.facts, short),
    );
    assertEquals((await run("repo read -- -h")).status, 2);
    assertEquals((await run("help nonsense")).status, 2);
  });
});
