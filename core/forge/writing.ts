import type { WriteContext } from "../context.ts";
import type { Manifest } from "../mirror/manifest.ts";
import type { RepoName } from "./names.ts";
import { type Reading, readingOf } from "./reading.ts";
import { type Repository, writableRepository } from "./repository.ts";

/** A repository of the account at hand, opened at its newest state to write to it. */
export interface Writing {
  readonly repository: Repository;
  readonly manifest: Manifest;
  readonly reading: Reading;
}

/** Opens a repository to write to it; it is yours and not archived, else RefusedError. */
export async function openWriting(context: WriteContext, named: RepoName): Promise<Writing> {
  return await openNewest(await writableRepository(context, named));
}

/** Brings a repository's mirror to its newest state. */
export async function openNewest(repository: Repository): Promise<Writing> {
  const { manifest, view } = await repository.mirror.latest({ toWrite: true });
  return { repository, manifest, reading: readingOf(repository, view) };
}
