import { isDotGitmodules, isSeenAsDotGit, mayBeDotGit } from "./check_name.ts";
import type { Fault } from "./fault.ts";
import { lenientText } from "./bytes.ts";
import { OID_BYTES } from "./oid.ts";
import { isGitlink, isSymlink, isTree, MODE } from "./tree.ts";

const ZERO = 0x30;
const SEVEN = 0x37;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const DOT = 0x2e;
const COLON = 0x3a;

/** Lists what git's own check would find in a tree, and names of drives, each kind of fault once. */
export function findTreeFaults(bytes: Uint8Array): Fault[] {
  const faults = new Map<string, Fault>();
  const add = (id: string, text: string, isOdd = false) => faults.set(id, { id, text, isOdd });
  let lastStart = -1;
  let lastEnd = -1;
  let lastMode = 0;
  /** Where the names of files start and end that start the one that follows: a directory of that name may still come. */
  const open: number[] = [];
  for (let at = 0; at < bytes.length;) {
    const modeAt = at;
    let mode = 0;
    for (let byte = bytes[at]; byte !== 0x20; byte = bytes[++at]) {
      if (byte === undefined || byte < ZERO || byte > SEVEN || at - modeAt > 6) return [cutShort];
      mode = mode * 8 + byte - ZERO;
    }
    const start = at + 1;
    let end = start;
    let isSuspect = mayBeDotGit(bytes, start);
    let hasSlash = false;
    for (let byte = bytes[end]; byte !== 0 && byte !== undefined; byte = bytes[++end]) {
      if (byte === SLASH) hasSlash = true;
      else if (byte === BACKSLASH) isSuspect = true;
    }
    if (at === modeAt || end === start || end + OID_BYTES >= bytes.length) return [cutShort];
    if (bytes[modeAt] === ZERO) add("zeroPaddedFilemode", "has a mode that starts with 0", true);
    checkMode(mode, add);
    if (hasSlash) add("fullPathname", "has a name with a slash in it");
    if (bytes[start] === DOT) checkDots(bytes, start, end, add);
    if (bytes[start + 1] === COLON && isOnDrive(bytes, start, end)) {
      add("drivePath", "has an entry that Windows takes for a place on a drive");
    }
    if (isSuspect) checkSpelling(bytes.subarray(start, end), mode, add);
    if (bytes[end + 1] === 0 && isNull(bytes, end + 1)) {
      add("nullSha1", "has an entry without an object");
    }
    if (lastStart >= 0) {
      const order = compare(bytes, lastStart, lastEnd, lastMode, start, end, mode);
      if (order === 0) add("duplicateEntries", "has two entries of one name");
      else if (order > 0) add("treeNotSorted", "is not sorted");
    }
    while (open.length > 0 && !startsWith(bytes, start, end, open)) open.length -= 2;
    if (!isTree(mode)) open.push(start, end);
    else if (open.length > 0 && openLength(open) === end - start) {
      add("duplicateEntries", "has two entries of one name");
    }
    lastStart = start;
    lastEnd = end;
    lastMode = mode;
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

function checkDots(bytes: Uint8Array, start: number, end: number, add: Add): void {
  if (end - start === 1) add("hasDot", "has an entry named .");
  if (end - start === 2 && bytes[start + 1] === DOT) add("hasDotdot", "has an entry named ..");
}

function checkSpelling(name: Uint8Array, mode: number, add: Add): void {
  if (isSeenAsDotGit(name)) add("hasDotgit", "has an entry that may be taken for .git");
  if (isSymlink(mode) && isDotGitmodules(lenientText(name))) {
    add("gitmodulesSymlink", "has .gitmodules as a symbolic link");
  }
}

/** `C:` and `C:\\x`; a colon behind one letter is in names that are used. */
function isOnDrive(bytes: Uint8Array, start: number, end: number): boolean {
  const letter = (bytes[start] ?? 0) | 0x20;
  return letter >= 0x61 && letter <= 0x7a &&
    (end === start + 2 || bytes[start + 2] === BACKSLASH || bytes[start + 2] === SLASH);
}

function isNull(bytes: Uint8Array, at: number): boolean {
  for (let i = at; i < at + OID_BYTES; i++) if (bytes[i] !== 0) return false;
  return true;
}

/** Compares two names as a tree is sorted: below, equal or above zero. */
function compare(
  bytes: Uint8Array,
  start: number,
  end: number,
  mode: number,
  otherStart: number,
  otherEnd: number,
  otherMode: number,
): number {
  const length = end - start;
  const otherLength = otherEnd - otherStart;
  const shared = Math.min(length, otherLength);
  for (let i = 0; i < shared; i++) {
    const difference = (bytes[start + i] ?? 0) - (bytes[otherStart + i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (length === otherLength) return 0;
  const tail = length > shared ? bytes[start + shared] ?? 0 : isTree(mode) ? SLASH : 0;
  const otherTail = otherLength > shared
    ? bytes[otherStart + shared] ?? 0
    : isTree(otherMode)
    ? SLASH
    : 0;
  return tail - otherTail;
}

/** Tells whether the name starts with that of the file opened last. */
function startsWith(
  bytes: Uint8Array,
  start: number,
  end: number,
  open: readonly number[],
): boolean {
  const length = openLength(open);
  const from = open[open.length - 2] ?? 0;
  if (length > end - start) return false;
  for (let i = 0; i < length; i++) if (bytes[from + i] !== bytes[start + i]) return false;
  return true;
}

function openLength(open: readonly number[]): number {
  return (open[open.length - 1] ?? 0) - (open[open.length - 2] ?? 0);
}
