import { UsageError } from "../errors.ts";
import { lenientText } from "./bytes.ts";
import { quotePath } from "./path.ts";

const PATH_LIMIT = 4096;
/** What HFS+ passes over when it compares names. */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** Refuses, with a UsageError naming it, a path that a commit may not bring: one that leaves the tree or hides a `.git`. */
export function checkPath(path: Uint8Array): void {
  const why = whyNotPath(path);
  if (why !== undefined) throw new UsageError(`${quotePath(path)}: a path ${why}`);
}

function whyNotPath(path: Uint8Array): string | undefined {
  if (path.length === 0) return "must not be empty";
  if (path.length > PATH_LIMIT) return `must not be longer than ${PATH_LIMIT} bytes`;
  if (path.includes(0)) return "must not hold a NUL";
  const text = lenientText(path);
  if (/^(\/|[a-z]:([\\/]|$))/i.test(text)) return "must not be absolute";
  const parts = text.split("/");
  if (parts.includes("")) return "must not have empty parts";
  if (parts.includes(".") || parts.includes("..")) return "must not have . or .. in it";
  if (parts.some((part) => /^[a-z]:(\\|$)/i.test(part))) return "must not name a drive";
  if (parts.some(isDotGit)) return "must not have .git in it, in any spelling";
  return undefined;
}

/** Tells whether a file system of Windows or macOS could take the name for `.git`. */
export function isDotGit(name: string): boolean {
  return /^\.git$/i.test(name.replace(HFS_IGNORED, "")) ||
    name.split("\\").some((part) => /^(\.git|git~1)[ .]*(:|$)/i.test(part));
}
