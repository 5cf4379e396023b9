import type * as z from "zod";
import { accept } from "./accept.ts";
import type { Contexts, Kind } from "./context.ts";
import { CorruptError, type KnotlessError, type Suggestion } from "./errors.ts";
import type { Example, Fact } from "./facts.ts";
import type { Form } from "./form.ts";
import type * as Kit from "./params.ts";
import type { Style } from "./text.ts";

/** What parameters are described with: zod, and the ones that many commands share. */
export type ParamKit = typeof Kit;
export type Zod = ParamKit["z"];
export type Params = z.ZodRawShape;
export type Input<P extends Params> = z.output<z.ZodObject<P>>;
type Undoable = { undo: z.ZodDefault<z.ZodBoolean> };
type Shape<P extends Params, U> = U extends string ? P & Undoable : P;

/** What both faces show of a command, beside its parameters. */
interface Words {
  /** `pull update-branch`, `account email add`, `status`. */
  readonly name: string;
  /** Imperative, one line, no full stop: help's line and the tool's description. */
  readonly summary: string;
  /** More for `--help` and for the tool, when the line is not enough. */
  readonly details?: string;
  readonly examples: readonly Example[];
  /** Old names, still answered, not listed. */
  readonly aliases?: readonly string[];
  /** For a write that takes away what others may rely on: an assistant may ask before it. */
  readonly destructive?: true;
}

/** How a command's result is shown. */
interface Faces<R> {
  /** Text for the command line: a table, fields or a sentence; without it the CLI prints the JSON. */
  render?(result: R, style: Style): string;
  /** The tool's text and what a pipe gets, where they are not the result's JSON: a file, a diff. */
  content?(result: R): string | Uint8Array | undefined;
  /** What a pipe gets where a tool gets something else: the bytes of a binary file, and of a diff of nothing none. */
  raw?(result: R): Uint8Array | undefined;
  /** The command that brings back what was taken away; `args` are those of the call. */
  back?(result: R, args: Readonly<Record<string, unknown>>): Suggestion;
  /** The command line's exit status where the result, though an answer, is no success; 0 without it. */
  exit?(result: R): number;
  /** Arguments that have all of a long answer: the command line adds them to text, which costs nobody tokens. */
  readonly whole?: Readonly<Record<string, unknown>>;
  /**
   * What a tool says in place of a result that is over the `most` bytes of an answer by the command's own count, where
   * the length of the answer's text is not what counts; `args` are those of the call.
   */
  oversize?(
    result: R,
    most: number,
    args: Readonly<Record<string, unknown>>,
  ): KnotlessError | undefined;
}

/** One entry of the command table: what the CLI runs and the MCP tool calls. */
export interface Command<K extends Kind = Kind, P extends Params = Params, R = unknown>
  extends Words, Faces<R> {
  readonly kind: K;
  /** Gives the parameters' schema, made when first asked for: zod and 135 schemas are too slow for a start. */
  schema(): Promise<z.ZodObject<P>>;
  /** The same as plain data, by which most arguments are told to fit; only the table's own commands have it. */
  readonly fact?: Fact;
  readonly positionals: readonly string[];
  readonly undo: string | undefined;
  /** What its result looks like as JSON; a tool has one. */
  answer?(): Form<never>;
  run(context: Contexts[K], input: Input<P>): Promise<R>;
}

// deno-lint-ignore no-explicit-any
export type AnyCommand = Command<any, any, any>;

/** Declares a command; the types of `run` and `render` follow from the rest. */
export function command<
  const K extends Kind,
  P extends Params,
  R extends A,
  const U extends string | undefined = undefined,
  A = unknown,
>(
  entry: Words & Faces<NoInfer<R>> & {
    kind: K;
    params(kit: ParamKit): P;
    /** In usage order; an array in the last place takes the rest. */
    positionals?: readonly (keyof P & string)[];
    /** What undo does; adds `undo` to the input. */
    undo?: U;
    /** What a result looks like as JSON: every result has to fit. */
    answer?(): Form<A>;
    run(context: Contexts[K], input: Input<Shape<P, U>>): Promise<R>;
  },
): Command<K, Shape<P, U>, R> {
  const { params, undo, positionals = [], ...rest } = entry;
  let schema: z.ZodObject<Shape<P, U>> | undefined;
  return {
    ...rest,
    undo,
    positionals,
    async schema() {
      const kit = await import("./params.ts");
      return schema ??= kit.z.strictObject({
        ...params(kit),
        ...(undo && { undo: kit.z.boolean().default(false).describe(undo) }),
      }) as unknown as z.ZodObject<Shape<P, U>>;
    },
  };
}

/**
 * Checks the arguments and runs the command: the one way in, from any surface. Throws a UsageError that names the
 * parameter, what came and what it takes.
 */
export async function call<K extends Kind, P extends Params, R>(
  command: Command<K, P, R>,
  args: unknown,
  open: (kind: K) => Promise<Contexts[K]>,
): Promise<R> {
  const input = accept(command.fact, args) ?? await check(await command.schema(), args);
  const context = await open(command.kind);
  const run = () => command.run(context, input as Input<P>);
  try {
    return await run();
  } catch (error) {
    const { mirrors, freshness } = context;
    if (!(error instanceof CorruptError) || !await mirrors.heal(freshness)) throw error;
    if (command.kind === "read") return await run();
    // What it has written by then is not known here.
    throw new CorruptError("the copy on this machine was damaged", {
      cause: error,
      code: "corrupt.copy",
      hint: "run it again",
    });
  }
}

async function check(schema: z.ZodObject, args: unknown): Promise<unknown> {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  const { explain } = await import("./explain.ts");
  throw explain(schema, args, parsed.error);
}
