/** One thing measured; over its limit, where it has one, the bench fails. */
export interface Measure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly limit?: number;
}

/** Measures some things with the binary at hand; each bench is a file of its own, named in scripts/bench.ts. */
export type Bench = (binary: string) => Promise<readonly Measure[]>;
