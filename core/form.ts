/** A JSON Schema of an answer. */
export interface AnswerSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, AnswerSchema>>;
  readonly required?: readonly string[];
  readonly items?: AnswerSchema;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly AnswerSchema[];
}

/** What a part of an answer looks like; every value of `T` does. */
export interface Form<in T> {
  readonly schema: AnswerSchema;
  /** There is none: it has the compiler refuse a form that some value of `T` has not. */
  readonly takes?: (value: T) => void;
}

/** A part that not every answer has. */
interface Optional<in T> extends Form<T> {
  readonly isOptional: true;
}

type Parts = Readonly<Record<string, Form<never>>>;
type Of<S> = S extends Form<infer T> ? T : never;
type Whole<P extends Parts> =
  & { readonly [K in keyof P as P[K] extends Optional<never> ? never : K]: Of<P[K]> }
  & { readonly [K in keyof P as P[K] extends Optional<never> ? K : never]?: Of<P[K]> | undefined };

/** Text, or bytes that are shown as text. */
export function text(description?: string): Form<string | Uint8Array> {
  return { schema: { type: "string", ...(description && { description }) } };
}

/** One of some words. */
export function word<const W extends string>(...words: readonly W[]): Form<W> {
  return { schema: { type: "string", enum: words } };
}

/** A whole number. */
export function count(description?: string): Form<number> {
  return { schema: { type: "integer", ...(description && { description }) } };
}

/** True or false. */
export function flag(description?: string): Form<boolean> {
  return { schema: { type: "boolean", ...(description && { description }) } };
}

/** Whatever somebody else answered. */
export function anything(description: string): Form<unknown> {
  return { schema: { description } };
}

/** Any number of the same, in order. */
export function many<T>({ schema }: Form<T>): Form<readonly T[]> {
  return { schema: { type: "array", items: schema } };
}

/** The same, or null. */
export function orNull<T>({ schema }: Form<T>): Form<T | null> {
  return { schema: { anyOf: [schema, { type: "null" }] } };
}

/** The same, where there is one. */
export function optional<T>({ schema }: Form<T>): Optional<T> {
  return { schema, isOptional: true };
}

/** Parts by their names. */
export function object<const P extends Parts>(parts: P): Form<Whole<P>> {
  const required = Object.entries(parts).filter(([, part]) => !("isOptional" in part));
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(
        Object.entries(parts).map(([name, part]) => [name, part.schema]),
      ),
      ...(required.length > 0 && { required: required.map(([name]) => name) }),
    },
  };
}
