import { assert, assertEquals } from "@std/assert";
// @ts-types="@modelcontextprotocol/sdk/validation/ajv"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv-provider.js";
import { answers } from "../../core/answers.gen.ts";
import type { AnswerSchema } from "../../core/form.ts";
import { facts } from "../../core/facts.gen.ts";

const validator = new AjvJsonSchemaValidator();

/** The schema that takes no key that is not named: an answer's form is to be all of it. */
function strict({ properties, items, anyOf, ...rest }: AnswerSchema): object {
  return {
    ...rest,
    ...(anyOf && { anyOf: anyOf.map(strict) }),
    ...(items && { items: strict(items) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, strict(property)]),
      ),
      additionalProperties: false,
    }),
  };
}

/** Fails unless an answer under --structured has, beside its text, what its tool's schema says and nothing else. */
export function checkStructured(tool: string, answer: object): void {
  const { structuredContent, isError, content } = answer as {
    structuredContent?: unknown;
    isError?: boolean;
    content: { text: string }[];
  };
  if (isError) {
    assertEquals(structuredContent, undefined, `${tool} failed with structured content`);
    return;
  }
  const name = facts.find((fact) => fact.tool === tool)?.name ?? "";
  const schema = answers[name];
  assert(schema !== undefined, `${tool} has no schema of its answers`);
  const { valid, errorMessage } = validator.getValidator(strict(schema))(structuredContent);
  assert(valid, `${tool}: ${errorMessage}: ${JSON.stringify(structuredContent)}`);
  const [{ text } = { text: "" }] = content;
  const value = structuredContent as { text?: unknown; diff?: unknown; said?: unknown };
  if (![value.text, value.diff, `${value.said}\n`].includes(text)) {
    assertEquals(JSON.parse(text), structuredContent, tool);
  }
}
