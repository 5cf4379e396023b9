import { CorruptError } from "../errors.ts";
import type { BlameRun } from "../git/blame.ts";
import { concat } from "../git/bytes.ts";
import type { FilePatch } from "../git/diff.ts";
import type { FileSide } from "../git/diff_tree.ts";
import type { MergeConflict, MergeOutcome } from "../git/merge.ts";
import { CONFLICT_KINDS } from "../git/merge_entry.ts";
import type { Oid } from "../git/object.ts";
import { OID_BYTES, oidAt, oidBytes } from "../git/oid.ts";
import type { Column } from "./columns.ts";

/** How answers of one kind are written as arrays of an index file, and made from the bytes of those. */
export interface Form<V> {
  readonly name: string;
  /** How many arrays there are. */
  readonly columns: number;
  write(answer: V): Column[];
  /** Throws where the arrays are those of no answer. */
  read(columns: readonly Uint8Array[]): V;
  /** About how many bytes an answer takes in memory. */
  memory(answer: V): number;
}

const NOTHING = new Uint8Array();
/** Between paths: no path holds it. */
const END = new Uint8Array(1);
const RUN_BYTES = 200;
const PATCH_BYTES = 200;
const CONFLICT_BYTES = 1000;
const PATH_BYTES = 200;
/** The numbers of a conflict: its path and kind, and of each tree's file the oid, mode and path. */
const CONFLICT_NUMBERS = 11;

/** Runs of lines: the oids they name, each once; the paths they name; and numbers, five a run. */
export const BLAMES: Form<readonly BlameRun[]> = {
  name: "blame",
  columns: 3,
  write(runs) {
    const oids = new Numbering<Oid>();
    const paths = new Numbering<string>();
    const numbers = runs.flatMap(({ commit, start, count, previous }) => [
      oids.of(commit),
      start,
      count,
      // One more than its number: without one it is 0.
      previous === undefined ? 0 : oids.of(previous.commit) + 1,
      previous === undefined ? 0 : paths.of(previous.path.toHex()),
    ]);
    const spelled = [...paths.all].map((path) => Uint8Array.fromHex(path));
    return [
      concat([...oids.all].map(oidBytes)),
      joinPaths(spelled),
      Uint32Array.from(numbers),
    ];
  },
  read([oidBytes = NOTHING, pathBytes = NOTHING, numberBytes = NOTHING]) {
    const oids = Array.from(
      { length: oidBytes.length / OID_BYTES },
      (_, at) => oidAt(oidBytes, at * OID_BYTES),
    );
    const paths = splitPaths(pathBytes);
    const numbers = new Uint32Array(numberBytes.buffer);
    return Array.from({ length: numbers.length / 5 }, (_, at) => {
      const [commit = 0, start = 0, count = 0, previous = 0, path = 0] = numbers.subarray(at * 5);
      return {
        commit: oids[commit] ?? "",
        start,
        count,
        previous: previous === 0
          ? undefined
          : { commit: oids[previous - 1] ?? "", path: paths[path] ?? NOTHING },
      };
    });
  },
  memory: (runs) => runs.length * RUN_BYTES,
};

/** Parts of a diff: their bytes, one after the other; their paths; and numbers, four a part. */
export const PATCHES: Form<readonly FilePatch[]> = {
  name: "diff",
  columns: 3,
  write: (patches) => [
    concat(patches.map(({ bytes }) => bytes)),
    joinPaths(patches.map(({ path }) => path)),
    Uint32Array.from(
      patches.flatMap(({ bytes, added, removed, lines }) => [bytes.length, added, removed, lines]),
    ),
  ],
  read([all = NOTHING, pathBytes = NOTHING, numberBytes = NOTHING]) {
    const paths = splitPaths(pathBytes);
    const numbers = new Uint32Array(numberBytes.buffer);
    let next = 0;
    return Array.from({ length: numbers.length / 4 }, (_, at) => {
      const [length = 0, added = 0, removed = 0, lines = 0] = numbers.subarray(at * 4);
      const bytes = all.subarray(next, next += length);
      return { path: paths[at] ?? NOTHING, bytes, added, removed, lines };
    });
  },
  memory: (patches) => patches.reduce((sum, { bytes }) => sum + bytes.length + PATCH_BYTES, 0),
};

