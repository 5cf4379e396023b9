import { replaceUnsafe } from "./errors.ts";

/** How text for the command line looks. */
export interface Style {
  /** True on a terminal: tables with a header and relative times; false in a pipe: TSV and the one value that matters. */
  readonly terminal: boolean;
  readonly color: boolean;
  /** Columns of the terminal. */
  readonly width: number;
  readonly now: Date;
}

/** Gives text fit for a terminal: line breaks and tabs stay, anything that steers it or hides becomes U+FFFD. */
export function safe(text: string): string {
  return replaceUnsafe(
    text.replaceAll("\r\n", "\n"),
    (character) => character === "\n" || character === "\t" ? character : "\uFFFD",
  ).toWellFormed();
}

const paints = {
  bold: ["1", "22"],
  dim: ["2", "22"],
  red: ["31", "39"],
  green: ["32", "39"],
  yellow: ["33", "39"],
  cyan: ["36", "39"],
} as const;

/** A way to set text off from the rest. */
export type Paint = keyof typeof paints;

/** Gives text set off by `paint` where the style has colour; what it holds from others is made safe. */
export function color(text: string, paint: Paint, style: Style): string {
  const clean = safe(text);
  if (!style.color || clean === "") return clean;
  const [on, off] = paints[paint];
  return `\x1b[${on}m${clean}\x1b[${off}m`;
}

const codes = new Set(Object.values(paints).flat().map((code) => `\x1b[${code}m`));
// deno-lint-ignore no-control-regex
const sequence = /(\x1b\[\d+m)/;

/** As `safe`, but leaves what `color` put in. */
export function safePainted(text: string): string {
  return text.split(sequence).map((part) => codes.has(part) ? part : safe(part)).join("");
}

/** The columns a line of text takes on a terminal, colour not counted. */
export function widthOf(text: string): number {
  // deno-lint-ignore no-control-regex
  const plain = text.replace(/\x1b\[\d+m/g, "");
  // deno-lint-ignore no-control-regex
  if (/^[\x00-\x7f]*$/.test(plain)) return plain.length;
  let width = 0;
  for (const character of plain) {
    if (!isNothing(character)) width += isWide(character) ? 2 : 1;
  }
  return width;
}

function isNothing(character: string): boolean {
  return /[\p{M}\u200c\u200d\ufe0f]/u.test(character);
}

function isWide(character: string): boolean {
  return /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1faff}\u{20000}-\u{3fffd}]/u
    .test(character);
}

/** Cuts a line of text to `width` columns, the last of them an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  let used = 1;
  for (const character of text) {
    used += widthOf(character);
    if (used > width) break;
    kept += character;
  }
  return `${kept}…`;
}

const spans = [
  [60, 1, "second"],
  [3600, 60, "minute"],
  [86_400, 3600, "hour"],
  [30 * 86_400, 86_400, "day"],
  [365 * 86_400, 30 * 86_400, "month"],
  [Infinity, 365 * 86_400, "year"],
] as const;

/** Says how long before `now` a moment was: `3 days ago`, `in 2 hours`; text that is no date comes back as it is. */
export function relativeTime(date: string, now: Date): string {
  const seconds = (now.getTime() - Date.parse(date)) / 1000;
  if (Number.isNaN(seconds)) return date;
  const far = Math.abs(seconds);
  const [, unit, name] = spans.find(([below]) => far < below) ?? spans[5];
  const count = Math.floor(far / unit);
  if (name === "second" && count < 10) return "just now";
  const said = `${count} ${name}${count === 1 ? "" : "s"}`;
  return seconds < 0 ? `in ${said}` : `${said} ago`;
}

