import { ConflictError, quote, UsageError } from "../errors.ts";
import { utf8 } from "./bytes.ts";

/** The longest name of a branch or tag, in bytes of UTF-8. */
const NAME_LIMIT = 200;

/** Why git would not take this as the name of a ref or a part of one; undefined when it would. */
export function whyNotRefName(name: string): string | undefined {
  if (name === "") return "is empty";
  if (!name.isWellFormed()) return "is not Unicode text";
  if (name === "@") return "is @ alone";
  // deno-lint-ignore no-control-regex
  if (/[\u0000-\u0020\u007f~^:?*[\\]/.test(name)) {
    return "holds a space, a control character or one of ~ ^ : ? * [ \\";
  }
  if (name.includes("..")) return "holds ..";
  if (name.includes("@{")) return "holds @{";
  if (name.endsWith(".")) return "ends in a dot";
  for (const part of name.split("/")) {
    if (part === "") return "begins or ends with a slash, or holds two in a row";
    if (part.startsWith(".")) return "has a part that begins with a dot";
    if (part.endsWith(".lock")) return "has a part that ends in .lock";
  }
  return undefined;
}

/** Refuses, with a UsageError, what may not be the short name of a branch or tag. */
export function checkShortName(kind: "branch" | "tag", name: string): void {
  const why = whyNotRefName(name) ?? whyNotShortName(name);
  if (why !== undefined) {
    throw new UsageError(`"${quote(name)}" cannot name a ${kind}: it ${why}`);
  }
}

function whyNotShortName(name: string): string | undefined {
  if (name.startsWith("-")) return "begins with a dash";
  if (name === "HEAD") return "is HEAD";
  if (/^[0-9a-fA-F]{40}$/.test(name)) return "looks like an object id";
  if (utf8(name).length > NAME_LIMIT) return `is longer than ${NAME_LIMIT} bytes`;
  return undefined;
}

/** Refuses, with a UsageError, a full ref that may not be pushed: malformed, outside `refs/`, or reserved. */
export function checkRefName(ref: string): void {
  const [, folder, short] = /^refs\/(heads|tags)\/(.*)$/s.exec(ref) ?? [];
  if (short !== undefined) return checkShortName(folder === "heads" ? "branch" : "tag", short);
  const why = whyNotRefName(ref) ?? whyNotFullName(ref);
  if (why !== undefined) throw new UsageError(`"${quote(ref)}" cannot be a ref: it ${why}`);
}

function whyNotFullName(ref: string): string | undefined {
  if (!ref.startsWith("refs/")) return "is not under refs/";
  // git pushes one to no repository of its own, and fetches none.
  if (!ref.includes("/", "refs/".length)) {
    return "is in no folder below refs/, such as refs/heads/, and git clones only what is in one";
  }
  if (ref.startsWith("refs/knotless/")) return "is under refs/knotless/, which is reserved";
  if (utf8(ref).length > NAME_LIMIT + "refs/heads/".length) {
    return `is longer than ${NAME_LIMIT} bytes`;
  }
  return undefined;
}

/** Refuses, with a ConflictError, a new full ref beside one that is below it or that it is below. */
export function checkRefFits(ref: string, refs: Iterable<string>): void {
  for (const other of refs) {
    if (other.startsWith(`${ref}/`) || ref.startsWith(`${other}/`)) {
      throw new ConflictError(`${quote(ref)} cannot exist beside ${quote(other)}`);
    }
  }
}
