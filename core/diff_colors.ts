import { color, type Paint, safe, type Style } from "./text.ts";

const paints: readonly (readonly [RegExp, Paint])[] = [
  [
    /^(diff --git|index|---|\+\+\+|old mode|new mode|deleted file|new file|similarity|rename) ?/,
    "bold",
  ],
  [/^@@/, "cyan"],
  [/^\+/, "green"],
  [/^-/, "red"],
];

/** A diff for a terminal: added and removed lines told apart where there is colour, what steers it made safe. */
export function colorDiff(diff: string, style: Style): string {
  if (!style.color) return safe(diff);
  return diff.split("\n").map((line) => {
    const paint = paints.find(([start]) => start.test(line))?.[1];
    return paint === undefined ? safe(line) : color(line, paint, style);
  }).join("\n");
}
