import type { ReadContext } from "../context.ts";
import { logPath } from "../git/graph_log.ts";
import { log } from "../git/history.ts";
import { indexesOf } from "../mirror/indexes.ts";
import { growIndex } from "./indexing.ts";
import { type LogEntry, readLogEntry } from "./log_entry.ts";
import { type Page, readCursor, writeCursor } from "./paging.ts";
import { commitAt, pathBytes, type Place, type Reading } from "./reading.ts";

/** How many commits that the index lacks a history of a path looks at. */
const ALLOWANCE = 20_000;

/** The history of a rev, of one path when given, as `git log` orders and simplifies it. */
export async function readLog(
  context: Pick<ReadContext, "later" | "note">,
  reading: Reading,
  { rev, path, limit, cursor }: Place & Page,
) {
  const { objects, repository } = reading;
  const { pinned, start } = readCursor(cursor);
  const { commit } = commitAt(reading, pinned ?? rev);
  const indexes = indexesOf(repository.mirror.path, objects);
  const allowance = { left: ALLOWANCE };
  const history = path === undefined
    ? log({ commits: indexes.commits(), tips: [commit], skip: start })
    : logPath(indexes.graph, { tip: commit, path: pathBytes(path), skip: start, allowance });
  const commits: LogEntry[] = [];
  let isCut = false;
  for (const sha of history) {
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
  if (path !== undefined) await growIndex(context, reading, "graph");
  return {
    commits,
    ...(isCut && { more: true, cursor: writeCursor(commit, start + commits.length) }),
  };
}
