import { Buffer } from "node:buffer";
import { lenientText } from "./bytes.ts";

/** Gives the lines of a text, counted from 0, that hold what is looked for. */
export type LineFinder = (bytes: Uint8Array) => number[];

const NEWLINE = 10;
const SYNTAX = /[\\^$.*+?()[\]{}|/]/g;

/**
 * Gives what finds a string of one line in any case. A string of ASCII is found byte by byte, whatever the encoding;
 * another in texts as UTF-8, letters alike where Unicode folds both to one letter, as git does in a UTF-8 locale.
 */
export function lineFinder(text: string): LineFinder {
  return /^\p{ASCII}*$/u.test(text) ? findBytes(text.toLowerCase()) : findText(text);
}

function findBytes(needle: string): LineFinder {
  return (bytes) => {
    // Latin-1 keeps its length when it is lowered, and nothing but ASCII becomes ASCII by it.
    const text = asLatin1(bytes).toLowerCase();
    const count = lineCounter((at) => bytes[at] === NEWLINE);
    const lines: number[] = [];
    for (let at = text.indexOf(needle); at >= 0;) {
      lines.push(count(at));
      const end = bytes.indexOf(NEWLINE, at);
      if (end < 0) break;
      at = text.indexOf(needle, end + 1);
    }
    return lines;
  };
}

function findText(needle: string): LineFinder {
  const source = needle.replace(SYNTAX, "\\$&");
  return (bytes) => {
    const text = lenientText(bytes);
    const pattern = new RegExp(source, "giu");
    const count = lineCounter((at) => text.charCodeAt(at) === NEWLINE);
    const lines: number[] = [];
    for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
      lines.push(count(found.index));
      const end = text.indexOf("\n", found.index);
      if (end < 0) break;
      pattern.lastIndex = end + 1;
    }
    return lines;
  };
}

/** Gives what tells the line of a place, for places that rise. */
function lineCounter(isNewline: (at: number) => boolean): (place: number) => number {
  let line = 0;
  let at = 0;
  return (place) => {
    for (; at < place; at++) if (isNewline(at)) line++;
    return line;
  };
}

function asLatin1({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("latin1");
}
