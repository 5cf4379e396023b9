import type { WriteContext } from "../context.ts";
import type { Manifest } from "../mirror/manifest.ts";
import { foldNewest } from "./fold.ts";
import type { Change } from "./next_manifest.ts";
import type { Repository } from "./repository.ts";
import { swapManifest } from "./swap.ts";

/**
 * Writes a change of refs with the pack it needs, as swapManifest does, and folds the newest packs when there have come
 * to be many.
 */
export async function publish(
  context: WriteContext,
  repository: Repository,
  manifest: Manifest,
  change: Change,
): Promise<Manifest> {
  const written = await swapManifest(context, repository, manifest, change);
  await foldNewest(context, repository, written);
  return written;
}
