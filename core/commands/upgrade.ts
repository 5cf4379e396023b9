import process from "node:process";
import { command } from "../command.ts";
import { fields } from "../text.ts";
import { RELEASE_KEY } from "../upgrade/key.ts";
import { upgrade as run } from "../upgrade/upgrade.ts";
import { version } from "../version.ts";

const upgrade = command({
  name: "upgrade",
  summary: "Replace this program by that of a newer release",
  details:
    "The release's signature and the program's checksum are verified first. The old program stays beside the new one until that has started, and comes back when it does not.",
  kind: "machine",
  params: ({ z }) => ({
    from: z.string().min(1).max(4096).optional()
      .describe("the release's folder or URL (the newest release if not given)"),
  }),
  positionals: ["from"],
  examples: [
    { line: "upgrade", says: "take the newest release" },
    { line: "upgrade ./release", says: "take a release from a folder" },
  ],
  run: ({ machine: { program, env }, fetch, signal, progress }, { from }) =>
    run(from, {
      program,
      env,
      fetch,
      signal,
      progress,
      version,
      key: RELEASE_KEY,
      platform: process.platform,
      arch: process.arch,
    }),
  render: ({ version, was, path, changed }, style) =>
    !style.terminal
      ? fields({ version, was, path, changed }, style)
      : changed
      ? `${path} is now ${version}; it was ${was}`
      : `${version} is what the release has`,
});

export default [upgrade];
