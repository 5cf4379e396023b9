import type { ReadContext } from "../context.ts";
import { quote, UsageError } from "../errors.ts";
import { sameBytes } from "../git/bytes.ts";
import type { FollowLog } from "../git/graph_follow.ts";
import { logPath } from "../git/graph_log.ts";
import { log } from "../git/history.ts";
import type { Oid } from "../git/object.ts";
import { quotePath } from "../git/path.ts";
import { type Indexes, indexesOf } from "../mirror/indexes.ts";
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

/** Which history is asked for. */
interface Asked extends Place, Page {
  /** Goes on with what the file was called before a rename. */
  readonly follow?: boolean;
}

/** The history of a rev, of one path when given, as `git log` orders and simplifies it. */
export async function readLog(
  context: Pick<ReadContext, "later" | "note" | "now" | "signal">,
  reading: Reading,
  { rev, path, follow = false, limit, cursor }: Asked,
) {
  if (follow && path === undefined) throw new UsageError("follow is for a path: give one");
  const { objects, repository } = reading;
  const { pinned, start } = readCursor(cursor);
  const { commit } = commitAt(reading, pinned ?? rev);
  const indexes = indexesOf(repository.mirror.path, objects);
  const isOnItsWay = path !== undefined && await growIndex(context, reading, "graph");
  const turns = new Turns(context);
  const allowance = { left: ALLOWANCE };
  const onSpent = () =>
    context.note("what the file was before was not found: there is too much to compare it with");
  const asked = path && { path: pathBytes(path), follow, allowance, onSpent };
  const history = await historyOf(indexes, { ...asked, tip: commit, skip: start });
  const commits: LogEntry[] = [];
  let isCut = false;
  for (const found of history) {
    if (found === undefined) {
      await turns.take();
      const isLong = isOnItsWay && ALLOWANCE - allowance.left >= LEAST && turns.worked > MOST_MS;
      if (isLong) allowance.left = 0;
      continue;
    }
    isCut = commits.length === limit;
    if (isCut) break;
    const { oid, path } = found;
    const entry = readLogEntry(objects, oid);
    commits.push(path ? { ...entry, path: quotePath(path) } : entry);
  }
  if (allowance.left === 0) {
    isCut = true;
    context.note(
      "this repository's history is not indexed yet: older commits were not looked at; go on with the cursor",
    );
  }
  const isNowhere = commits.length === 0 && start === 0 && !isCut;
  if (asked && isNowhere) {
    const named = quote(quotePath(asked.path));
    context.note(`no commit has changed ${named}: a path is a file or a directory, no glob`);
  }
  return {
    commits,
    ...(isCut && { more: true, cursor: writeCursor(commit, start + commits.length) }),
  };
}

/** A commit of a history, and what the file that is followed is called in it where that is another name. */
interface Shown {
  readonly oid: Oid;
  readonly path?: Uint8Array;
}

/** The commits from the tip, of one path when given; undefined comes where other work may have its turn. */
async function historyOf(
  indexes: Indexes,
  { path, follow, ...from }: Partial<FollowLog> & Pick<FollowLog, "tip"> & { follow?: boolean },
): Promise<Iterable<Shown | undefined>> {
  if (path === undefined) {
    const { tip, skip } = from;
    return log({ commits: indexes.commits(), tips: [tip], skip }).map((oid) => ({ oid }));
  }
  if (follow && path.length > 0) {
    // Only this needs it, and renames with it.
    const { followPath } = await import("../git/graph_follow.ts");
    return followPath(indexes.graph, { ...from, path })
      .map((found) => found && (sameBytes(found.path, path) ? { oid: found.oid } : found));
  }
  return logPath(indexes.graph, { ...from, path }).map((oid) => oid === undefined ? oid : { oid });
}
