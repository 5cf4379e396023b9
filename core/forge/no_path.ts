import { type Hint, NotFoundError, quote } from "../errors.ts";
import type { Oid } from "../git/object.ts";
import { quotePath } from "../git/path.ts";
import { isTree } from "../git/tree.ts";
import { findEntry, joinPath, listTree, pathParts } from "../git/walk.ts";
import { nearest } from "../text.ts";
import { type Reading, treeOf } from "./reading.ts";

/** The error for a path that a commit has not, with the name that may have been meant or where to look for it. */
export function noSuchPath(reading: Reading, commit: Oid, path: Uint8Array): NotFoundError {
  return new NotFoundError(`there is no ${quote(quotePath(path))} in ${commit}`, {
    code: "not_found.path",
    hint: findAdvice(reading, commit, path),
  });
}

function findAdvice({ objects, view, repository }: Reading, commit: Oid, path: Uint8Array): Hint {
  const tree = treeOf(objects, commit);
  let directory: { path: Uint8Array; oid: Oid } = { path: new Uint8Array(), oid: tree };
  for (const name of pathParts(path)) {
    const next = joinPath(directory.path, name);
    const found = findEntry(objects, tree, next);
    if (found === undefined) {
      const names = listTree(objects, directory.oid).map((entry) => quotePath(entry.name));
      const near = nearest(quotePath(name), names);
      if (near !== undefined) {
        const shown = directory.path.length === 0 ? near : `${quotePath(directory.path)}/${near}`;
        return `did you mean ${quote(shown)}?`;
      }
      break;
    }
    if (!isTree(found.mode)) return `${quote(quotePath(next))} is no directory`;
    directory = { path: next, oid: found.oid };
  }
  return {
    command: "repo tree",
    args: {
      repo: repository.spelled,
      ...(directory.path.length > 0 && { path: quotePath(directory.path) }),
      ...(commit !== view.refs.get(view.head)?.oid && { rev: commit }),
    },
  };
}
