import { unsafe, UsageError } from "../errors.ts";
import { concat, strictText, utf8 } from "./bytes.ts";

const LETTERS: Readonly<Record<number, string>> = {
  0x07: "a",
  0x08: "b",
  0x09: "t",
  0x0a: "n",
  0x0b: "v",
  0x0c: "f",
  0x0d: "r",
  0x22: '"',
  0x5c: "\\",
};

/**
 * Gives a path as it is shown: as it is, or in git's quoted form when it is not UTF-8 or holds a quote, a backslash or
 * what is unsafe to show, which would be replaced and then name no file.
 */
export function quotePath(path: Uint8Array): string {
  const text = strictText(path);
  if (text === undefined || /["\\]/.test(text)) return quoted(path);
  return (/^[ -~]*$/.test(text) || text.search(unsafe()) < 0) ? text : quoted(path);
}

/** Gives a path as `git diff` and `git ls-files` write it by default, quoted too when a byte is above 0x7f. */
export function quoteGitPath(path: Uint8Array): string {
  const plain = path.every((byte) => byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c);
  return plain ? String.fromCharCode(...path) : quoted(path);
}

/** Gives the bytes of a path as shown: text that starts with a double quote is in git's quoted form. */
export function unquotePath(text: string): Uint8Array {
  if (!text.startsWith('"')) return utf8(text);
  const parts: Uint8Array[] = [];
  const piece = /\\([0-3][0-7]{2})|\\([abtnvfr"\\])|([^"\\]+)/y;
  piece.lastIndex = 1;
  while (piece.lastIndex < text.length - 1) {
    const found = piece.exec(text);
    if (found === null) break;
    const [, octal, letter, plain] = found;
    if (octal !== undefined) parts.push(Uint8Array.of(parseInt(octal, 8)));
    else if (letter !== undefined) parts.push(Uint8Array.of(byteOf(letter)));
    else parts.push(utf8(plain ?? ""));
    if (piece.lastIndex === text.length - 1 && text.endsWith('"')) return concat(parts);
  }
  if (text === '""') return new Uint8Array();
  throw new UsageError(`${text} is not a quoted path: escape as git does and end it with a quote`);
}

function quoted(path: Uint8Array): string {
  let text = '"';
  for (const byte of path) {
    const letter = LETTERS[byte];
    if (letter !== undefined) text += `\\${letter}`;
    else if (byte < 0x20 || byte >= 0x7f) text += `\\${byte.toString(8).padStart(3, "0")}`;
    else text += String.fromCharCode(byte);
  }
  return `${text}"`;
}

function byteOf(letter: string): number {
  for (const [byte, name] of Object.entries(LETTERS)) if (name === letter) return Number(byte);
  return 0;
}
