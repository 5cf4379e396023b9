import { latin1 } from "../../core/git/bytes.ts";
import { gitBytes } from "./git.ts";

/** A merge as git makes it. Texts have one character a byte. */
export interface GitMerge {
  readonly isClean: boolean;
  readonly tree: string;
  /** What git would put into the index for paths in conflict: `mode oid stage\tpath`, sorted. */
  readonly stages: readonly string[];
  /** Git's words for what it did. */
  readonly said: string;
}

/** Merges pairs of commits by git, their oids as labels; undefined where git itself fails, as its assertions can. */
export function gitMerges(
  dir: string,
  pairs: readonly (readonly [string, string])[],
): (GitMerge | undefined)[] {
  const args = ["merge-tree", "--write-tree", "--messages", "--stdin"];
  const input = pairs.map((pair) => `${pair.join(" ")}\n`).join("");
  let out: Uint8Array;
  try {
    out = gitBytes(dir, input, ...args, "--allow-unrelated-histories");
  } catch {
    // A run that fails says nothing of the merges before either: halves tell which one it was.
    if (pairs.length === 1) return [undefined];
    const half = pairs.length >> 1;
    return [
      ...gitMerges(dir, pairs.slice(0, half)),
      ...gitMerges(dir, pairs.slice(half)),
    ];
  }
  const fields = latin1(out).split("\0").values();
  const next = () => fields.next().value ?? "";
  return pairs.map(() => {
    const isClean = next() === "1";
    const tree = next();
    const stages: string[] = [];
    for (let stage = next(); stage !== ""; stage = next()) stages.push(stage);
    let said = "";
    for (let paths = Number(next()); paths > 0; paths = Number(next())) {
      for (let field = 0; field <= paths; field++) next();
      said += next();
    }
    return { isClean, tree, stages: stages.sort(), said };
  });
}
