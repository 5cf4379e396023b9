import { CorruptError } from "../errors.ts";
import { concat, utf8 } from "./bytes.ts";
import type { Oid } from "./object.ts";
import { OID_BYTES, oidAt, oidBytes } from "./oid.ts";

/** An entry of a tree. */
export interface TreeEntry {
  /** The mode as a number: `0o100644`, `0o100755`, `0o120000`, `0o40000` or `0o160000`, or an odd one of an old repository. */
  readonly mode: number;
  readonly name: Uint8Array;
  readonly oid: Oid;
}

/** The modes git writes. */
export const MODE = {
  file: 0o100644,
  executable: 0o100755,
  symlink: 0o120000,
  tree: 0o40000,
  gitlink: 0o160000,
} as const;

const TYPE = 0o170000;

/** Tells whether the mode is a directory's. */
export function isTree(mode: number): boolean {
  return (mode & TYPE) === MODE.tree;
}

/** Tells whether the mode is a submodule's. */
export function isGitlink(mode: number): boolean {
  return (mode & TYPE) === MODE.gitlink;
}

/** Tells whether the mode is a symbolic link's. */
export function isSymlink(mode: number): boolean {
  return (mode & TYPE) === MODE.symlink;
}

/** Reads the entries of a tree in their order. */
export function parseTree(bytes: Uint8Array): TreeEntry[] {
  const entries: TreeEntry[] = [];
  let at = 0;
  while (at < bytes.length) {
    let mode = 0;
    let digits = 0;
    for (; bytes[at] !== 0x20; at++, digits++) {
      const digit = (bytes[at] ?? 0) - 0x30;
      if (digit < 0 || digit > 7 || digits > 10) {
        throw new CorruptError("a mode in a tree is not an octal number");
      }
      mode = mode * 8 + digit;
    }
    const end = bytes.indexOf(0, at + 1);
    if (end < 0 || digits === 0) throw new CorruptError("an entry of a tree is cut short");
    entries.push({ mode, name: bytes.subarray(at + 1, end), oid: oidAt(bytes, end + 1) });
    at = end + 1 + OID_BYTES;
  }
  return entries;
}

/** Gives the bytes of a tree with these entries, put in git's order. */
export function formatTree(entries: Iterable<TreeEntry>): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const { mode, name, oid } of [...entries].sort(compareEntries)) {
    parts.push(utf8(`${mode.toString(8)} `), name, Uint8Array.of(0), oidBytes(oid));
  }
  return concat(parts);
}

/** Compares two entries in the order of a tree: by name, a directory as if its name ended in a slash. */
export function compareEntries(
  one: { mode: number; name: Uint8Array },
  other: { mode: number; name: Uint8Array },
): number {
  const shared = Math.min(one.name.length, other.name.length);
  for (let i = 0; i < shared; i++) {
    const difference = (one.name[i] ?? 0) - (other.name[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return (one.name[shared] ?? tail(one.mode)) - (other.name[shared] ?? tail(other.mode));
}

function tail(mode: number): number {
  return isTree(mode) ? 0x2f : 0;
}
