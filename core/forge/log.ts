import type { ReadContext } from "../context.ts";
import { logPath } from "../git/graph_log.ts";
import { log } from "../git/history.ts";
import { indexesOf } from "../mirror/indexes.ts";
import { growIndex } from "./indexing.ts";
import { type LogEntry, readLogEntry } from "./log_entry.ts";
import { type Page, readCursor, writeCursor } from "./paging.ts";
import { commitAt, pathBytes, type Place, type Reading } from "./reading.ts";
import { Turns } from "./turns.ts";

/** How many commits that the index lacks a history of a path looks at. */
const ALLOWANCE = 20_000;
/** While others wait and the index is on its way it works no longer, but looks at so many in any case. */
const MOST_MS = 300;
const LEAST = 2048;

/** The history of a rev, of one path when given, as `git log` orders and simplifies it. */
export async function readLog(
  context: Pick<ReadContext, "later" | "note" | "now" | "signal">,
  reading: Reading,
  { rev, path, limit, cursor }: Place & Page,
) {
  const { objects, repository } = reading;
  const { pinned, start } = readCursor(cursor);
  const { commit } = commitAt(reading, pinned ?? rev);
  const indexes = indexesOf(repository.mirror.path, objects);
  const isOnItsWay = path !== undefined && await growIndex(context, reading, "graph");
  const turns = new Turns(context);
  const allowance = { left: ALLOWANCE };
  const history = path === undefined
    ? log({ commits: indexes.commits(), tips: [commit], skip: start })
    : logPath(indexes.graph, { tip: commit, path: pathBytes(path), skip: start, allowance });
  const commits: LogEntry[] = [];
  let isCut = false;
  for (const sha of history) {
    if (sha === undefined) {
      await turns.take();
      const isLong = isOnItsWay && ALLOWANCE - allowance.left >= LEAST && turns.worked > MOST_MS;
      if (isLong) allowance.left = 0;
      continue;
    }
    isCut = commits.length === limit;
    if (isCut) break;
    commits.push(readLogEntry(objects, sha));
  }
  if (allowance.left === 0) {
    isCut = true;
    context.note(
      "this repository's history is not indexed yet: older commits were not looked at; go on with the cursor",
    );
  }
  return {
    commits,
    ...(isCut && { more: true, cursor: writeCursor(commit, start + commits.length) }),
  };
}
