import type { BlameRun } from "../git/blame.ts";
import { concat } from "../git/bytes.ts";
import type { FilePatch } from "../git/diff.ts";
import type { Oid } from "../git/object.ts";
import { OID_BYTES, oidAt, oidBytes } from "../git/oid.ts";
import type { Column } from "./columns.ts";

/** How answers of one kind are written as arrays of an index file, and made from the bytes of those. */
export interface Form<V> {
  readonly name: string;
  /** How many arrays there are. */
  readonly columns: number;
  write(answer: V): Column[];
  read(columns: readonly Uint8Array[]): V;
  /** About how many bytes an answer takes in memory. */
  memory(answer: V): number;
}

const NOTHING = new Uint8Array();
/** Between paths: no path holds it. */
const END = new Uint8Array(1);
const RUN_BYTES = 200;
const PATCH_BYTES = 200;

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
