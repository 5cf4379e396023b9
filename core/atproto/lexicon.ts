/** What a lexicon says a value must be: the part of the language that our lexicons use. */
export type Schema =
  | StringSchema
  | { readonly type: "integer"; readonly minimum?: number; readonly maximum?: number }
  | { readonly type: "boolean" }
  | { readonly type: "bytes"; readonly minLength?: number; readonly maxLength?: number }
  | { readonly type: "cid-link" }
  | { readonly type: "blob"; readonly accept?: readonly string[]; readonly maxSize?: number }
  | { readonly type: "unknown" }
  | { readonly type: "ref"; readonly ref: string }
  | ArraySchema
  | ObjectSchema;

/** Text: lengths are in bytes of UTF-8. */
export interface StringSchema {
  readonly type: "string";
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxGraphemes?: number;
  readonly knownValues?: readonly string[];
  readonly enum?: readonly string[];
}

/** A list of values of one kind. */
export interface ArraySchema {
  readonly type: "array";
  readonly items: Schema;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** An object; fields it does not name are allowed. */
export interface ObjectSchema {
  readonly type: "object";
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, Schema>>;
}

/** A record: an object with a rule for its key. */
export interface RecordSchema {
  readonly type: "record";
  readonly key: string;
  readonly record: ObjectSchema;
}

/** One lexicon document. */
export interface LexiconDoc {
  readonly lexicon: 1;
  readonly id: string;
  readonly defs: Readonly<Record<string, Schema | RecordSchema>>;
}
