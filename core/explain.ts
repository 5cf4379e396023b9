import * as z from "zod";
import { quote, UsageError } from "./errors.ts";
import { inFull, nearest } from "./text.ts";

/** What is said of a place in the arguments. */
interface Field {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly items?: Field;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** The error for arguments that do not fit: names the parameter, what came and what it takes. */
export function explain(schema: z.ZodObject, args: unknown, error: z.ZodError): UsageError {
  // A parameter that is missing was most likely misspelled.
  const issue = error.issues.find(({ code }) => code === "unrecognized_keys") ?? error.issues[0];
  if (issue === undefined) return new UsageError("the arguments do not fit");
  const where = spellPath(issue.path);
  const field = fieldAt(schema, issue.path);
  if (issue.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    const known = Object.keys(field?.properties ?? {});
    const near = nearest(key, known);
    return new UsageError(
      `no such parameter: ${quote(where ? `${where}.${key}` : key)}`,
      { hint: near ? `did you mean ${near}?` : `it takes ${known.join(", ") || "none"}` },
    );
  }
  const came = issue.path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key],
    args,
  );
  const name = where || "the arguments";
  if (came === undefined && issue.code === "invalid_type") {
    return new UsageError(
      `${name} is missing${field?.description ? `: ${inFull(field.description)}` : ""}`,
    );
  }
  return new UsageError(`${name}${issueText(issue, came, field)}`);
}

/** A place in the arguments as people write it: `links[0].url`. */
function spellPath(path: readonly PropertyKey[]): string {
  return path.map((key, index) =>
    typeof key === "number" ? `[${key}]` : `${index ? "." : ""}${String(key)}`
  ).join("");
}

function fieldAt(schema: z.ZodObject, path: readonly PropertyKey[]): Field | undefined {
  const all = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Field;
  return path.reduce<Field | undefined>(
    (field, key) => typeof key === "number" ? field?.items : field?.properties?.[String(key)],
    all,
  );
}

/** What is wrong, to be read on behind the name of the parameter. */
function issueText(issue: z.core.$ZodIssue, came: unknown, field: Field | undefined): string {
  const given = quote(typeof came === "string" ? came : JSON.stringify(came) ?? "nothing");
  switch (issue.code) {
    case "invalid_type":
      return `: ${given || "an empty text"} is not ${article(issue.expected)}`;
    case "too_small":
      if (came === "") return " is empty";
      if (Array.isArray(came)) {
        const { minItems = issue.minimum, maxItems } = field ?? {};
        const most = maxItems === undefined ? `at least ${minItems}` : `${minItems} to ${maxItems}`;
        return `${came.length ? ` has ${came.length}` : " is empty"}: give ${most}`;
      }
      return typeof came === "string"
        ? `: ${given} is shorter than ${issue.minimum} characters`
        : `: ${given} is below ${issue.minimum}`;
    case "too_big":
      if (Array.isArray(came)) return ` has ${came.length}: give at most ${issue.maximum}`;
      return typeof came === "string"
        ? ` is ${came.length} characters: give at most ${issue.maximum}`
        : `: ${given} is over ${issue.maximum}`;
    case "invalid_value": {
      const values = issue.values.map(String);
      const near = typeof came === "string" ? nearest(came, values) : undefined;
      const takes = values.join(", ");
      if (came === "") return ` is empty: give one of ${takes}`;
      return `: ${given} is not one of ${takes}${near ? ` (did you mean ${near}?)` : ""}`;
    }
    case "invalid_format":
      // A pattern of ours says what it takes; the words of the library do not.
      if (!issue.message.startsWith("Invalid ")) return customText(issue.message, came, given);
      return came === ""
        ? " is empty"
        : `: ${given} does not fit${
          field?.description ? `: give ${inFull(field.description)}` : ""
        }`;
    default:
      return customText(issue.message, came, given);
  }
}

/** What a parameter's own reader said, which may name what came or not. */
function customText(message: string, came: unknown, given: string): string {
  if (came === "") return ` is empty${/^\s|^not /.test(message) ? "" : `: ${message}`}`;
  if (message.startsWith(given)) return `: ${message}`;
  return message.startsWith("not ")
    ? `: ${given} is ${message}`
    : `: ${given} does not fit: ${message}`;
}

function article(type: string): string {
  const noun = type === "int" ? "integer" : type;
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}
