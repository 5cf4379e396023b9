import { concat, latin1, utf8 } from "./bytes.ts";

/** Who made a commit or a tag, and when. */
export interface Identity {
  readonly name: Uint8Array;
  readonly email: Uint8Array;
  /** Seconds since 1970; 0 when the header has no date that can be read. */
  readonly time: number;
  /** The offset from UTC as written, such as `+0200`. */
  readonly zone: string;
}

const LESS = 0x3c;
const GREATER = 0x3e;
/** The last second a JavaScript date can show. */
const LAST_SECOND = 8_640_000_000_000;

/** Reads the value of an `author`, `committer` or `tagger` header as leniently as git does. */
export function parseIdentity(line: Uint8Array): Identity {
  const open = line.indexOf(LESS);
  if (open < 0) return { name: trimEnd(line), email: new Uint8Array(), time: 0, zone: "+0000" };
  const close = line.indexOf(GREATER, open);
  const name = trimEnd(line.subarray(0, open));
  const email = line.subarray(open + 1, close < 0 ? line.length : close);
  const last = line.lastIndexOf(GREATER);
  const date = /^\s*([0-9]+)\s+([+-][0-9]+)/.exec(latin1(line, last + 1));
  const time = Number(date?.[1] ?? 0);
  return date === null || last < 0
    ? { name, email, time: 0, zone: "+0000" }
    : { name, email, time: time <= LAST_SECOND ? time : 0, zone: date[2] ?? "+0000" };
}

/** Gives the value of an `author`, `committer` or `tagger` header; angle brackets, newlines and NUL in names are left out. */
export function formatIdentity({ name, email, time, zone }: Identity): Uint8Array {
  // The space stays without a name too: git's check asks for it.
  return concat([plain(name), utf8(" <"), plain(email), utf8(`> ${time} ${zone}`)]);
}

/** Gives the minutes east of UTC of a zone such as `+0530`. */
export function zoneMinutes(zone: string): number {
  const digits = Number(zone.slice(1)) || 0;
  const minutes = Math.trunc(digits / 100) * 60 + digits % 100;
  return zone.startsWith("-") ? -minutes : minutes;
}

function plain(text: Uint8Array): Uint8Array {
  return text.filter((byte) => byte !== LESS && byte !== GREATER && byte !== 0x0a && byte !== 0);
}

/** Takes the space after a name away; git keeps what is before it. */
function trimEnd(text: Uint8Array): Uint8Array {
  let end = text.length;
  while (end > 0 && isSpace(text[end - 1])) end--;
  return text.subarray(0, end);
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
}
