import { access, constants, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { RefusedError } from "../errors.ts";
import type { Env } from "../folders.ts";
import { isOlder } from "../versions.ts";
import { findProgram, type Target } from "./release.ts";
import { replaceProgram } from "./replace.ts";
import { openSource, type SourceOptions } from "./source.ts";

/** Where the newest release is. */
const LATEST = "https://knotless.dev/releases/latest/";

/** What is upgraded, and how. */
export interface UpgradeOptions extends SourceOptions, Target {
  /** The program and the arguments that make it knotless, if it needs any. */
  readonly program: readonly string[];
  readonly env: Env;
  /** What the program is now. */
  readonly version: string;
  /** The key that a release has to be signed for. */
  readonly key: string;
  progress(text: string, done: number): void;
}

/** What came of an upgrade. */
export type Upgraded = {
  readonly version: string;
  /** The version before. */
  readonly was: string;
  readonly path: string;
  readonly changed: boolean;
};

/** Replaces this program by that of a release in a folder or at a URL, the newest when none is named. */
export async function upgrade(
  from: string | undefined,
  options: UpgradeOptions,
): Promise<Upgraded> {
  const { program: [program = "", ...rest], version: was, env, progress } = options;
  if (rest.length > 0) {
    throw new RefusedError("this knotless runs from its source: an upgrade is of the program", {
      hint: "update the source",
    });
  }
  const path = await realpath(program);
  const source = openSource(from ?? LATEST, options);
  const wanted = await findProgram(source, options, options.key);
  const { version } = wanted;
  if (version === was) return { version, was, path, changed: false };
  if (isOlder(version, was)) {
    throw new RefusedError(`the release is ${version}, older than ${was}, which this is`, {
      code: "refused.older",
    });
  }
  await checkWritable(dirname(path));
  await replaceProgram(path, source, wanted, { env, progress });
  return { version, was, path, changed: true };
}

async function checkWritable(folder: string): Promise<void> {
  try {
    await access(folder, constants.W_OK);
  } catch (cause) {
    throw new RefusedError(
      `${folder} is not yours to write: knotless was put there by another way`,
      {
        cause,
        hint: "upgrade it the way it was installed",
      },
    );
  }
}
