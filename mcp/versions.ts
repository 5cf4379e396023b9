import process from "node:process";
import type { VersionWatch } from "../core/versions.ts";

/** What a server needs of a watch over versions. */
export type ServerWatch = Pick<VersionWatch, "check" | "notice">;

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
    check: async () => await (await load())?.check(),
    notice: async () => await (await load())?.notice(),
  };
}
