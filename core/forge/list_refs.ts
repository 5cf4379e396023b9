import type { Oid } from "../git/object.ts";
import type { Reading } from "./reading.ts";

/** A repository's refs, sorted as `git for-each-ref` sorts; `commit` is what an annotated tag peels to. */
export function listRefs({ view: { refs, head } }: Reading) {
  const branches: { name: string; sha: Oid }[] = [];
  const tags: { name: string; sha: Oid; commit?: Oid }[] = [];
  const other: { ref: string; sha: Oid }[] = [];
  for (const [ref, { oid, peeled }] of refs) {
    const [, folder, name] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? [];
    if (folder === "heads" && name !== undefined) branches.push({ name, sha: oid });
    else if (name !== undefined) tags.push({ name, sha: oid, ...(peeled && { commit: peeled }) });
    else other.push({ ref, sha: oid });
  }
  return { defaultBranch: head.replace(/^refs\/heads\//, ""), branches, tags, other };
}
