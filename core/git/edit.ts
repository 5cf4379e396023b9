import { UsageError } from "../errors.ts";
import { concat } from "./bytes.ts";

/** One replacement in a file: `old` must be there exactly once. */
export interface Edit {
  readonly old: Uint8Array;
  readonly new: Uint8Array;
}

/** Makes edits in turn, each in what the one before left; a UsageError names the edit, from 1, that does not fit. */
export function applyEdits(file: Uint8Array, edits: readonly Edit[], path: string): Uint8Array {
  let content = file;
  edits.forEach((edit, index) => {
    const fail = (why: string) => new UsageError(`edit ${index + 1} of ${path}: old is ${why}`);
    if (edit.old.length === 0) throw fail("empty");
    const { first, count } = occurrences(content, edit.old);
    if (count === 0) throw fail("not in the file");
    if (count > 1) throw fail(`there ${count} times`);
    const after = content.subarray(first + edit.old.length);
    content = concat([content.subarray(0, first), edit.new, after]);
  });
  return content;
}

/** Counts where `part` is, one place after the end of the other, by Knuth, Morris and Pratt: hostile texts cost no more than others. */
function occurrences(whole: Uint8Array, part: Uint8Array): { first: number; count: number } {
  const borders = new Int32Array(part.length);
  let border = 0;
  for (let at = 1; at < part.length; at++) {
    while (border > 0 && part[at] !== part[border]) border = borders[border - 1] ?? 0;
    if (part[at] === part[border]) border++;
    borders[at] = border;
  }
  let first = -1;
  let count = 0;
  let matched = 0;
  for (let at = 0; at < whole.length; at++) {
    while (matched > 0 && whole[at] !== part[matched]) matched = borders[matched - 1] ?? 0;
    if (whole[at] === part[matched]) matched++;
    if (matched < part.length) continue;
    if (count++ === 0) first = at + 1 - part.length;
    matched = 0;
  }
  return { first, count };
}
