import type { ReadContext } from "../context.ts";
import { indexesOf } from "../mirror/indexes.ts";
import { type Reading, treeOf } from "./reading.ts";

/**
 * Takes the commit graph or the search index a step on, beside an answer. Where this process goes on, both are made whole
 * when no answer waits.
 */
export async function growIndex(
  context: Pick<ReadContext, "later">,
  { view, repository: { mirror }, objects }: Reading,
  which: "graph" | "search",
): Promise<void> {
  const indexes = indexesOf(mirror.path, objects);
  const tip = view.refs.get(view.head)?.oid;
  const tree = tip === undefined ? undefined : treeOf(objects, tip);
  const isWhole = which === "graph"
    ? await indexes.growGraph(view)
    : tree === undefined || await indexes.growTrigrams(tree);
  if (isWhole) return;
  context.later(`index ${mirror.path}`, (signal) => indexes.build(view, tree, signal));
}