/** Tells whether a column holds moments, by its name. */
function isMoment(key: string): boolean {
  return key === "date" || /[a-z]At$/.test(key);
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(cellText).join(",");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A value as one field of TSV: safe as on a terminal; tab, newline and backslash are `\t`, `\n` and `\\`. */
export function tsvField(value: unknown): string {
  const text = cellText(value);
  // Most fields are no more than this.
  if (/^[ -[\]-~]*$/.test(text)) return text;
  return safe(text).replace(/[\t\n\\]/g, (character) => {
    return character === "\t" ? "\\t" : character === "\n" ? "\\n" : "\\\\";
  });
}

/** A row of a table: what `columns` takes its cells from. */
export type Row = Readonly<Record<string, unknown>>;

/** A path in git's quoted form holds no tab and no newline, and its backslashes are escapes already. */
function fieldOf(row: Row, key: string): string {
  const value = row[key];
  const isPath = key === "path" || (key === "name" && "mode" in row);
  return isPath && typeof value === "string" && /^".*"$/s.test(value) && !/[\t\n]/.test(value)
    ? safe(value)
    : tsvField(value);
}

/** Columns a reader copies from: cut only where there is no other way. */
const whole = new Set(["uri", "repo", "sha", "commit", "did", "handle", "ref", "mode"]);
/** Columns between two columns of a table, and the fewest that a cut column has. */
const GAP = 2;
const NARROWEST = 8;

/**
 * Rows as text, one a line: in a pipe TSV of `keys` in their order, without a header; on a terminal a table of `shown`
 * (or of `keys`), with a header, relative times, short shas, and the widest columns that may be cut made to fit. Where
 * the terminal is too narrow for that, one value a line.
 */
export function columns(
  rows: readonly Row[],
  keys: readonly string[],
  style: Style,
  shown: readonly string[] = keys,
): string {
  if (!style.terminal) {
    return rows.map((row) => keys.map((key) => fieldOf(row, key)).join("\t")).join("\n");
  }
  if (rows.length === 0) return "";
  const cells = rows.map((row) => shown.map((key) => cellOf(row, key, style)));
  const titles = shown.map((key) => key.replace(/At$/, "").replace(/[A-Z]/g, " $&").toUpperCase());
  const widths = shown.map((_, index) =>
    Math.max(...[titles, ...cells].map((line) => widthOf(line[index] ?? "")))
  );
  if (!shrink(widths, shown, style.width)) return stack(cells, titles, style);
  const [header = "", ...lines] = [titles, ...cells].map((line) =>
    line.map((cell, index) => {
      const width = widths[index] ?? 0;
      const text = cut(cell, width);
      return text + " ".repeat(Math.max(0, width - widthOf(text)));
    }).join(" ".repeat(GAP)).trimEnd()
  );
  return [color(header, "dim", style), ...lines].join("\n");
}

function cellOf(row: Row, key: string, style: Style): string {
  const text = safe(cellText(row[key])).replace(/[\n\t]+/g, " ");
  if (key === "sha" || key === "commit") {
    return /^[0-9a-f]{40,64}$/.test(text) ? text.slice(0, 8) : text;
  }
  return isMoment(key) ? relativeTime(text, style.now) : text;
}

/** Narrows the widest columns that may be cut until all fit into `most`; false when they cannot. */
function shrink(widths: number[], keys: readonly string[], most: number): boolean {
  const mayCut = keys.flatMap((key, index) => whole.has(key) ? [] : [index]);
  for (const index of mayCut) widths[index] = Math.min(widths[index] ?? 0, most);
  let over = widths.reduce((sum, width) => sum + width + GAP, -GAP) - most;
  for (; over > 0; over--) {
    const widest = mayCut.reduce<number | undefined>(
      (best, index) =>
        best === undefined || (widths[index] ?? 0) > (widths[best] ?? 0) ? index : best,
      undefined,
    );
    const width = widest === undefined ? 0 : widths[widest] ?? 0;
    if (widest === undefined || width <= NARROWEST) return false;
    widths[widest] = width - 1;
  }
  return true;
}

/** Each row as lines of a title and a value, cut to the terminal; an empty line between two rows. */
function stack(
  cells: readonly (readonly string[])[],
  titles: readonly string[],
  style: Style,
): string {
  const column = Math.min(Math.max(...titles.map(widthOf)), Math.floor(style.width / 3));
  return cells.map((line) =>
    line.flatMap((cell, index) => {
      if (cell === "") return [];
      const title = cut(titles[index] ?? "", column);
      const lead = title + " ".repeat(column - widthOf(title) + GAP);
      return [color(lead, "dim", style) + cut(cell, style.width - column - GAP)];
    }).join("\n")
  ).join("\n\n");
}

/** One object as text, a line for each key that has a value: aligned on a terminal, TSV in a pipe. */
export function fields(row: Row, style: Style): string {
  const keys = Object.keys(row).filter((key) => row[key] !== undefined && row[key] !== null);
  if (!style.terminal) return keys.map((key) => `${key}\t${fieldOf(row, key)}`).join("\n");
  const width = Math.max(0, ...keys.map((key) => key.length));
  return keys.map((key) => `${color(key.padEnd(width), "dim", style)}  ${cellOf(row, key, style)}`)
    .join("\n");
}

/** The candidate a mistyped word most likely meant; undefined when none is near. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const most = word.length < 4 ? 1 : 2;
  let best: string | undefined;
  let least = most + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > most || word.length > 64) continue;
    const steps = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (steps < least) [best, least] = [candidate, steps];
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours between two short words. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      }
      row.push(least);
    }
    [before, previous] = [previous, row];
  }
  return previous[b.length] ?? 0;
}
/**
 * The whole description of a parameter. What stands in [ ] is said to people only: assistants know it from the name or the
 * server's instructions.
 */
export function inFull(description: string): string {
  return description.replace(/[[\]]/g, "");
}

/** The description without what is said to people only. */
export function inBrief(description: string): string {
  return description.replace(/\[[^\]]*\]\s*/g, "");
}
