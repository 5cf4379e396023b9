import type { WriteContext } from "../context.ts";
import { log } from "../git/history.ts";
import type { Oid } from "../git/object.ts";
import { oidsReached, repack } from "../git/repack.ts";
import { openStore } from "../git/store.ts";
import { indexesOf } from "../mirror/indexes.ts";
import type { Received } from "../mirror/view.ts";
import { withPackFile } from "./pack_file.ts";
import type { Writing } from "./writing.ts";

/**
 * Runs `work` with a pack of what a commit leads to and no ref reaches; with none when one reaches the commit. What no ref
 * reaches may be in this machine's copy alone, or in packs that are being folded without it.
 */
export async function withUnreached<T>(
  context: WriteContext,
  writing: Writing,
  commit: Oid,
  work: (received: Received | undefined) => Promise<T>,
): Promise<T> {
  if (isReached(writing, commit)) return await work(undefined);
  const { mirror } = writing.repository;
  const tips = [...writing.manifest.refs.values()].map(({ oid }) => oid);
  return await withPackFile(context, mirror, async (file) => {
    const store = openStore(mirror.path);
    let objects: number;
    try {
      const except = await oidsReached(store, tips, context);
      ({ objects } = await repack(store, [commit], file, { ...context, except }));
    } finally {
      store.close();
    }
    return await work(objects === 0 ? undefined : await mirror.receive(file, [commit]));
  });
}

/** True when one of the manifest's refs leads to the commit. */
export function isReached({ manifest, reading }: Writing, commit: Oid): boolean {
  const { objects, repository } = reading;
  const targets = [...manifest.refs.values()];
  if (targets.some(({ oid, peeled }) => oid === commit || peeled === commit)) return true;
  const tips = targets.map(({ oid, peeled }) => peeled ?? oid)
    .filter((oid) => objects.info(oid)?.kind === "commit");
  const commits = indexesOf(repository.mirror.path, objects).commits();
  for (const oid of log({ commits, tips: [...new Set(tips)] })) {
    if (oid === commit) return true;
  }
  return false;
}
