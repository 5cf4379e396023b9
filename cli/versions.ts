import process from "node:process";
import { version } from "../core/version.ts";
import type { Globals } from "./globals.ts";
import type { Terminal } from "./terminal.ts";

/** How long a command that is done waits for an answer that a question brings once a day. */
const GRACE_MS = 1000;

/** The watch over versions of one command line. */
export interface Watch {
  /** Throws an OutdatedError when the appview takes none as old as this program. */
  check(): void;
  /** Says what there is to say, once the command has; waits for nobody long. */
  end(): Promise<void>;
}

/** Watches over versions where an appview is configured; only where a person reads is it asked. */
export async function openWatch(
  terminal: Terminal,
  { noInput, offline, quiet }: Globals,
  isJson: boolean,
): Promise<Watch | undefined> {
  const { env } = terminal;
  if (!env.KNOTLESS_APPVIEW) return undefined;
  const isForPerson = terminal.isOut && !isJson && !noInput && !quiet;
  const { watchVersions } = await import("../core/versions.ts");
  const controller = new AbortController();
  const watch = watchVersions({
    env,
    version,
    platform: process.platform,
    fetch,
    now: () => new Date(),
    unique: String(process.pid),
    offline: offline || !isForPerson,
    signal: controller.signal,
  });
  if (watch === undefined) return undefined;
  return {
    check: () => watch.check(),
    async end() {
      const timer = setTimeout(() => controller.abort(), GRACE_MS);
      const isNew = await watch.answered();
      clearTimeout(timer);
      const notice = isNew ? watch.notice() : undefined;
      if (notice !== undefined) await terminal.err(`note: ${notice}`);
    },
  };
}
