import type { ReadContext } from "../context.ts";
import { indexesOf } from "../mirror/indexes.ts";
import { type Reading, treeOf } from "./reading.ts";

/**
 * Takes the commit graph and the search index on: where this process goes on, when no answer waits; else the one that was
 * asked for a step, beside the answer. True when it goes on after the answer.
 */
export async function growIndex(
  context: Pick<ReadContext, "later">,
  { view, repository: { mirror }, objects }: Reading,
  which: "graph" | "search",
): Promise<boolean> {
  const indexes = indexesOf(mirror.path, objects);
  const tip = view.refs.get(view.head)?.oid;
  const tree = tip === undefined ? undefined : treeOf(objects, tip);
  if (indexes.isWhole(view, tree)) return false;
  const isTaken = context.later(
    `index ${mirror.path}`,
    (signal) => indexes.build(view, tree, signal, which),
  );
  if (isTaken) return true;
  if (which === "graph") await indexes.growGraph(view);
  else if (tree !== undefined) await indexes.growTrigrams(tree);
  return false;
}
