import { ConflictError, RefusedError } from "../errors.ts";
import type { Oid } from "../git/object.ts";
import type { RefTarget } from "../mirror/manifest.ts";

/** One ref's change: where it was, absent when it is new, and where it is to be, absent when it is to go. */
export interface RefUpdate {
  readonly ref: string;
  readonly old?: Oid | undefined;
  readonly new?: Oid | undefined;
  /** What an annotated tag at `new` peels to. */
  readonly peeled?: Oid | undefined;
}

/** A ref is not where the writer saw it. */
export class MovedError extends ConflictError {
  override name = "MovedError";
  readonly ref: string;
  readonly now: Oid | undefined;
  constructor({ ref, old }: RefUpdate, now: Oid | undefined) {
    const name = shortRef(ref);
    super(
      old === undefined
        ? `${name} exists: it is at ${now}`
        : now === undefined
        ? `${name} is gone: it was ${old.slice(0, 7)}`
        : `${name} moved: it was ${old.slice(0, 7)}, it is now ${now.slice(0, 7)}`,
      { code: "conflict.branch_moved", facts: { ref, old, now } },
    );
    this.ref = ref;
    this.now = now;
  }
}

/** True for the error of a write that another came before, so that it must be made anew. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof MovedError ||
    error instanceof ConflictError && error.code === "conflict.unled";
}

/** A ref's name as people say it: `main` for refs/heads/main. */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/(heads|tags)\//, "");
}

/** Says, in git's words, that the branch that HEAD names is not deleted. */
export function spellCurrent(ref: string): string {
  return `refusing to delete the current branch: ${ref}`;
}

/** The refusal to delete the branch that HEAD of the repository names. */
export function refuseCurrent(ref: string, repo: string): RefusedError {
  return new RefusedError(spellCurrent(ref), {
    code: "refused.current_branch",
    hint: { command: "repo edit", args: { repo, default_branch: "ANOTHER" } },
  });
}

/** True when one of the refs is a branch. */
export function hasBranches(refs: ReadonlyMap<string, unknown>): boolean {
  return [...refs.keys()].some((name) => name.startsWith("refs/heads/"));
}

/** The refs after the updates; throws a MovedError, or a ConflictError for a name below another. */
export function applyUpdates(
  refs: ReadonlyMap<string, RefTarget>,
  updates: readonly RefUpdate[],
): Map<string, RefTarget> {
  const next = new Map(refs);
  for (const update of updates) {
    const now = refs.get(update.ref)?.oid;
    if (now !== update.old) throw new MovedError(update, now);
    if (update.new === undefined) next.delete(update.ref);
    else {
      next.set(update.ref, {
        oid: update.new,
        ...(update.peeled !== undefined && { peeled: update.peeled }),
      });
    }
  }
  checkNames(next, updates);
  return next;
}

/** Asks of folders, not of every other name: a first push may bring tens of thousands. */
function checkNames(refs: ReadonlyMap<string, unknown>, updates: readonly RefUpdate[]): void {
  const inFolder = new Map<string, string>();
  for (const name of refs.keys()) {
    for (const folder of foldersOf(name)) inFolder.set(folder, name);
  }
  for (const { ref, new: made } of updates) {
    if (made === undefined) continue;
    const clash = inFolder.get(ref) ?? foldersOf(ref).find((folder) => refs.has(folder));
    if (clash !== undefined) {
      throw new ConflictError(`${shortRef(ref)} and ${shortRef(clash)} cannot both exist`, {
        code: "conflict.ref_names",
      });
    }
  }
}

function foldersOf(name: string): string[] {
  const parts = name.split("/");
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join("/"));
}
