import { describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { facts } from "../../core/facts.gen.ts";
import type { Schema } from "../../core/facts.ts";
import { describeTool, isTool, tokensOf, type Tool, weighTool } from "../../core/tools.ts";
import { selectTools } from "../../core/toolsets.ts";
import { assertGolden, goldensIn } from "../support/golden.ts";

const tools = facts.filter(isTool).map((fact) => describeTool(fact));

/** What every client's model takes; each key more has broken some. */
const KEYS: Readonly<Record<Schema["type"], readonly string[]>> = {
  object: ["type", "description", "properties", "required", "additionalProperties"],
  array: ["type", "description", "items"],
  string: ["type", "description", "enum"],
  integer: ["type", "description", "minimum", "maximum"],
  number: ["type", "description", "minimum", "maximum"],
  boolean: ["type", "description"],
};
const MAX_DEPTH = 4;

/** What a schema has that some client would not take, one sentence each. */
function lint(schema: Schema, where: string, depth = 0): string[] {
  const { type, properties, required = [], items, additionalProperties } = schema;
  const allowed = KEYS[type];
  if (allowed === undefined) return [`${where} has the type ${type}`];
  const names = Object.keys(properties ?? {});
  const values = schema.enum ?? ["a"];
  return [
    ...Object.keys(schema).filter((key) => !allowed.includes(key))
      .map((key) => `${where} has ${key}`),
    ...(depth > MAX_DEPTH ? [`${where} is ${depth} deep`] : []),
    ...(type === "array" && items === undefined ? [`${where} has no items`] : []),
    ...(type === "object" && properties === undefined && additionalProperties === undefined
      ? [`${where} has no properties`]
      : []),
    ...(additionalProperties !== undefined && additionalProperties.type !== "string"
      ? [`${where} is a map of ${additionalProperties.type}`]
      : []),
    ...(values.length === 0 || !values.every((value) => /^[\x21-\x7e]+$/.test(value))
      ? [`${where} has the enum ${values}`]
      : []),
    ...required.filter((name) => !names.includes(name)).map((name) => `${where} requires ${name}`),
    ...names.filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))
      .map((name) => `${where} has the name ${name}`),
    ...Object.entries(properties ?? {}).flatMap(([name, property]) =>
      lint(property, `${where}.${name}`, depth + 1)
    ),
    ...(items ? lint(items, `${where}[]`, depth) : []),
  ];
}

function lintTool({ name, title, description, inputSchema, annotations }: Tool): string[] {
  const { type, properties } = inputSchema;
  return [
    ...(/^[a-z]+(_[a-z]+)*$/.test(name) && name.length <= 30 ? [] : [`${name} is no name`]),
    ...(title !== "" && title.length <= 60 ? [] : [`${name} has no title`]),
    ...(description.length <= 1024 ? [] : [`${name} is described at ${description.length}`]),
    ...(/^[A-Z][^\n]{10,}/.test(description) ? [] : [`${name} begins with no sentence`]),
    ...(type === "object" && properties !== undefined ? [] : [`${name} takes no object`]),
    ...(annotations["readOnlyHint"] !== undefined ? [] : [`${name} has no readOnlyHint`]),
    ...lint(inputSchema, name),
  ];
}

describe("the tools", () => {
  it("have schemas that every client takes", () => {
    assertEquals(tools.flatMap(lintTool), []);
  });

  it("are each listed as the golden of its name says", () => {
    for (const tool of tools) {
      assertGolden(`tools/${tool.name}.json`, `${JSON.stringify(tool, null, 2)}\n`);
    }
    assertEquals(goldensIn("tools"), tools.map(({ name }) => `${name}.json`).sort());
  });

  it("have names of their own, in the order of their groups", () => {
    assertEquals(new Set(tools.map(({ name }) => name)).size, tools.length);
    const groups = facts.filter(isTool).map(({ group }) => group);
    const runs = groups.filter((group, at) => group !== groups[at - 1]);
    assertEquals(runs, [...new Set(groups)]);
  });

  for (
    const [says, selection, most] of [
      ["all of them", { readOnly: false }, 13_000],
      ["those of the set core", { readOnly: false, toolsets: ["core"] }, 3_300],
      ["those that read", { readOnly: true }, 3_500],
    ] as const
  ) {
    it(`take at most ${most} tokens of a model, ${says}`, () => {
      const weights = selectTools(selection, facts).map((fact) => describeTool(fact)).map(
        weighTool,
      );
      const tokens = tokensOf(weights.reduce((sum, weight) => sum + weight, 0));
      assert(tokens <= most, `${weights.length} tools are about ${tokens} tokens`);
    });
  }

  it("take at most 450 tokens each", () => {
    const heavy = tools.filter((tool) => tokensOf(weighTool(tool)) > 450);
    assertEquals(heavy.map((tool) => [tool.name, tokensOf(weighTool(tool))]), []);
  });
});
