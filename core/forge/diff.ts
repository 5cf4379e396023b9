import { mergeBases } from "../git/ancestry.ts";
import { concat } from "../git/bytes.ts";
import { diffTrees, patchFile } from "../git/diff.ts";
import { quotePath } from "../git/path.ts";
import { indexesOf } from "../mirror/indexes.ts";
import { commitAt, pathBytes, type Reading, treeOf } from "./reading.ts";

/** A longer diff is given whole only when it is asked for by paths. */
const WHOLE_BYTES = 60_000;

/** What `head` changed since it parted from `base`: `git diff base...head`; a long one as its list of files. */
export function readDiff(
  reading: Reading,
  { base: baseRev, head: headRev, paths }: {
    base: string;
    head?: string | undefined;
    paths?: readonly string[] | undefined;
  },
) {
  const { objects } = reading;
  const indexes = indexesOf(reading.repository.mirror.path, objects);
  const base = commitAt(reading, baseRev);
  const head = commitAt(reading, headRev);
  const [mergeBase] = mergeBases(indexes.commits(), base.commit, head.commit);
  const commits = { base: base.commit, head: head.commit, ...(mergeBase && { mergeBase }) };
  const specs = (paths ?? []).map(pathBytes).filter((path) => path.length > 0);
  const changes = diffTrees(
    objects,
    treeOf(objects, mergeBase ?? base.commit),
    treeOf(objects, head.commit),
    specs,
  );
  if (changes.length === 0) {
    return {
      base: base.commit,
      head: head.commit,
      said: `No differences: ${head.rev} changes nothing since ${base.rev}`,
    };
  }
  const patches = changes.map((change) => patchFile(objects, change));
  const bytes = patches.reduce((sum, patch) => sum + patch.bytes.length, 0);
  if (bytes > WHOLE_BYTES && paths === undefined) {
    return {
      base: base.commit,
      head: head.commit,
      said:
        `The diff is ${bytes} bytes, too long to give whole: ask for some of its files by paths`,
      files: patches.map(({ path, added, removed, lines }) => ({
        path: quotePath(path),
        added,
        removed,
        lines,
      })),
    };
  }
  return { ...commits, diff: concat(patches.map((patch) => patch.bytes)) };
}
