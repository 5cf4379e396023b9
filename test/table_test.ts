import { describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { readdir, readFile } from "node:fs/promises";
import { flagsOf, globalFlags, readLine } from "../cli/flags.ts";
import { readArgs } from "../cli/args.ts";
import { route } from "../cli/route.ts";
import { facts } from "../core/facts.gen.ts";
import { loadCommand, loadTable } from "../core/table.ts";
import { findLagging, generate, portable } from "../scripts/gen.ts";
import { readRows } from "./support/rows.ts";
import { shellWords } from "./support/shell.ts";
import { smallTable } from "./support/table.ts";

/** Commands beside the plan: conveniences that act on this machine. */
const conveniences = new Set([
  "alias",
  "api",
  "browse",
  "completion",
  "config",
  "doctor",
  "git setup",
  "login status",
  "login switch",
  "man",
  "mcp config",
  "mcp tools",
  "pull checkout",
  "schema",
  "serve",
]);

describe("the command table", () => {
  it("has nothing beside the plan but conveniences of this machine", async () => {
    const planned = new Map((await readRows()).map((row) => [row.command, row]));
    for (const { name, kind, tool, undo } of facts) {
      const row = planned.get(name);
      if (row === undefined) {
        assert(conveniences.has(name), `${name} is not planned`);
        assertEquals([kind, tool], ["machine", undefined], name);
        continue;
      }
      assertEquals([kind, tool ?? ""], [row.kind, row.tool], name);
      assertEquals(undo !== undefined, row.undo === "undo", `${name}: undo`);
    }
  });

  it("names each command and each tool once", () => {
    const names = facts.flatMap(({ name, aliases }) => [name, ...aliases]);
    assertEquals(new Set(names).size, names.length);
    for (const { name, tool, kind } of facts) {
      assert(/^[a-z]+(-[a-z]+)*( [a-z]+(-[a-z]+)*)*$/.test(name), name);
      if (kind === "machine") continue;
      assert(tool !== undefined && /^[a-z]+(_[a-z]+)*$/.test(tool) && tool.length <= 30, name);
    }
  });

  for (const fact of facts) {
    it(`describes ${fact.name} and its parameters`, () => {
      const { summary, details = "", params, positionals } = fact;
      assert(/^[A-Z][^\n]*[^.\n]$/.test(summary) && summary.length <= 80, summary);
      assert(summary.length + details.length <= 1000, `${details.length} characters of details`);
      for (const { name, description } of params) {
        assert(/^[a-z][a-z0-9_]*$/.test(name), name);
        assert(description !== "" && !description.endsWith("."), `${name}: ${description}`);
        assert(description.length <= 80, `${name}: ${description.length} characters`);
      }
      const required = positionals.map((name) => params.find((param) => param.name === name))
        .map((param) => param?.required ?? false);
      assertEquals(required, required.toSorted((a, b) => Number(b) - Number(a)), "required first");
    });

    it(`gives each flag of ${fact.name} one meaning`, () => {
      const own = flagsOf(fact).flatMap(({ long, short }) => short ? [long, short] : [long]);
      const reserved = globalFlags.flatMap(({ long, short }) => short ? [long, short] : [long]);
      assertEquals(own.filter((flag) => reserved.includes(flag)), []);
      assertEquals(new Set(own).size, own.length);
    });

    it(`has examples of ${fact.name} that can be typed`, async () => {
      assert(fact.examples.length > 0);
      const command = await loadCommand(fact.name);
      for (const { line, says } of fact.examples) {
        assert(says !== "" && !says.endsWith("."), says);
        const words = shellWords(line);
        const found = route(words, facts);
        assert(found.to === "command" && found.fact.name === fact.name, line);
        const typed = readLine(found.rest, [...globalFlags, ...flagsOf(fact)]);
        const repo = typed.given.get("repo");
        const read = (checkout: string | undefined) =>
          readArgs(fact, typed, {
            repo: typeof repo === "string" ? repo : undefined,
            findRepo: () => checkout,
            readFile: () => Promise.resolve("{}"),
            readStdin: () => Promise.resolve("{}"),
            confirm: () => Promise.resolve(undefined),
          });
        // An example that names no repository is one for a checkout.
        const args = await read(undefined).catch(() => read("alice.test/app"));
        if (/ (@|-( |$))/.test(line)) continue;
        const { success, error } = (await command.schema()).safeParse(args);
        assert(success, `${line}: ${error}`);
      }
    });
  }

  it("has the generated files as they follow from it", async () => {
    assertEquals(await findLagging(await generate()), [], "run deno task gen");
  });

  it("keeps the facts' order", async () => {
    assertEquals((await loadTable()).map(({ name }) => name), facts.map(({ name }) => name));
  });

  it("has a test through both faces of every tool, and tells which rows of the plan are done", async () => {
    const tried = await namesTried();
    const isDone = (name: string) =>
      facts.some((fact) => fact.name === name && (!fact.tool || tried.has(name)));
    const rows = (await readRows()).map(({ command }) => command);
    const missing = rows.filter((name) => !isDone(name));
    // deno-lint-ignore no-console
    console.log(
      `${rows.length - missing.length} of ${rows.length} rows; missing: ${missing.join(", ")}`,
    );
    assertEquals(facts.filter(({ name }) => !isDone(name)).map(({ name }) => name), []);
  });
});

/** The commands that some test takes through the command line and MCP both. */
async function namesTried(): Promise<ReadonlySet<string>> {
  const folder = new URL("commands/", import.meta.url);
  const names = await readdir(folder).catch(() => []);
  const texts = await Promise.all(
    names.filter((name) => name.endsWith("_test.ts"))
      .map((name) => readFile(new URL(name, folder), "utf8")),
  );
  return new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/\bboth\(\s*"([^"]+)"/g)].map(([, name = ""]) => name)
    ),
  );
}

describe("a portable schema", () => {
  it("has types, words, choices and bounds, and nothing else", () => {
    const fact = smallTable.facts.find(({ name }) => name === "repo list");
    assertEquals(fact?.schema, {
      type: "object",
      properties: {
        handle: { type: "string", description: "the account" },
        limit: { type: "integer", description: "at most this many" },
        cursor: { type: "string", description: "go on where an earlier answer's cursor says" },
        state: {
          type: "string",
          description: "only those in this state",
          enum: ["open", "archived"],
        },
      },
    });
    assertEquals(fact?.params[1]?.default, 2);
  });

  it("keeps what is needed, also below", () => {
    const schema = smallTable.facts.find(({ name }) => name === "repo commit")?.schema;
    assertEquals(schema?.required, ["repo", "message"]);
    assertEquals(schema?.properties?.changes?.items, {
      type: "object",
      properties: {
        path: { type: "string", description: "the file" },
        content: { type: "string", description: "all of its text" },
      },
      required: ["path"],
    });
  });

  for (
    const [name, schema] of [
      ["several types", { anyOf: [{ type: "string" }, { type: "integer" }] }],
      ["a list of types", { type: ["string", "null"] }],
      ["an integer without bounds", { type: "integer", maximum: Number.MAX_SAFE_INTEGER }],
      ["an array of anything", { type: "array" }],
    ] as const
  ) {
    it(`is not had of ${name}`, () => {
      let isRefused = false;
      try {
        portable(schema, "x");
      } catch {
        isRefused = true;
      }
      assert(isRefused);
    });
  }
});
