import { cut, widthOf } from "../core/text.ts";

/** Help is set for terminals of any width. */
const width = 80;

/** Rows of a name and what it is, the names in one column. */
export function table(rows: readonly (readonly [string, string])[]): string[] {
  const column = Math.min(Math.max(0, ...rows.map(([name]) => widthOf(name))), 26);
  return rows.flatMap(([name, text]) => {
    const [first = "", ...rest] = wrap(text, " ".repeat(column + 4));
    if (widthOf(name) > column) return [`  ${cut(name, width - 2)}`, first, ...rest];
    return [`  ${name}${" ".repeat(column - widthOf(name))}  ${first.trimStart()}`, ...rest];
  });
}

/** A text in lines that fit, each begun with `indent`. */
export function wrap(text: string, indent: string): string[] {
  const wrapped: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line && widthOf(indent) + widthOf(line) + 1 + widthOf(word) > width) {
      wrapped.push(indent + line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  return [...wrapped, indent + line];
}

/** Lines as text. */
export function lines(text: readonly string[]): string {
  return `${text.map((line) => line.trimEnd()).join("\n")}\n`;
}
