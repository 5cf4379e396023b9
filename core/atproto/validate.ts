import { CorruptError, quote } from "../errors.ts";
import { parseCid } from "./cid.ts";
import { isBlobRef, MAX_DEPTH } from "./data.ts";
import { isObject } from "./json.ts";
import type { ObjectSchema, RecordSchema, Schema, StringSchema } from "./lexicon.ts";
import { lexicons } from "./lexicons.gen.ts";
import { isAtUri, isDid, isHandle, isNsid, isRkey, isTid } from "./syntax.ts";

type Reason = string | undefined;

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  "at-identifier": (text) => isDid(text) || isHandle(text),
  "at-uri": isAtUri,
  "cid": (text) => parseCid(text) !== undefined,
  "datetime": isDatetime,
  "did": isDid,
  "handle": isHandle,
  "nsid": isNsid,
  "record-key": isRkey,
  "tid": isTid,
  "uri": (text) => text.length <= 8192 && /^[a-z][a-z0-9.+-]{0,80}:[!-~\u00a1-\uffff]+$/.test(text),
};

const DATETIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

const defs = new Map<string, Schema | RecordSchema>(
  lexicons.flatMap(({ id, defs }) =>
    Object.entries(defs).map(([name, def]) => [`${id}#${name}`, def] as const)
  ),
);

/** Throws a CorruptError, naming the record and the field, unless `value` is a record of that collection. */
export function checkRecord(collection: string, value: unknown, uri: string): void {
  const reason = findFault(collection, value);
  if (reason !== undefined) {
    throw new CorruptError(`${quote(uri)} is not a ${collection}: ${quote(reason)}`, {
      code: "corrupt.record",
    });
  }
}

/** True when `value` is a record of that collection. */
export function matchesLexicon(collection: string, value: unknown): boolean {
  return findFault(collection, value) === undefined;
}

/** What keeps `value` from being a record of that collection; undefined when nothing does. */
export function findFault(collection: string, value: unknown): Reason {
  const def = defs.get(`${collection}#main`);
  if (def?.type !== "record") return `there is no lexicon ${collection}`;
  if (!isObject(value)) return "it is not an object";
  if (value["$type"] !== undefined && value["$type"] !== collection) {
    return `$type is not ${collection}`;
  }
  return checkObject({ id: collection, depth: 0 }, def.record, value, "");
}

/** Whose references are meant, and how deep the value lies. */
interface Place {
  readonly id: string;
  readonly depth: number;
}

function check(place: Place, schema: Schema, value: unknown, path: string): Reason {
  if (place.depth > MAX_DEPTH) return `${path} is nested too deeply`;
  switch (schema.type) {
    case "string":
      return checkString(schema, value, path);
    case "integer":
      if (!Number.isSafeInteger(value)) return `${path} is not an integer`;
      return checkBounds(Number(value), schema.minimum, schema.maximum, path);
    case "boolean":
      return typeof value === "boolean" ? undefined : `${path} is not true or false`;
    case "bytes":
      if (!(value instanceof Uint8Array)) return `${path} is not bytes`;
      return checkBounds(value.length, schema.minLength, schema.maxLength, `the length of ${path}`);
    case "cid-link":
      return isObject(value) && parseCid(String(value["$link"])) !== undefined
        ? undefined
        : `${path} is not a link`;
    case "blob":
      if (!isBlobRef(value) || parseCid(value.ref.$link) === undefined) {
        return `${path} is not a blob`;
      }
      return checkBounds(value.size, undefined, schema.maxSize, `the size of ${path}`);
    case "unknown":
      return isObject(value) ? undefined : `${path} is not an object`;
    case "ref":
      return checkRef(place, schema.ref, value, path);
    case "array":
      if (!Array.isArray(value)) return `${path} is not an array`;
      return checkBounds(
        value.length,
        schema.minLength,
        schema.maxLength,
        `the length of ${path}`,
      ) ??
        first(
          value.entries(),
          ([i, item]) => check(deeper(place), schema.items, item, `${path}[${i}]`),
        );
    case "object":
      return checkObject(place, schema, value, path);
  }
}

function checkObject(place: Place, schema: ObjectSchema, value: unknown, path: string): Reason {
  if (!isObject(value)) return `${path} is not an object`;
  return first(Object.entries(schema.properties), ([key, property]) => {
    const name = path === "" ? key : `${path}.${key}`;
    const field = Object.hasOwn(value, key) ? value[key] : undefined;
    if (field !== undefined) return check(deeper(place), property, field, name);
    return schema.required?.includes(key) ? `${name} is missing` : undefined;
  });
}

function checkRef(place: Place, ref: string, value: unknown, path: string): Reason {
  const [id = "", name = "main"] = ref.split("#");
  const target = { id: id || place.id, depth: place.depth };
  const schema = defs.get(`${target.id}#${name}`);
  if (schema === undefined) return `${path} refers to ${ref}, which no lexicon has`;
  return check(target, schema.type === "record" ? schema.record : schema, value, path);
}

function checkString(schema: StringSchema, value: unknown, path: string): Reason {
  if (typeof value !== "string") return `${path} is not text`;
  const { format, minLength, maxLength, maxGraphemes } = schema;
  const most = maxLength ?? Infinity;
  // UTF-8 takes one to three bytes for each UTF-16 unit: most texts need no count.
  const bytes = value.length > most || value.length * 3 > most || minLength !== undefined
    ? new TextEncoder().encode(value).length
    : 0;
  const length = bytes > 0 || minLength !== undefined
    ? checkBounds(bytes, minLength, maxLength, `the length of ${path}`)
    : undefined;
  if (length !== undefined) return length;
  if (maxGraphemes !== undefined && value.length > maxGraphemes) {
    if (countGraphemes(value) > maxGraphemes) return `${path} is over ${maxGraphemes} characters`;
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    return `${path} is not one of ${schema.enum.join(", ")}`;
  }
  return format === undefined || formats[format]?.(value)
    ? undefined
    : `${path} is not a ${format}`;
}

function countGraphemes(text: string): number {
  let count = 0;
  for (const _ of new Intl.Segmenter().segment(text)) count++;
  return count;
}

function checkBounds(
  value: number,
  minimum: number | undefined,
  maximum: number | undefined,
  what: string,
): Reason {
  if (minimum !== undefined && value < minimum) return `${what} is ${value}, below ${minimum}`;
  if (maximum !== undefined && value > maximum) return `${what} is ${value}, over ${maximum}`;
  return undefined;
}

/**
 * A date and time with seconds and a zone, as both RFC 3339 and ISO 8601 write it. The engines' own parsers differ on
 * dates that are none, such as 30 February: those are let by.
 */
function isDatetime(text: string): boolean {
  return text.length <= 64 && !text.endsWith("-00:00") && DATETIME.test(text);
}

function deeper({ id, depth }: Place): Place {
  return { id, depth: depth + 1 };
}

function first<T>(items: Iterable<T>, find: (item: T) => Reason): Reason {
  for (const item of items) {
    const reason = find(item);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
