import type { ReadContext } from "../context.ts";
import { quote } from "../errors.ts";
import { mergeBases } from "../git/ancestry.ts";
import { concat } from "../git/bytes.ts";
import { diffingTrees, type FilePatch, patchFile } from "../git/diff.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import { quotePath } from "../git/path.ts";
import { findEntry } from "../git/walk.ts";
import type { MirrorAnswers } from "../mirror/answers.ts";
import { indexesOf } from "../mirror/indexes.ts";
import { version } from "../version.ts";
import { countBytes, countCommits } from "./counted.ts";
import { commitAt, pathBytes, type Reading, treeOf } from "./reading.ts";
import { Turns } from "./turns.ts";

/** A longer diff is given whole only when it is asked for by paths. */
const WHOLE_BYTES = 60_000;

/** So many paths that are not there are named. */
const MOST_NAMED = 5;
/** Of a longer diff that is only listed nothing is held but the list, nor is it kept. */
const LISTED_BYTES = 8 << 20;
const NOTHING = new Uint8Array();

/** A comparison that read so many bytes, or a search for a merge base over so many commits, is worth a file. */
const COSTLY_BYTES = 1 << 18;
const COSTLY_COMMITS = 200;

/** What `head` changed since it parted from `base`: `git diff base...head`; a long one as its list of files. */
export async function readDiff(
  context: Pick<ReadContext, "now" | "signal">,
  reading: Reading,
  { base: baseRev, head: headRev, paths }: {
    base: string;
    head?: string | undefined;
    paths?: readonly string[] | undefined;
  },
) {
  const { objects } = reading;
  const base = commitAt(reading, baseRev);
  const head = commitAt(reading, headRev);
  // Most commands that share this module's bundle have no use for it.
  const { answersOf } = await import("../mirror/answers.ts");
  const answers = answersOf(reading.repository.mirror.path, objects, version);
  const mergeBase = await findBase(reading, answers, base.commit, head.commit, context.now());
  const commits = { base: base.commit, head: head.commit, ...(mergeBase && { mergeBase }) };
  const specs = (paths ?? []).map(pathBytes).filter((path) => path.length > 0);
  const trees = {
    from: treeOf(objects, mergeBase ?? base.commit),
    to: treeOf(objects, head.commit),
  };
  const isWhole = paths !== undefined;
  const asked = { ...trees, specs, isWhole };
  const { patches, bytes } = await findPatches(context, objects, answers, asked);
  if (patches.length === 0) {
    const absent = specs.filter((path) =>
      [trees.from, trees.to].every((tree) => findEntry(objects, tree, path) === undefined)
    );
    return {
      base: base.commit,
      head: head.commit,
      said: spellNothing({ base: base.rev, head: head.rev }, specs, absent),
    };
  }
  if (bytes > WHOLE_BYTES && !isWhole) {
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

function spellNothing(
  { base, head }: { base: string; head: string },
  specs: readonly Uint8Array[],
  absent: readonly Uint8Array[],
): string {
  if (specs.length === 0) return `No differences: ${head} changes nothing since ${base}`;
  const said = `No differences in those paths: ${head} changes nothing there since ${base}`;
  const names = absent.slice(0, MOST_NAMED).map((path) => quote(quotePath(path))).join(", ");
  const left = absent.length - MOST_NAMED;
  const and = left > 0 ? ` and ${left} more` : "";
  return names === "" ? said : `${said}; neither has ${names}${and}`;
}

async function findBase(
  { objects, repository }: Reading,
  { bases }: MirrorAnswers,
  one: Oid,
  other: Oid,
  now: Date,
): Promise<Oid | undefined> {
  const key = `${one} ${other}`;
  const known = bases.get(key, now);
  if (known !== undefined) return known.base;
  const work = { commits: 0 };
  const commits = countCommits(indexesOf(repository.mirror.path, objects).commits(), work);
  const [base] = mergeBases(commits, one, other);
  await bases.set(key, { base }, { now, isCostly: work.commits >= COSTLY_COMMITS });
  return base;
}

/** What is compared; not whole, only how much of each file differs is told of what is long. */
interface Compared {
  readonly from: Oid;
  readonly to: Oid;
  readonly specs: readonly Uint8Array[];
  readonly isWhole: boolean;
}

async function findPatches(
  context: Pick<ReadContext, "now" | "signal">,
  objects: ObjectReader,
  { patches }: MirrorAnswers,
  { from, to, specs, isWhole }: Compared,
): Promise<{ patches: readonly FilePatch[]; bytes: number }> {
  const now = context.now();
  const key = [from, to, ...specs.map((path) => path.toHex())].join(" ");
  const known = patches.get(key, now);
  if (known !== undefined) return { patches: known, bytes: sizeOf(known) };
  const work = { bytes: 0 };
  const counted = countBytes(objects, work);
  const turns = new Turns(context);
  let found: FilePatch[] = [];
  let bytes = 0;
  const comparing = diffingTrees(counted, from, to, specs);
  let step = comparing.next();
  for (; !step.done; step = comparing.next()) await turns.take();
  for (const change of step.value) {
    const patch = patchFile(counted, change);
    const before = bytes;
    bytes += patch.bytes.length;
    const isListed = !isWhole && bytes > LISTED_BYTES;
    if (isListed && before <= LISTED_BYTES) found = found.map(withoutBytes);
    found.push(isListed ? withoutBytes(patch) : patch);
    await turns.take();
  }
  if (sizeOf(found) === bytes) {
    await patches.set(key, found, { now, isCostly: work.bytes >= COSTLY_BYTES });
  }
  return { patches: found, bytes };
}

function sizeOf(patches: readonly FilePatch[]): number {
  return patches.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

function withoutBytes(patch: FilePatch): FilePatch {
  return { ...patch, bytes: NOTHING };
}
