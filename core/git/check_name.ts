import { lenientText, strictText, utf8 } from "./bytes.ts";
import { isDotGit } from "./safe_path.ts";

const DOT = 0x2e;
const TILDE = 0x7e;
const GIT = utf8("git");
/** What may follow `.git` in a name that is taken for it, or for `.gitmodules`. */
const AFTER_GIT = new Set(utf8("\0 .:mM"));

/** Tells whether the name at `start`, which ends in a NUL, could be a spelling of `.git` or `.gitmodules`: nearly none can, and need not be made text. */
export function mayBeDotGit(bytes: Uint8Array, start: number): boolean {
  const first = bytes[start] ?? 0;
  if ((first | 0x20) === 0x67) {
    return bytes[start + 3] === TILDE || bytes[start + 6] === TILDE;
  }
  // Letters that HFS+ passes over may come first.
  if (first !== DOT) return first === 0xe2 || first === 0xef;
  for (let i = 0; i < 3; i++) {
    const byte = bytes[start + 1 + i] ?? 0;
    if (byte >= 0x80) return true;
    if ((byte | 0x20) !== GIT[i]) return false;
  }
  const next = bytes[start + 4] ?? 0;
  return next >= 0x80 || AFTER_GIT.has(next);
}

/** Tells whether a file system of Windows or macOS could take the name from `start` to `end` for `.gitmodules`. */
export function isGitmodules(bytes: Uint8Array, start: number, end: number): boolean {
  return mayBeDotGit(bytes, start) && isDotGitmodules(lenientText(bytes.subarray(start, end)));
}

/** Tells the same of a name as text. */
export function isDotGitmodules(name: string): boolean {
  const bare = name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "");
  return /^\.gitmodules$/i.test(bare) ||
    /^(\.gitmodules|gitmod~[1-4]|gi7eba~[1-9])[ .]*(:|$)/i.test(name);
}

/** Tells whether git could take a name for `.git`: what is not UTF-8 ends the name that a Mac would see. */
export function isSeenAsDotGit(name: Uint8Array): boolean {
  const text = lenientText(name);
  const seen = strictText(name) ?? text.slice(0, text.indexOf("\ufffd"));
  return isDotGit(text) || isDotGit(seen);
}
