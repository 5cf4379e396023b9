// deno-lint-ignore-file no-console
/**
 * Writes what follows from the command table and the lexicons: core/facts.gen.ts, core/answers.gen.ts,
 * docs/commands.md and core/atproto/lexicons.gen.ts. With `--check` it writes nothing and fails when one of them lags.
 */
import process from "node:process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { inBrief, inFull } from "../core/text.ts";
import type { Fact, Fit, Named, ParamFact, Schema } from "../core/facts.ts";
import { type Entry, loadEntries } from "../core/table.ts";
import { commandsPage } from "./commands_page.ts";
import { lexiconModule } from "./lexicons.ts";
import { readOptions } from "./options.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The one letter a parameter's flag may have, the same for every command. */
const letters: Readonly<Record<string, string>> = {
  body: "b",
  label: "l",
  limit: "L",
  message: "m",
  state: "s",
  title: "t",
};

const types = new Set(["object", "array", "string", "integer", "number", "boolean"]);

interface JsonSchema {
  readonly [key: string]: unknown;
  readonly type?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly additionalProperties?: unknown;
  readonly names?: Named;
}

/**
 * What clients of every kind understand of a JSON Schema, without bounds: they keep nonsense out, and the command checks
 * them. Throws where a schema cannot be said so.
 */
export function portable(schema: JsonSchema, where: string): Schema {
  const { type, description, properties, required, items, minimum, maximum } = schema;
  if (typeof type !== "string" || !types.has(type)) {
    throw new Error(`${where} has no single type: ${JSON.stringify(schema)}`);
  }
  if (type === "array" && items === undefined) throw new Error(`${where} says not what it holds`);
  const bounded = minimum !== undefined && maximum !== undefined &&
    Math.max(-minimum, maximum) < Number.MAX_SAFE_INTEGER;
  if (type === "integer" && !bounded) throw new Error(`${where} is an integer without bounds`);
  const said = inBrief(description ?? "");
  return {
    type: type as Schema["type"],
    ...(said !== "" && { description: said }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [
          name,
          portable(property, `${where}.${name}`),
        ]),
      ),
    }),
    ...(required?.length && { required: [...required] }),
    ...(items && { items: portable(items, `${where}[]`) }),
    ...(schema.enum && { enum: [...schema.enum] }),
    ...(isTextMap(schema) && { additionalProperties: { type: "string" } }),
  };
}

/** A map from names to texts is the one use of additionalProperties that clients share. */
function isTextMap({ additionalProperties, properties }: JsonSchema): boolean {
  return properties === undefined && typeof additionalProperties === "object";
}

/** The plain facts of one command. */
export async function factOf({ module, command }: Entry): Promise<Fact> {
  const {
    name,
    summary,
    details,
    undo,
    kind,
    positionals,
    examples,
    aliases = [],
    destructive,
    content,
  } = command;
  const described = await command.schema();
  const raw = z.toJSONSchema(described, { io: "input" }) as JsonSchema;
  const schema = { ...portable(raw, name), properties: portable(raw, name).properties ?? {} };
  const params = Object.entries(schema.properties).map(([param, property]) =>
    paramFact(param, property, raw, described)
  );
  return {
    name,
    ...(kind !== "machine" && { tool: name.replaceAll(/[ -]/g, "_") }),
    group: name.split(" ")[0] ?? name,
    kind,
    summary,
    ...(details && { details }),
    ...(undo && { undo }),
    ...(destructive && { destructive }),
    ...(content && { content: true }),
    positionals,
    aliases,
    examples,
    params,
    schema,
    module,
  };
}

