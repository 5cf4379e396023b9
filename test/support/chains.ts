/** How deep deltas lie on each other across the packs of a manifest, as git itself reads those. */
import { join } from "node:path";
import type { WriteContext } from "../../core/context.ts";
import { ID, type Pack } from "../../core/atproto/lexicons.gen.ts";
import type { Manifest } from "../../core/mirror/manifest.ts";
import { git, gitBytes, initRepo, tempDir } from "./git.ts";

/** The bytes of a manifest's packs, oldest first, with the objects each leans on. */
async function listPacks(
  { records, account }: WriteContext,
  { record: { packs, tail } }: Manifest,
): Promise<{ bytes: Uint8Array; needs: readonly string[] }[]> {
  const sealed = await Promise.all(packs.map(async ({ rkey }) => {
    const { data, blobs = [], needs } = (await records.get(account, ID.pack, rkey))?.value as Pack;
    const pieces = await Promise.all(blobs.map((blob) => readBlob(account, blob.ref.$link)));
    return { bytes: data ?? Buffer.concat(pieces), needs };
  }));
  return [...sealed, ...tail];
}

async function readBlob(
  { pds, did }: WriteContext["account"],
  cid: string,
): Promise<Uint8Array> {
  const answer = await fetch(`${pds}/xrpc/com.atproto.sync.getBlob?did=${did}&cid=${cid}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/**
 * Gives for each pack of the manifest how many deltas lie under its deepest object, down to one that is whole or in a
 * pack that leans on nothing.
 */
export async function deepestChains(context: WriteContext, manifest: Manifest): Promise<number[]> {
  using temp = tempDir();
  const depths = new Map<string, number>();
  const deepest: number[] = [];
  const repo = join(temp.path, "packs");
  initRepo(repo, { bare: true });
  const folder = join(repo, "objects/pack");
  for (const { bytes, needs } of await listPacks(context, manifest)) {
    const [, name] = Buffer.from(gitBytes(repo, bytes, "index-pack", "--stdin", "--fix-thin"))
      .toString().trim().split("\t");
    const listed = git(repo, "verify-pack", "-v", join(folder, `pack-${name}.idx`));
    const bases = new Map<string, string>();
    for (const line of listed.split("\n")) {
      const [oid = "", , , , , , base] = line.trim().split(/\s+/);
      if (/^[0-9a-f]{40}$/.test(oid) && base !== undefined) bases.set(oid, base);
    }
    const own = new Map<string, number>();
    const depthOf = (oid: string): number => {
      const base = bases.get(oid);
      if (base === undefined) return needs.includes(oid) ? depths.get(oid) ?? 0 : 0;
      return own.get(oid) ?? depthOf(base) + 1;
    };
    if (needs.length > 0) {
      for (const oid of bases.keys()) own.set(oid, depthOf(oid));
    }
    for (const [oid, depth] of own) depths.set(oid, Math.max(depth, depths.get(oid) ?? 0));
    deepest.push(Math.max(0, ...own.values()));
  }
  return deepest;
}
