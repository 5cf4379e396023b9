import { describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import { readArgs } from "../../cli/args.ts";
import { flagsOf, globalFlags, readLine } from "../../cli/flags.ts";
import { shellQuote, spellCommand, spellHint } from "../../cli/hint.ts";
import { route } from "../../cli/route.ts";
import { facts as shipped } from "../../core/facts.gen.ts";
import { loadCommand } from "../../core/table.ts";
import type { Fact } from "../../core/facts.ts";
import { shellWords } from "../support/shell.ts";
import { smallTable } from "../support/table.ts";

const { facts } = smallTable;

const suggestions: readonly [string, Record<string, unknown>, string][] = [
  ["repo star", { repo: "a/b" }, "knotless repo star a/b"],
  ["repo star", { repo: "a/b", undo: true }, "knotless repo star a/b --undo"],
  [
    "repo read",
    { repo: "a/b", path: "it's here.md", rev: "v1" },
    `knotless repo read a/b 'it'\\''s here.md' v1`,
  ],
  ["repo read", { repo: "a/b", path: "x" }, "knotless repo read -R a/b x"],
  ["repo read", { path: "-x", repo: "a/b" }, "knotless repo read -R a/b --path=-x"],
  [
    "repo commit",
    { repo: "a/b", message: '- $(x)\n`y` "z"', notify: false, topics: ["a", "b c"] },
    `knotless repo commit a/b --message='- $(x)\n\`y\` "z"' --no-notify --topics a --topics 'b c'`,
  ],
  [
    "repo commit",
    { repo: "a/b", message: "", changes: [{ path: "x" }], keep_branch: false },
    `knotless repo commit a/b --message '' --changes '[{"path":"x"}]'`,
  ],
];

/** Typed into a shell in a checkout of another repository: the arguments that come of it. */
async function readTyped(line: string, facts: readonly Fact[]): Promise<Record<string, unknown>> {
  const found = route(shellWords(line).slice(1), facts);
  if (found.to !== "command") throw new Error(`${line} is no command`);
  const read = readLine(found.rest, [...globalFlags, ...flagsOf(found.fact)]);
  const flag = read.given.get("repo");
  return await readArgs(found.fact, read, {
    repo: typeof flag === "string" ? flag : undefined,
    findRepo: () => "other.test/checkout",
    readFile: () => Promise.resolve("[]"),
    readStdin: () => Promise.reject(new Error("stdin is not read")),
    confirm: () => Promise.resolve(undefined),
  });
}

describe("an example", () => {
  for (const { line } of shipped.flatMap(({ examples }) => examples)) {
    it(`means the same in a checkout: ${line}`, async () => {
      const { repo } = await readTyped(`knotless ${line}`, shipped);
      assertEquals(repo, /\balice\.test\/app\b/.exec(line)?.[0]);
    });
  }
});

describe("a hint", () => {
  it("in words stays as it is", () => {
    assertEquals(spellHint("say when", facts), "say when");
  });

  it("to sign in names the account when it is known", () => {
    assertEquals(spellHint({ signIn: "ended" }, facts), "run knotless login HANDLE");
    const around = { account: "bob.test" };
    assertEquals(spellHint({ signIn: "none" }, facts, around), "run knotless login bob.test");
    const ended = { signIn: "ended", account: "al.test" } as const;
    assertEquals(spellHint(ended, facts, around), "run knotless login al.test");
  });

  it("to go online names what keeps from it", () => {
    assertEquals(spellHint({ goOnline: true }, facts), "leave --offline out");
    const around = { offlineBy: "KNOTLESS_OFFLINE" };
    assertEquals(spellHint({ goOnline: true }, facts, around), "unset KNOTLESS_OFFLINE");
  });

  for (const [command, args, line] of suggestions) {
    it(`spells ${JSON.stringify(args)} for ${command}`, () => {
      assertEquals(spellHint({ command, args }, facts), `run ${line}`);
    });
  }

  it("means, typed into a shell, what was suggested, also in a checkout of another", async () => {
    for (const [command, args] of suggestions) {
      const read = await readTyped(spellCommand(command, args, facts), facts);
      const given = Object.entries(args).filter(([, value]) => value !== false || command === "")
        .concat(args.notify === false ? [["notify", false]] : []);
      assertEquals(sorted(read), sorted(Object.fromEntries(given)));
    }
  });

  it("brings a deleted branch back in the repository that it was of", async () => {
    const remove = await loadCommand("branch delete");
    const made = remove.back?.({ branch: "x", commit: "4343" }, { repo: "a.test/b", name: "x" });
    if (made === undefined) throw new Error("nothing brings it back");
    assertEquals(
      spellCommand(made.command, made.args ?? {}, shipped),
      "knotless branch create a.test/b x 4343",
    );
  });

  it("quotes only what needs it", () => {
    assertEquals(["a/b@1:x=y,z%.-+_", "", "a b", "~", "*", "é"].map(shellQuote), [
      "a/b@1:x=y,z%.-+_",
      "''",
      "'a b'",
      "'~'",
      "'*'",
      "'é'",
    ]);
  });
});

function sorted(object: Record<string, unknown>): unknown {
  return Object.entries(object).sort(([a], [b]) => a < b ? -1 : 1);
}
