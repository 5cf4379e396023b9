import type { CommitGraph } from "./graph.ts";
import { findChanges } from "./graph_changes.ts";
import { UNLISTED } from "./graph_columns.ts";
import { NumberQueue } from "./graph_queue.ts";
import type { ObjectReader, Oid } from "./object.ts";
import { OID_BYTES } from "./oid.ts";

/** The most changes a graph lists; the lists of commits that would need more are left to the trees. */
const MAX_CHANGES = 1 << 25;

/**
 * Lists the changes of the commits that tips reach and the graph lacks, the newest first. Gives control back after each
 * commit, when it looks at no tree any more; what is done stays done wherever it is left.
 */
export function* growGraph(
  graph: CommitGraph,
  tips: Iterable<Oid>,
  trees: Pick<ObjectReader, "read"> = graph.objects,
): Generator<void> {
  const queue = new NumberQueue();
  const queued = new Set<number>();
  const put = (number: number) => {
    if (graph.hasChanges(number) || queued.has(number)) return;
    queued.add(number);
    graph.know(number, trees);
    queue.put(number, graph.time(number));
  };
  // Parents that an earlier growth did not come to have numbers and nothing else.
  const left = graph.columns.outside.length / OID_BYTES;
  for (let at = 0; at < left; at++) put(graph.columns.count + at);
  for (const tip of tips) put(graph.number(tip));
  let changes = graph.columns.changes.length;
  for (let number = queue.take(); number !== undefined; number = queue.take()) {
    const found = changes > MAX_CHANGES
      ? Uint32Array.of(UNLISTED)
      : findChanges(graph, number, trees);
    changes += found.length;
    graph.setChanges(number, found);
    graph.parents(number).forEach(put);
    yield;
  }
}
