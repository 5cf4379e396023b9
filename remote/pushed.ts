import { open, readFile } from "node:fs/promises";
import { RefusedError } from "../core/errors.ts";
import type { ObjectKind, Oid } from "../core/git/object.ts";
import { isOid } from "../core/git/oid.ts";
import { type Env, GitError, runGit, unboundEnv, withObjectsOf } from "./git.ts";
import { fromWire } from "./lines.ts";
import type { Request, Resolved } from "./plan.ts";

const BULK_BYTES = 1_000_000;
const BULK_OBJECTS = 5_000;

/** The repository on this machine that is pushed from; git itself reads it. */
export interface Pushed {
  readonly env: Env;
  /** Commits whose parents it does not have, when it is a shallow one. */
  readonly roots: readonly Oid[];
}

/** Opens the repository that git runs the helper in; one of another object format is a RefusedError. */
export async function openPushed(env: Env): Promise<Pushed> {
  const asked = ["--show-object-format", "--is-shallow-repository", "--git-path", "shallow"];
  const [format, isShallow, path = ""] = (await runGit(["rev-parse", ...asked], { env }))
    .split("\n");
  if (format !== "sha1") {
    throw new RefusedError(`mismatched algorithms: client ${format}; server sha1`, {
      code: "refused.object_format",
      hint: "knotless keeps SHA-1 repositories only",
    });
  }
  const shallow = isShallow === "true" ? await readFile(Buffer.from(path, "latin1"), "latin1") : "";
  return { env, roots: shallow.split("\n").filter(isOid) };
}

/** Finds the object that each request's source names, and of what kind the one is that its ref is at. */
export async function resolveSources(
  { env }: Pushed,
  requests: readonly Request[],
  listed: ReadonlyMap<string, Oid>,
): Promise<Resolved[]> {
  const oldOf = ({ target }: Request) => listed.get(fromWire(target) ?? "");
  const sources = requests.flatMap((request) =>
    request.source === undefined ? [] : [request.source, oldOf(request) ?? []].flat()
  );
  const said = await runGit(["cat-file", "--batch-check=%(objectname) %(objecttype)"], {
    env,
    input: sources.map((source) => `${source}\n`).join(""),
  });
  const lines = said.split("\n").values();
  const nextObject = () => {
    const [oid = "", kind = ""] = (lines.next().value ?? "").split(" ");
    return isOid(oid) && isKind(kind) ? { oid, kind } : undefined;
  };
  return requests.map((request) => {
    if (request.source === undefined) return { ...request, object: undefined, before: undefined };
    const object = nextObject();
    const before = oldOf(request) === undefined ? undefined : nextObject()?.kind;
    return { ...request, object, before };
  });
}

function isKind(text: string): text is ObjectKind {
  return text === "commit" || text === "tree" || text === "blob" || text === "tag";
}

/** Where the other side's objects are, and which its refs are at. */
export interface Held {
  /** Its mirror. */
  readonly path: string;
  readonly tips: readonly Oid[];
}

/**
 * Tells which of `tips` lead to a commit of a shallow repository whose parents the other side has not: to take them
 * would cut its history off.
 */
export async function findCutOff(
  { env, roots }: Pushed,
  tips: readonly Oid[],
  held: Held,
): Promise<Set<Oid>> {
  const lacking = new Set<Oid>();
  const apart = await unboundEnv(env);
  for (const root of roots) {
    if (!await holdsParents(root, env, apart, held)) lacking.add(root);
  }
  const cut = new Set<Oid>();
  if (lacking.size === 0) return cut;
  for (const tip of tips) {
    const said = await runGit(["rev-list", "--stdin"], {
      env: withObjectsOf(env, held.path),
      input: revs([tip], held.tips),
    });
    if (said.split("\n").some((oid) => lacking.has(oid))) cut.add(tip);
  }
  return cut;
}

async function holdsParents(root: Oid, env: Env, apart: Env, held: Held): Promise<boolean> {
  const [head = ""] = (await runGit(["cat-file", "commit", root], { env })).split("\n\n");
  const parents = [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, oid = ""]) => oid);
  try {
    const beyond = await runGit(["--git-dir", held.path, "rev-list", "-n1", "--stdin"], {
      env: apart,
      input: revs(parents, held.tips),
    });
    return beyond === "";
  } catch (error) {
    if (error instanceof GitError) return false;
    throw error;
  }
}

/** How a pack is to be made. */
export interface PackOptions {
  readonly held: Held;
  /** The file that takes it. */
  readonly file: string;
  readonly isThin: boolean;
  /** Shows git's own progress. */
  readonly isHeard: boolean;
}

/** Packs what `tips` reach and the other side has not; gives the pack's size, no objects when there is nothing to send. */
export async function packObjects(
  { env }: Pushed,
  tips: readonly Oid[],
  { held, file, isThin, isHeard }: PackOptions,
): Promise<{ objects: number; isBulk: boolean }> {
  const manner = isHeard ? ["--progress", "--all-progress"] : ["-q"];
  const thin = isThin ? ["--thin"] : [];
  await runGit(["pack-objects", "--stdout", "--revs", "--delta-base-offset", ...thin, ...manner], {
    env: withObjectsOf(env, held.path),
    input: revs(tips, held.tips),
    file,
    isHeard,
  });
  const pack = await open(file);
  try {
    const header = new Uint8Array(12);
    await pack.read(header, 0, 12, 0);
    const objects = new DataView(header.buffer).getUint32(8);
    const { size } = await pack.stat();
    return { objects, isBulk: size > BULK_BYTES || objects > BULK_OBJECTS };
  } finally {
    await pack.close();
  }
}

/** What `--stdin` and `--revs` read: these, and not what those reach. */
function revs(these: readonly Oid[], those: readonly Oid[]): string {
  return [...these, ...those.map((oid) => `^${oid}`)].map((line) => `${line}\n`).join("");
}
