/** A repository on this machine, opened for reading as a mirror's is, without a network. */
import { join } from "node:path";
import { openRecords } from "../../core/atproto/records.ts";
import { type Reading, readingOf } from "../../core/forge/reading.ts";
import { repositoryOf } from "../../core/forge/repository.ts";
import { openStore } from "../../core/git/store.ts";
import { openMirrors } from "../../core/mirror/mirrors.ts";
import { git } from "./git.ts";

const owner = { did: "did:plc:reader", handle: "reader.test", pds: "https://pds.test" } as const;
const rkey = "repository";

/** Where in a cache folder the bare repository must be that `openLocal` opens. */
export function localPath(cacheDir: string): string {
  return join(cacheDir, owner.did.replaceAll(":", "_"), rkey);
}

/** Opens the bare repository at `localPath` of the cache folder, as a process that has just started would. */
export function openLocal(cacheDir: string): Reading & Disposable {
  const path = localPath(cacheDir);
  const { signal } = new AbortController();
  const refuse = () => Promise.reject(new Error("there is no network"));
  const mirrors = openMirrors({
    cacheDir,
    records: openRecords({ fetch: refuse, signal, timeoutMs: 1 }),
    signal,
    stores: new Map(),
    now: () => new Date(),
    unique: () => "unique",
    note: () => {},
    progress: () => {},
  });
  const record = {
    $type: "dev.knotless.repo",
    name: "app",
    createdAt: "2026-01-01T00:00:00Z",
  } as const;
  const repository = repositoryOf({ mirrors }, owner, { rkey, cid: "bafy", record });
  const refs = git(path, "for-each-ref", "--format=%(refname) %(objectname)").split("\n");
  const objects = openStore(path);
  const reading = readingOf(repository, {
    head: "refs/heads/main",
    refs: new Map(
      refs.map((line) => line.split(" ")).map(([name = "", oid = ""]) => [name, { oid }]),
    ),
    objects,
    generation: 1,
    cid: "bafy",
    checkedAt: 0,
  });
  return { ...reading, [Symbol.dispose]: () => objects.close() };
}
