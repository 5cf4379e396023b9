import { spawn } from "node:child_process";
import type { ReadContext } from "../core/context.ts";
import type { RepoName } from "../core/forge/names.ts";
import { findRepository } from "../core/forge/repository.ts";
import { spellAge } from "../core/mirror/age.ts";
import type { Mirror } from "../core/mirror/mirror.ts";
import type { Env } from "./git.ts";

/** Brings the mirror up to date, or offline says how old it is. */
export async function prepareMirror(context: ReadContext, named: RepoName): Promise<Mirror> {
  const { mirror } = await findRepository(context, named);
  if (context.freshness.offline) {
    const { checkedAt } = await mirror.view(context.freshness);
    context.note(
      `offline: this is the copy of ${spellAge(context.now().getTime() - checkedAt)} ago`,
    );
  } else {
    await mirror.latest();
  }
  return mirror;
}

/**
 * Lets git itself serve a fetch from the mirror at `path`, on the streams of this process; gives its status. `apart` is
 * the environment without what ties git to another repository.
 */
export async function serveFetch(path: string, apart: Env): Promise<number> {
  const settings = [
    "uploadpack.allowFilter=true",
    "uploadpack.allowAnySHA1InWant=true",
    `safe.directory=${path}`,
  ];
  const child = spawn(
    "git",
    [...settings.flatMap((setting) => ["-c", setting]), "upload-pack", "--strict", path],
    { env: { ...apart, GIT_PROTOCOL: "version=2" }, stdio: "inherit" },
  );
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve(status ?? 128));
  });
}
