import { hashObject } from "./hash.ts";
import type { GitObject, ObjectKind, ObjectReader, Oid } from "./object.ts";
import type { DiffBudget } from "./myers.ts";
import type { ScoreCost } from "./rename_score.ts";
import { isTree, parseTree } from "./tree.ts";
import type { NewObjects } from "./tree_build.ts";

const diffSteps = 5e8;
const paths = 500_000;

/** What all of a merge, merges of its bases included, may cost; past it, files are compared coarsely and renames are not seen. */
export interface MergeBudget {
  readonly diff: DiffBudget;
  readonly renames: ScoreCost;
  /** How many paths may still be found to differ: trees can be made to have no end of them. */
  paths: number;
}

/** Objects of a repository and those that a merge makes on its way, of which only some will be written. */
export class MergeStore implements ObjectReader {
  readonly budget: MergeBudget = {
    diff: { left: diffSteps },
    renames: { bytes: 0, steps: 0 },
    paths,
  };
  readonly #held: ObjectReader;
  readonly #made = new Map<Oid, GitObject & { readonly base: Oid | undefined }>();

  constructor(held: ObjectReader) {
    this.#held = held;
  }

  /** Keeps an object in memory and gives its oid; `base` is one it may be a delta of. */
  make(kind: ObjectKind, bytes: Uint8Array, base: Oid | undefined): Oid {
    const oid = hashObject(kind, bytes);
    if (!this.#made.has(oid)) this.#made.set(oid, { kind, bytes, base });
    return oid;
  }

  /** Adds a tree that was made, with what was made below it. */
  collect(tree: Oid, added: NewObjects): void {
    const made = this.#made.get(tree);
    if (made === undefined) return;
    for (const { mode, oid } of parseTree(made.bytes)) {
      if (isTree(mode)) this.collect(oid, added);
      else {
        const blob = this.#made.get(oid);
        if (blob !== undefined) added.add("blob", blob.bytes, blob.base);
      }
    }
    added.add("tree", made.bytes, made.base);
  }

  has(oid: Oid): boolean {
    return this.#made.has(oid) || this.#held.has(oid);
  }

  read(oid: Oid): GitObject | undefined {
    return this.#made.get(oid) ?? this.#held.read(oid);
  }

  info(oid: Oid): { kind: ObjectKind; size: number } | undefined {
    const made = this.#made.get(oid);
    return made === undefined ? this.#held.info(oid) : { kind: made.kind, size: made.bytes.length };
  }

  find(prefix: string, limit: number): Oid[] {
    const made = [...this.#made.keys()].filter((oid) => oid.startsWith(prefix));
    return [...new Set([...made, ...this.#held.find(prefix, limit)])].sort().slice(0, limit);
  }
}
