/** A decentralised identifier: `did:plc:…` or `did:web:…`. */
export type Did = `did:${string}:${string}`;

/** `at://did/collection/rkey`: names one record for ever. */
export type AtUri = string;

/** The parts of a record's AT URI. */
export interface RecordName {
  readonly did: Did;
  readonly collection: string;
  readonly rkey: string;
}

const TID_LETTERS = "234567abcdefghijklmnopqrstuvwxyz";

/** True for a syntactically valid DID of any method. */
export function isDid(text: string): text is Did {
  return text.length <= 2048 && /^did:[a-z]+:[a-zA-Z0-9._:%-]*[a-zA-Z0-9._-]$/.test(text);
}

/** True for a syntactically valid handle, in any case; says nothing on whether it may be resolved. */
export function isHandle(text: string): boolean {
  return text.length <= 253 &&
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(text);
}

/** True for a timestamp identifier: 13 sortable letters. */
export function isTid(text: string): boolean {
  return /^[2-7a-j][2-7a-z]{12}$/.test(text);
}

/** True for a record key. */
export function isRkey(text: string): boolean {
  return /^[a-zA-Z0-9_~.:-]{1,512}$/.test(text) && text !== "." && text !== "..";
}

/** True for a namespaced identifier: a domain turned round and a name, `dev.knotless.repo`. */
export function isNsid(text: string): boolean {
  if (text.length > 317) return false;
  const parts = text.split(".");
  const name = parts.pop() ?? "";
  return parts.length >= 2 && /^[a-zA-Z][a-zA-Z0-9]{0,62}$/.test(name) &&
    /^[a-zA-Z]/.test(text) &&
    parts.every((part) => /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/.test(part));
}

/** True for any AT URI: an account by handle or DID, perhaps a collection and a record of it, perhaps a fragment. */
export function isAtUri(text: string): boolean {
  if (text.length > 8192) return false;
  const match = /^at:\/\/([^/#]+)(?:\/([^/#]+)(?:\/([^/#]+))?)?(?:#(\/.*))?$/.exec(text);
  if (match === null) return false;
  const [, actor = "", collection, rkey, fragment] = match;
  return (isDid(actor) || isHandle(actor)) &&
    (collection === undefined || isNsid(collection)) &&
    (rkey === undefined || isRkey(rkey)) &&
    (fragment === undefined || /^\/[a-zA-Z0-9._~:@!$&')(*+,;=%[\]/-]*$/.test(fragment));
}

/** The parts of a record's AT URI; undefined for any other text, also for a URI that names its account by handle. */
export function parseAtUri(text: string): RecordName | undefined {
  if (text.length > 8192) return undefined;
  const match = /^at:\/\/([^/#]+)\/([^/#]+)\/([^/#]+)$/.exec(text);
  if (match === null) return undefined;
  const [, did = "", collection = "", rkey = ""] = match;
  return isDid(did) && isNsid(collection) && isRkey(rkey) ? { did, collection, rkey } : undefined;
}

/** The AT URI of a record. */
export function atUri(did: Did, collection: string, rkey: string): AtUri {
  return `at://${did}/${collection}/${rkey}`;
}

/**
 * Makes a source of TIDs, each later than the one before. `now` is in milliseconds; `random`, in [0, 1), fills the clock's
 * id and the microseconds, so that two machines that start at the same moment do not agree.
 */
export function makeTids(now: () => number, random: () => number): () => string {
  const clock = Math.floor(random() * 1024);
  let last = 0;
  return () => {
    last = Math.max(last + 1, Math.floor(now()) * 1000 + Math.floor(random() * 1000));
    return encodeTid(last, clock);
  };
}

function encodeTid(microseconds: number, clock: number): string {
  let left = (BigInt(microseconds) << 10n) | BigInt(clock);
  let text = "";
  for (let i = 0; i < 13; i++) {
    text = TID_LETTERS.charAt(Number(left & 31n)) + text;
    left >>= 5n;
  }
  return text;
}

/** When a TID says it was made, in milliseconds: its maker's word. */
export function tidTime(tid: string): number {
  let value = 0n;
  for (const letter of tid) value = (value << 5n) | BigInt(TID_LETTERS.indexOf(letter));
  return Number(value >> 10n) / 1000;
}
