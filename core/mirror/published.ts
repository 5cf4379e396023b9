import { hashFile } from "./hash_file.ts";
import type { IndexedPack } from "../git/index_pack.ts";
import { MOST_CHAIN, readChains } from "./chains.ts";
import { TAIL_BYTES } from "./manifest.ts";
import type { Published } from "./view.ts";

/**
 * The pack that came as the file, as it is to be published: as it is, or with the objects it leans on where its deltas
 * would lie too deep on those of earlier packs, or how deep is not known.
 */
export async function publishedOf(
  path: string,
  { chains, packPath, sha256, bytes, objects, needs }: IndexedPack,
  file: string,
): Promise<Published> {
  // What goes into a tail is sealed with packs that may lean on others.
  if (needs.length === 0 && bytes > TAIL_BYTES) {
    return { file, sha256, bytes, objects, needs, chains: [] };
  }
  const known = readChains(path);
  if (needs.length === 0 || known !== undefined && known.deepest(chains()) <= MOST_CHAIN) {
    return { file, sha256, bytes, objects, needs, chains: [...chains()] };
  }
  return {
    file: packPath,
    ...await hashFile(packPath),
    objects: objects + needs.length,
    needs: [],
    chains: [...chains()].map((chain) => ({ ...chain, outer: undefined })),
  };
}
