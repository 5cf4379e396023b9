import { concat, latin1, utf8 } from "./bytes.ts";

/** A header of a commit or tag. The lines of a value that spans several are joined by newlines, their leading space gone. */
export interface Header {
  readonly name: string;
  readonly value: Uint8Array;
}

const NEWLINE = 0x0a;
const SPACE = 0x20;

/** Reads the headers of a commit or tag and the message that follows the empty line. */
export function parseHeaders(bytes: Uint8Array): { headers: Header[]; message: Uint8Array } {
  const headers: Header[] = [];
  let at = 0;
  while (at < bytes.length && bytes[at] !== NEWLINE) {
    const space = bytes.indexOf(SPACE, at);
    let end = lineEnd(bytes, at);
    const named = space >= 0 && space < end;
    const name = latin1(bytes, at, named ? space : end);
    const start = named ? space + 1 : end;
    if (bytes[end + 1] !== SPACE) {
      headers.push({ name, value: bytes.subarray(start, end) });
    } else {
      const parts = [bytes.subarray(start, end)];
      while (bytes[end + 1] === SPACE) {
        const next = lineEnd(bytes, end + 1);
        parts.push(utf8("\n"), bytes.subarray(end + 2, next));
        end = next;
      }
      headers.push({ name, value: concat(parts) });
    }
    at = end + 1;
  }
  return { headers, message: bytes.subarray(Math.min(at + 1, bytes.length)) };
}

/** Gives the lines of headers, then the empty line and the message. */
export function formatHeaders(headers: readonly Header[], message: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const { name, value } of headers) {
    parts.push(utf8(`${name} `), indent(value), utf8("\n"));
  }
  return concat([...parts, utf8("\n"), message]);
}

function lineEnd(bytes: Uint8Array, at: number): number {
  const end = bytes.indexOf(NEWLINE, at);
  return end < 0 ? bytes.length : end;
}

function indent(value: Uint8Array): Uint8Array {
  if (!value.includes(NEWLINE)) return value;
  const out: number[] = [];
  for (const byte of value) {
    out.push(byte);
    if (byte === NEWLINE) out.push(SPACE);
  }
  return Uint8Array.from(out);
}
