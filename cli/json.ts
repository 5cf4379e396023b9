import { quote, UsageError } from "../core/errors.ts";

/** Reads JSON that came from `where` (a flag, a file); throws a UsageError that says the line and column of what is wrong. */
export function readJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const at = findFault(text);
    const before = text.slice(0, at).split("\n");
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    const found = at >= text.length ? "the text ends" : quote(text.slice(at, at + 20));
    throw new UsageError(`${where} is not JSON: ${place}: ${found}`);
  }
}

const space = /[ \t\n\r]*/y;
const scalar =
  // deno-lint-ignore no-control-regex
  /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** Finds where a text stops being JSON: the runtimes do not all say. */
function findFault(text: string): number {
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const [found = ""] = pattern.exec(text) ?? [];
    at += found.length;
    return found;
  };
  const sign = (): string => {
    take(space);
    return text[at] ?? "";
  };
  /** What may close each array or object that is open. */
  const open: ("]" | "}")[] = [];
  let want: "value" | "first" | "key" | "next" = "value";
  while (true) {
    const next = sign();
    const close = open.at(-1);
    if (want === "next") {
      if (close === undefined) return at;
      if (next !== "," && next !== close) return at;
      at++;
      if (next === ",") want = close === "}" ? "key" : "value";
      else open.pop();
    } else if ((want === "first") && next === close) {
      at++;
      open.pop();
      want = "next";
    } else if (close === "}" && want !== "value") {
      if (next !== '"' || !take(scalar) || sign() !== ":") return at;
      at++;
      want = "value";
    } else if (next === "[" || next === "{") {
      at++;
      open.push(next === "[" ? "]" : "}");
      want = "first";
    } else {
      if (!take(scalar)) return at;
      want = "next";
    }
  }
}