function paramFact(
  name: string,
  schema: Schema,
  raw: JsonSchema,
  params: z.ZodObject,
): ParamFact {
  const { type, items } = schema;
  const given = raw.properties?.[name];
  const { minimum, maximum, description = "" } = given ?? {};
  const usual = given?.default;
  const required = raw.required?.includes(name) ?? false;
  const blank = type === "string" && !required &&
    z.safeParse(params.shape[name] ?? z.never(), "").success;
  const names = given?.names ?? given?.items?.names;
  const fit = fitOf(params.shape[name]);
  return {
    name,
    type,
    ...(items && { items: items.type }),
    ...(schema.enum && { enum: schema.enum }),
    ...(usual !== undefined && { default: usual }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    required,
    description: inFull(description),
    ...(letters[name] && { short: letters[name] }),
    ...(blank && { blank }),
    ...(names && { names }),
    ...(fit && { fit }),
  };
}

const READ = new Set<unknown>(["repo", "account", "new_repo"] satisfies Fit["read"][]);

/** What fits a schema, where a type, choices, bounds and what core/params.ts reads are all of it. */
function fitOf(schema: z.core.$ZodType | undefined): Fit | undefined {
  const { def } = schema?._zod ?? {};
  if (def === undefined || schema === undefined) return undefined;
  if (def.type === "optional" || def.type === "default") {
    return fitOf((def as z.core.$ZodOptionalDef).innerType);
  }
  const bounds = boundsOf(def.checks ?? []);
  if (bounds === undefined) return undefined;
  if (def.type === "pipe") {
    const read = z.globalRegistry.get(schema)?.names;
    return READ.has(read) ? { read: read as NonNullable<Fit["read"]> } : undefined;
  }
  if (def.type === "array") {
    const each = fitOf((def as z.core.$ZodArrayDef).element);
    return each && { ...bounds, each };
  }
  return ["string", "number", "boolean", "enum"].includes(def.type) ? bounds : undefined;
}

/** The lengths that checks ask for; undefined where one asks for something else. */
function boundsOf(checks: readonly z.core.$ZodCheck[]): Fit | undefined {
  const fit: { least?: number; most?: number } = {};
  for (const { _zod: { def } } of checks) {
    switch (def.check) {
      case "min_length":
        fit.least = (def as z.core.$ZodCheckMinLengthDef).minimum;
        break;
      case "max_length":
        fit.most = (def as z.core.$ZodCheckMaxLengthDef).maximum;
        break;
      // The schema's own bounds say these, and that all numbers are safe integers.
      case "number_format":
      case "greater_than":
      case "less_than":
        break;
      default:
        return undefined;
    }
  }
  return fit;
}

/** The facts of every command of the table, as plain JSON values. */
export async function allFacts(): Promise<readonly Fact[]> {
  return JSON.parse(JSON.stringify(await Promise.all((await loadEntries()).map(factOf))));
}

/** The text of core/facts.gen.ts. */
export function factsModule(facts: readonly Fact[]): string {
  return [
    "// Generated by scripts/gen.ts: run `deno task gen`.",
    "// deno-fmt-ignore-file",
    'import type { Fact } from "./facts.ts";',
    "",
    "/** Every command of the table, in help's order. */",
    "export const facts: readonly Fact[] = [",
    ...facts.map((fact) => `  ${JSON.stringify(fact)},`),
    "];",
    "",
  ].join("\n");
}

/** The text of core/answers.gen.ts. */
export async function answersModule(): Promise<string> {
  const rows = (await loadEntries()).flatMap(({ command: { name, answer } }) =>
    answer ? [`  ${JSON.stringify(name)}: ${JSON.stringify(answer().schema)},`] : []
  );
  return [
    "// Generated by scripts/gen.ts: run `deno task gen`.",
    "// deno-fmt-ignore-file",
    'import type { AnswerSchema } from "./form.ts";',
    "",
    "/** What the answers of commands look like, by the commands' names. */",
    "export const answers: Readonly<Record<string, AnswerSchema>> = {",
    ...rows,
    "};",
    "",
  ].join("\n");
}

/** Every generated file, by its path under the project. */
export async function generate(): Promise<ReadonlyMap<string, string>> {
  const facts = await allFacts();
  return new Map([
    ["core/facts.gen.ts", factsModule(facts)],
    ["core/answers.gen.ts", await answersModule()],
    ["core/atproto/lexicons.gen.ts", await lexiconModule()],
    ["docs/commands.md", commandsPage(facts)],
  ]);
}

/** The paths of the generated files whose text on disk is another. */
export async function findLagging(files: ReadonlyMap<string, string>): Promise<string[]> {
  const lagging: string[] = [];
  for (const [path, text] of files) {
    const there = await readFile(join(root, path), "utf8").catch(() => undefined);
    if (there !== text) lagging.push(path);
  }
  return lagging;
}

if (import.meta.main) {
  const files = await generate();
  const lagging = await findLagging(files);
  if (readOptions({ options: { check: { type: "boolean" } } }).values.check) {
    for (const path of lagging) console.error(`${path} lags: run deno task gen`);
    process.exitCode = lagging.length ? 1 : 0;
  } else {
    for (const path of lagging) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), files.get(path) ?? "");
      console.log(`wrote ${path}`);
    }
  }
}
