import { CorruptError, quote } from "../errors.ts";
import type { StoredRecord } from "../atproto/records.ts";
import type { Refs } from "../atproto/lexicons.gen.ts";
import type { Oid } from "../git/object.ts";
import { isOid } from "../git/oid.ts";
import { whyNotRefName } from "../git/refname.ts";

/** The most bytes of packs that a manifest's tail holds. */
export const TAIL_BYTES = 16_384;

/** Where a ref is, and what an annotated tag there peels to. */
export interface RefTarget {
  readonly oid: Oid;
  readonly peeled?: Oid;
}

/** A repository's refs record, checked, with the refs it comes to. */
export interface Manifest {
  readonly uri: string;
  readonly cid: string;
  readonly record: Refs;
  /** By full name, in git's order. */
  readonly refs: ReadonlyMap<string, RefTarget>;
}

/**
 * Reads a refs record that has passed its lexicon. `packed` is the text of its packedRefs blob, when it names one. A
 * record that contradicts itself is a CorruptError: taken as empty it would mean "no refs, write away".
 */
export function readManifest(stored: StoredRecord<Refs>, packed: string | undefined): Manifest {
  const { uri, cid, value: record } = stored;
  const wrong = (what: string) => new CorruptError(`${uri} does not hold together: ${what}`);
  const refs = new Map<string, RefTarget>(
    packed === undefined ? [] : readPackedRefs(packed, wrong),
  );
  let last: string | undefined;
  for (const { name, oid, peeled } of record.refs) {
    if (last !== undefined && compareNames(last, name) >= 0) {
      throw wrong(`${quote(name)} is out of order`);
    }
    last = name;
    if (oid === undefined) refs.delete(name);
    else refs.set(name, { oid, ...(peeled !== undefined && { peeled }) });
  }
  for (const name of [...refs.keys(), record.head]) {
    const why = whyNotRefName(name);
    if (why !== undefined) throw wrong(`the name ${quote(name)} ${why}`);
    if (!name.startsWith("refs/")) throw wrong(`${quote(name)} is not under refs/`);
  }
  for (const [name, { oid, peeled = oid }] of refs) {
    if (!isOid(oid) || !isOid(peeled)) throw wrong(`${quote(name)} is at what is no object id`);
    for (let end = name.indexOf("/"); end >= 0; end = name.indexOf("/", end + 1)) {
      const folder = name.slice(0, end);
      if (refs.has(folder)) throw wrong(`${quote(folder)} and ${quote(name)} cannot both exist`);
    }
  }
  if (!record.head.startsWith("refs/heads/")) {
    throw wrong(`HEAD is ${quote(record.head)}, no branch`);
  }
  if (new Set(record.packs.map(({ rkey }) => rkey)).size < record.packs.length) {
    throw wrong("it lists a pack twice");
  }
  if (tailBytes(record) > TAIL_BYTES) throw wrong("its tail is over 16 kB");
  return { uri, cid, record, refs: sortRefs(refs) };
}

/** The bytes of packs that the tail holds. */
export function tailBytes({ tail }: Pick<Refs, "tail">): number {
  return tail.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** The refs in git's order, which is that of their bytes. */
export function sortRefs(refs: ReadonlyMap<string, RefTarget>): Map<string, RefTarget> {
  return new Map([...refs].sort(([a], [b]) => compareNames(a, b)));
}

/** Compares two ref names by their UTF-8 bytes. */
export function compareNames(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Writes refs as the lines of git's packed-refs file. */
export function formatPackedRefs(refs: ReadonlyMap<string, RefTarget>): string {
  const lines = ["# pack-refs with: peeled fully-peeled sorted \n"];
  for (const [name, { oid, peeled }] of sortRefs(refs)) {
    lines.push(`${oid} ${name}\n`);
    if (peeled) lines.push(`^${peeled}\n`);
  }
  return lines.join("");
}

function* readPackedRefs(
  text: string,
  wrong: (what: string) => CorruptError,
): Generator<[string, RefTarget]> {
  let pending: [string, RefTarget] | undefined;
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const peeled = /^\^([0-9a-f]{40})$/.exec(line)?.[1];
    if (peeled !== undefined && pending !== undefined) {
      yield [pending[0], { ...pending[1], peeled }];
      pending = undefined;
      continue;
    }
    if (pending) yield pending;
    const [, oid, name] = /^([0-9a-f]{40}) (\S.*)$/.exec(line) ?? [];
    if (oid === undefined || name === undefined) {
      throw wrong(`packedRefs has the line ${quote(line)}`);
    }
    pending = [name, { oid }];
  }
  if (pending) yield pending;
}
