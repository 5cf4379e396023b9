import type { Fault } from "./fault.ts";
import { lenientText, strictText } from "./bytes.ts";
import { OID_BYTES } from "./oid.ts";
import { isDotGit } from "./safe_path.ts";
import { isGitlink, isSymlink, isTree, MODE } from "./tree.ts";

const ZERO = 0x30;
const SLASH = 0x2f;
const DOT = 0x2e;

/** Lists what git's own check would find in a tree, each kind of fault once. */
export function findTreeFaults(bytes: Uint8Array): Fault[] {
  const faults = new Map<string, Fault>();
  const add = (id: string, text: string, isOdd = false) => faults.set(id, { id, text, isOdd });
  let before: { start: number; end: number; mode: number } | undefined;
  /** Files whose name starts the one that follows: a directory of that name may still come. */
  const open: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at];
    let mode = 0;
    const modeAt = at;
    for (let byte = bytes[at]; byte !== 0x20; byte = bytes[++at]) {
      if (byte === undefined || byte < ZERO || byte > 0x37 || at - modeAt > 6) {
        return [cutShort];
      }
      mode = mode * 8 + byte - ZERO;
    }
    const start = at + 1;
    const end = bytes.indexOf(0, start);
    if (at === modeAt || end <= start || end + OID_BYTES >= bytes.length) return [cutShort];
    if (first === ZERO) add("zeroPaddedFilemode", "has a mode that starts with 0", true);
    checkMode(mode, add);
    const name = bytes.subarray(start, end);
    checkName(name, mode, add);
    if (isNull(bytes, end + 1)) add("nullSha1", "has an entry without an object");
    if (before !== undefined) {
      const order = compare(bytes, before, { start, end, mode });
      if (order === 0) add("duplicateEntries", "has two entries of one name");
      else if (order > 0) add("treeNotSorted", "is not sorted");
    }
    while (open.length > 0 && !startsWith(name, open.at(-1))) open.pop();
    if (isTree(mode) && open.at(-1)?.length === name.length) {
      add("duplicateEntries", "has two entries of one name");
    } else if (!isTree(mode)) {
      open.push(name);
    }
    before = { start, end, mode };
    at = end + 1 + OID_BYTES;
  }
  return [...faults.values()];
}

type Add = (id: string, text: string, isOdd?: boolean) => void;

const cutShort: Fault = { id: "badTree", text: "cannot be read as a tree", isOdd: false };

function checkMode(mode: number, add: Add): void {
  if (
    mode === MODE.file || mode === MODE.tree || mode === MODE.executable ||
    mode === MODE.symlink || mode === MODE.gitlink
  ) return;
  const isKnown = (mode & 0o170000) === 0o100000 || isTree(mode) || isSymlink(mode) ||
    isGitlink(mode);
  add("badFilemode", `has the mode ${mode.toString(8)}`, isKnown);
}

function checkName(name: Uint8Array, mode: number, add: Add): void {
  if (name.includes(SLASH)) add("fullPathname", "has a name with a slash in it");
  const first = name[0];
  if (first === DOT && name.length === 1) add("hasDot", "has an entry named .");
  if (first === DOT && name.length === 2 && name[1] === DOT) {
    add("hasDotdot", "has an entry named ..");
  }
  if (!isSuspect(name)) return;
  const text = lenientText(name);
  // To git, what is not UTF-8 ends the name that a Mac would see.
  const seen = strictText(name) ?? text.slice(0, text.indexOf("\ufffd"));
  if (isDotGit(text) || isDotGit(seen)) add("hasDotgit", "has an entry that may be taken for .git");
  if (isSymlink(mode) && isDotGitmodules(text)) {
    add("gitmodulesSymlink", "has .gitmodules as a symbolic link");
  }
}

/** Tells whether a file system of Windows or macOS could take the name for `.gitmodules`. */
export function isGitmodules(name: Uint8Array): boolean {
  return isSuspect(name) && isDotGitmodules(lenientText(name));
}

/** Only such names may be spellings of `.git…`; the rest, which is nearly all, need not be made text. */
function isSuspect(name: Uint8Array): boolean {
  const first = name[0];
  return first === DOT || first === 0x67 || first === 0x47 || first === 0xe2 || first === 0xef ||
    name.includes(0x5c);
}

function isDotGitmodules(name: string): boolean {
  const bare = name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "");
  return /^\.gitmodules$/i.test(bare) ||
    /^(\.gitmodules|gitmod~[1-4]|gi7eba~[1-9])[ .]*(:|$)/i.test(name);
}

function isNull(bytes: Uint8Array, at: number): boolean {
  for (let i = at; i < at + OID_BYTES; i++) if (bytes[i] !== 0) return false;
  return true;
}

function compare(
  bytes: Uint8Array,
  one: { start: number; end: number; mode: number },
  other: { start: number; end: number; mode: number },
): number {
  const length = one.end - one.start;
  const otherLength = other.end - other.start;
  const shared = Math.min(length, otherLength);
  for (let i = 0; i < shared; i++) {
    const difference = (bytes[one.start + i] ?? 0) - (bytes[other.start + i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (length === otherLength) return 0;
  const tail = length > shared ? bytes[one.start + shared] ?? 0 : isTree(one.mode) ? SLASH : 0;
  const otherTail = otherLength > shared
    ? bytes[other.start + shared] ?? 0
    : isTree(other.mode)
    ? SLASH
    : 0;
  return tail - otherTail;
}

function startsWith(name: Uint8Array, start: Uint8Array | undefined): boolean {
  if (start === undefined || start.length > name.length) return false;
  for (let i = 0; i < start.length; i++) if (name[i] !== start[i]) return false;
  return true;
}
