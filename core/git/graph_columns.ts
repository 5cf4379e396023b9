/**
 * What a commit graph keeps of its commits, one row a commit in the order of their oids. A number of a commit below
 * `count` is its row; those from there on stand for the oids in `outside`.
 */
export interface GraphColumns {
  /** How many rows there are. */
  readonly count: number;
  /** 20 bytes a row, rising. */
  readonly oids: Uint8Array;
  readonly trees: Uint8Array;
  /** When it was committed, in seconds since 1970. */
  readonly times: Float64Array;
  /** The number of the first parent, or `NO_PARENT`. */
  readonly first: Int32Array;
  /** The number of the second parent, `NO_PARENT`, or from `MANY_PARENTS` on a place in `more`. */
  readonly second: Int32Array;
  /** The parents but the first of a commit with more than two: how many, and their numbers. */
  readonly more: Int32Array;
  /** Where the changes of each row start in `changes`, and one more: where the last end. */
  readonly starts: Uint32Array;
  /** The numbers of the paths that differ from the first parent: see `ELSEWHERE` and `UNLISTED`. */
  readonly changes: Uint32Array;
  /** The paths, files and directories: each ended by a NUL, one more NUL before the first. */
  readonly names: Uint8Array;
  /** Commits that are parents of rows and have none: 20 bytes each. */
  readonly outside: Uint8Array;
}

export const NO_PARENT = -1;
export const MANY_PARENTS = 0x40000000;

/** Marks a path in a list of changes that another parent than the first has just so. */
export const ELSEWHERE = 0x80000000;

/** Stands for a whole list of changes that would be too long. */
export const UNLISTED = 0x7fffffff;

/** A graph of nothing. */
export const NO_COLUMNS: GraphColumns = {
  count: 0,
  oids: new Uint8Array(),
  trees: new Uint8Array(),
  times: new Float64Array(),
  first: new Int32Array(),
  second: new Int32Array(),
  more: new Int32Array(),
  starts: new Uint32Array(1),
  changes: new Uint32Array(),
  names: new Uint8Array(),
  outside: new Uint8Array(),
};
