import { concat, utf8 } from "./bytes.ts";
import { countMade } from "./collect.ts";
import { formatHunks } from "./diff_hunks.ts";
import { diffLines } from "./diff_lines.ts";
import { compareTrees, type FileChange, type FileSide, parsePathspecs } from "./diff_tree.ts";
import type { ObjectReader, Oid } from "./object.ts";
import { quoteGitPath } from "./path.ts";
import { pairingRenames, pairRenames } from "./rename.ts";
import { countLines, isBinary } from "./text.ts";
import { isGitlink } from "./tree.ts";
import { readObject } from "./walk.ts";

/** A file's part of a diff. */
export interface FilePatch {
  /** A renamed file's new one. */
  readonly path: Uint8Array;
  readonly bytes: Uint8Array;
  /** Lines with a plus, and with a minus. */
  readonly added: number;
  readonly removed: number;
  /** The lines of this part. */
  readonly lines: number;
}

const NOTHING: Oid = "0".repeat(40);
/** Larger files are taken for binary, as git does. */
const TEXT_LIMIT = 512 * 1024 * 1024;
/** So are two of more lines than this: comparing them would take gigabytes of memory. */
const LINE_LIMIT = 4_000_000;

/** Lists the files that differ between two trees, renames paired; with `paths` only files at or below them. Undefined is the empty tree. */
export function diffTrees(
  objects: ObjectReader,
  a: Oid | undefined,
  b: Oid | undefined,
  paths: readonly Uint8Array[] = [],
): FileChange[] {
  return pairRenames(objects, compareTrees(objects, a, b, parsePathspecs(paths)));
}

/** As `diffTrees`; undefined comes where other work may have its turn. */
export function* diffingTrees(
  objects: ObjectReader,
  a: Oid | undefined,
  b: Oid | undefined,
  paths: readonly Uint8Array[],
): Generator<undefined, FileChange[]> {
  return yield* pairingRenames(objects, compareTrees(objects, a, b, parsePathspecs(paths)));
}

/** Writes a file's part of `git diff --full-index -M`; the parts one after the other are the diff. */
export function patchFile(objects: ObjectReader, change: FileChange): FilePatch {
  const { old, new: now } = change;
  if (old === undefined || now === undefined || typeOf(old) === typeOf(now)) {
    return patchSides(objects, change);
  }
  // A file that became a link, or the like, is one that went and one that came.
  const gone = patchSides(objects, { old });
  const came = patchSides(objects, { new: now });
  return {
    path: now.path,
    bytes: concat([gone.bytes, came.bytes]),
    added: came.added,
    removed: gone.removed,
    lines: gone.lines + came.lines,
  };
}

function typeOf({ mode }: FileSide): number {
  return mode & 0o170000;
}

function patchSides(objects: ObjectReader, change: FileChange): FilePatch {
  const { old, new: now } = change;
  const path = (now ?? old)?.path ?? new Uint8Array();
  const labelA = quoteGitPath(concat([utf8("a/"), (old ?? now)?.path ?? path]));
  const labelB = quoteGitPath(concat([utf8("b/"), path]));
  const header = [`diff --git ${labelA} ${labelB}`, ...describeChange(change)];
  const from = old === undefined ? "/dev/null" : labelA;
  const to = now === undefined ? "/dev/null" : labelB;
  const finish = (bytes: Uint8Array, lines: number, added = 0, removed = 0): FilePatch => {
    const head = utf8(`${header.join("\n")}\n`);
    return { path, bytes: concat([head, bytes]), added, removed, lines: header.length + lines };
  };
  if (old?.oid === now?.oid) return finish(new Uint8Array(), 0);

  const isHuge = [old, now].some((side) =>
    side !== undefined && sizeOf(objects, side) > TEXT_LIMIT
  );
  const a = isHuge ? new Uint8Array(1) : contentOf(objects, old);
  const b = isHuge ? new Uint8Array(1) : contentOf(objects, now);
  if (isBinary(a) || isBinary(b) || hasTooManyLines(a, b)) {
    header.push(`Binary files ${from} and ${to} differ`);
    return finish(new Uint8Array(), 0);
  }
  const diff = diffLines(a, b);
  // Its tables of lines take up more than the texts.
  countMade(3 * (a.length + b.length));
  if (diff.changes.length === 0) return finish(new Uint8Array(), 0);
  header.push(`--- ${from}${tabAfter(from)}`, `+++ ${to}${tabAfter(to)}`);
  const hunks = formatHunks(diff);
  return finish(
    hunks,
    countLines(hunks),
    diff.changes.reduce((sum, { bCount }) => sum + bCount, 0),
    diff.changes.reduce((sum, { aCount }) => sum + aCount, 0),
  );
}

function hasTooManyLines(a: Uint8Array, b: Uint8Array): boolean {
  return a.length + b.length > LINE_LIMIT && countLines(a) + countLines(b) > LINE_LIMIT;
}

/** The header lines between the names and the contents. */
function describeChange({ old, new: now, similarity }: FileChange): string[] {
  const lines: string[] = [];
  if (old === undefined) lines.push(`new file mode ${octal(now)}`);
  else if (now === undefined) lines.push(`deleted file mode ${octal(old)}`);
  else if (old.mode !== now.mode) lines.push(`old mode ${octal(old)}`, `new mode ${octal(now)}`);
  if (similarity !== undefined && old !== undefined && now !== undefined) {
    lines.push(
      `similarity index ${similarity}%`,
      `rename from ${quoteGitPath(old.path)}`,
      `rename to ${quoteGitPath(now.path)}`,
    );
  }
  if (old?.oid !== now?.oid) {
    const mode = old?.mode === now?.mode ? ` ${octal(old)}` : "";
    lines.push(`index ${old?.oid ?? NOTHING}..${now?.oid ?? NOTHING}${mode}`);
  }
  return lines;
}

function octal(side: FileSide | undefined): string {
  return (side?.mode ?? 0).toString(8).padStart(6, "0");
}

function tabAfter(label: string): string {
  return label.includes(" ") ? "\t" : "";
}

function sizeOf(objects: ObjectReader, { mode, oid }: FileSide): number {
  return isGitlink(mode) ? 0 : objects.info(oid)?.size ?? 0;
}

function contentOf(objects: ObjectReader, side: FileSide | undefined): Uint8Array {
  if (side === undefined) return new Uint8Array();
  if (isGitlink(side.mode)) return utf8(`Subproject commit ${side.oid}\n`);
  return readObject(objects, side.oid, "blob");
}
