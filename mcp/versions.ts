import process from "node:process";
import type { VersionWatch } from "../core/versions.ts";

/** What a server needs of a watch over versions, which may have to be loaded first. */
export interface ServerWatch {
  /** Throws an OutdatedError when the appview takes none as old as this program. */
  check(): Promise<void>;
  notice(): Promise<string | undefined>;
}

/** Watches over versions for a server, loaded by its first call. */
export function watchLater(
  { env, version, offline }: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly version: string;
    readonly offline: boolean;
  },
): ServerWatch {
  let loaded: Promise<VersionWatch | undefined> | undefined;
  const load = () =>
    loaded ??= import("../core/versions.ts").then(({ watchVersions }) =>
      watchVersions({
        env,
        version,
        offline,
        platform: process.platform,
        fetch,
        now: () => new Date(),
        unique: String(process.pid),
      })
    );
  return {
    check: async () => (await load())?.check(),
    notice: async () => (await load())?.notice(),
  };
}