/** The first merge base of two commits, if there is one. */
export const BASES: Form<{ readonly base: Oid | undefined }> = {
  name: "base",
  columns: 1,
  write: ({ base }) => [base === undefined ? NOTHING : oidBytes(base)],
  read: ([bytes = NOTHING]) => ({ base: bytes.length === 0 ? undefined : oidAt(bytes) }),
  memory: () => RUN_BYTES,
};

/** What a merge comes to: the oids it names, its tree's first; the paths it names; numbers of conflicts; paths kept both. */
export const MERGES: Form<MergeOutcome> = {
  name: "merge",
  columns: 4,
  write({ tree, conflicts, keptBoth }) {
    const oids = new Numbering<Oid>();
    const paths = new Numbering<string>();
    oids.of(tree);
    const numbers = conflicts.flatMap(({ path, kind, base, ours, theirs }) => [
      paths.of(path.toHex()),
      CONFLICT_KINDS.indexOf(kind),
      ...[base, ours, theirs].flatMap((file) =>
        // One more than its number: without a file it is 0.
        file === undefined
          ? [0, 0, 0]
          : [oids.of(file.oid) + 1, file.mode, paths.of(file.path.toHex())]
      ),
    ]);
    return [
      concat([...oids.all].map(oidBytes)),
      joinPaths([...paths.all].map((path) => Uint8Array.fromHex(path))),
      Uint32Array.from(numbers),
      joinPaths(keptBoth),
    ];
  },
  read([oidColumn = NOTHING, pathColumn = NOTHING, numberColumn = NOTHING, both = NOTHING]) {
    const oids = Array.from(
      { length: Math.ceil(oidColumn.length / OID_BYTES) },
      (_, at) => oidAt(oidColumn, at * OID_BYTES),
    );
    const paths = splitPaths(pathColumn);
    const numbers = new Uint32Array(numberColumn.buffer);
    const isCut = numbers.length % CONFLICT_NUMBERS !== 0 ||
      [pathColumn, both].some((column) => (column.at(-1) ?? 0) !== 0);
    if (isCut) throw new CorruptError("what a merge comes to is cut short");
    const conflicts = Array.from(
      { length: numbers.length / CONFLICT_NUMBERS },
      (_, at) => conflictOf(numbers.subarray(at * CONFLICT_NUMBERS), { oids, paths }),
    );
    return { tree: named(oids, 0), conflicts, keptBoth: splitPaths(both) };
  },
  memory: ({ conflicts, keptBoth }) =>
    RUN_BYTES + conflicts.length * CONFLICT_BYTES + keptBoth.length * PATH_BYTES,
};

/** What the numbers of an answer stand for. */
interface Names {
  readonly oids: readonly Oid[];
  readonly paths: readonly Uint8Array[];
}

function conflictOf(numbers: Uint32Array, names: Names): MergeConflict {
  const [path = 0, kind = 0] = numbers;
  return {
    path: named(names.paths, path),
    kind: named(CONFLICT_KINDS, kind),
    base: fileOf(numbers.subarray(2), names),
    ours: fileOf(numbers.subarray(5), names),
    theirs: fileOf(numbers.subarray(8), names),
  };
}

function fileOf(numbers: Uint32Array, { oids, paths }: Names): FileSide | undefined {
  const [oid = 0, mode = 0, path = 0] = numbers;
  return oid === 0 ? undefined : { mode, oid: named(oids, oid - 1), path: named(paths, path) };
}

function named<T>(all: readonly T[], number: number): T {
  const one = all[number];
  if (one === undefined) throw new CorruptError(`there is no ${number} of ${all.length}`);
  return one;
}

/** Gives each thing a number, the same when it comes again. */
class Numbering<T> {
  readonly #numbers = new Map<T, number>();

  of(thing: T): number {
    const number = this.#numbers.get(thing) ?? this.#numbers.size;
    this.#numbers.set(thing, number);
    return number;
  }

  get all(): Iterable<T> {
    return this.#numbers.keys();
  }
}

/** Puts paths into one array, an end after each. */
function joinPaths(paths: readonly Uint8Array[]): Uint8Array {
  return concat(paths.flatMap((path) => [path, END]));
}

function splitPaths(bytes: Uint8Array): Uint8Array[] {
  const paths: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, start)) {
    paths.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return paths;
}
