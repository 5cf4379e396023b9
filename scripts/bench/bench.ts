/** One thing measured; over its limit, where it has one, the bench fails. */
export interface Measure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly limit?: number;
}

/** What a run of benches was asked for. */
export interface BenchOptions {
  /** A repository to measure on in place of the one that is made for it. */
  readonly repo?: string | undefined;
  /** How many small commits are pushed one by one. */
  readonly pushes: number;
  /** How many answers of each kind are compared with git's. */
  readonly samples: number;
}

/** Measures some things with the binary at hand; each bench is a file of its own, named in scripts/bench.ts. */
export type Bench = (binary: string, options: BenchOptions) => Promise<readonly Measure[]>;
