import * as z from "zod";
import { parseRepoName, readActor, refuseName } from "./forge/names.ts";
import { UsageError } from "./errors.ts";

export { z };

// A schema is used once or a few times: compiling it would cost more than it saves.
z.config({ jitless: true });

/** Makes a text parameter whose value `read` parses; a UsageError of `read` becomes the parameter's own. */
function parsed<T>(read: (text: string) => T): z.ZodType<T, string> {
  return z.string().transform((text, context) => {
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      context.issues.push({ code: "custom", message: error.message, input: text });
      return z.NEVER;
    }
  });
}

/** A repository. */
export const repo = () =>
  parsed(parseRepoName).meta({ names: "repo" }).describe("[the repository, as handle/name]");

/** An account, as a handle or a DID. */
export const actor = (what: string) =>
  parsed((text) => {
    const actor = readActor(text);
    if (actor === undefined) throw new UsageError("not a handle or a DID");
    return actor;
  }).meta({ names: "account" }).describe(what);

/** The name of a repository to be. */
export const repoName = (what: string) =>
  parsed((text) => {
    const why = refuseName(text);
    if (why) throw new UsageError(why);
    return text;
  }).meta({ names: "new_repo" }).describe(what);

/** A commit, by anything that names it. */
export const rev = () =>
  z.string().min(1).max(500).optional().describe(
    "[a branch, tag or commit (the default branch if not given)]",
  );

/** A path in the repository. */
export const path = (what: string) => z.string().min(1).max(4096).describe(what);

/** How many of a list; the command line gives all of them to a pipe. */
export const limit = (usual: number) =>
  z.number().int().min(1).max(1_000_000).default(usual).describe("[at most this many]");

/** Where to go on in a list that was cut. */
export const cursor = () =>
  z.string().max(2000).optional().describe("[go on where an earlier answer's cursor says]");
