import { join } from "node:path";
import { readText, writeAtomic } from "../files.ts";
import type { Refs } from "../atproto/lexicons.gen.ts";
import type { RefTarget } from "./manifest.ts";

const FORMAT = 3;
const FILE = "knotless.json";

/** What a mirror knows of itself, as of its last sync. */
export interface State {
  readonly uri: string;
  /** The manifest it is at: the highest generation seen, and its CID. */
  readonly generation: number;
  readonly cid: string;
  /** The full name of the ref that HEAD names. */
  readonly head: string;
  readonly refs: ReadonlyMap<string, RefTarget>;
  /** The packs of the manifest that it holds: sha-256 of the pack to the name of the git pack here. */
  readonly packs: ReadonlyMap<string, string>;
  /** The CIDs of pack records to the sha-256 of their packs. */
  readonly records: ReadonlyMap<string, string>;
  /** When the owner's PDS was last asked, in milliseconds. */
  readonly checkedAt: number;
}

/** Beside the packs of the manifest so many of the newest are remembered: a later one may fold them. */
const REMEMBERED = 256;

/** The state without what it remembers of packs that the manifest has no more, or it would grow with every push. */
export function trimState(
  state: State,
  { packs: listed, tail }: Pick<Refs, "packs" | "tail">,
): State {
  const cids = new Set(listed.map(({ cid }) => cid));
  const records = newest(state.records, (cid) => cids.has(cid));
  const wanted = new Set([...records.values(), ...tail.map(({ sha256 }) => sha256)]);
  return { ...state, records, packs: newest(state.packs, (sha256) => wanted.has(sha256)) };
}

/** A pack as a manifest lists it. */
export type Listed = Refs["packs"][number];

/** A pack record that a write has made. */
export interface Sealed {
  readonly sha256: string;
  /** The SHA-256 of the packs it replaces. */
  readonly folds: readonly string[];
  /** True when it leans on objects outside. */
  readonly isThin: boolean;
  readonly listed: Listed;
}

/** The state with pack records that were made here of packs that are held: they need not be asked for. */
export function takeSealed(state: State, made: readonly Sealed[]): State {
  const packs = new Map(state.packs);
  const records = new Map(state.records);
  for (const { sha256, folds, listed } of made) {
    if (!packs.has(sha256) && !folds.every((fold) => packs.has(fold))) continue;
    if (!packs.has(sha256)) packs.set(sha256, "");
    records.set(listed.cid, sha256);
  }
  return { ...state, packs, records };
}

/** The SHA-256 of the packs that a manifest lists. */
export function listedIn(
  { packs, tail }: Pick<Refs, "packs" | "tail">,
  records: ReadonlyMap<string, string>,
): Set<string> {
  const sealed = packs.flatMap(({ cid }) => records.get(cid) ?? []);
  return new Set([...sealed, ...tail.map(({ sha256 }) => sha256)]);
}

function newest(
  all: ReadonlyMap<string, string>,
  isWanted: (key: string) => boolean,
): ReadonlyMap<string, string> {
  let left = all.size;
  return new Map([...all].filter(([key]) => left-- <= REMEMBERED || isWanted(key)));
}

/** Reads a mirror's state; undefined when there is none or it cannot be used: the mirror is then made again. */
export function readState(path: string): State | undefined {
  const text = readText(join(path, FILE));
  if (text === undefined || !isAsWritten(text)) return undefined;
  try {
    const { sum: _, format, refs, packs, records, ...rest } = JSON.parse(text);
    if (format !== FORMAT) return undefined;
    return {
      ...rest,
      refs: new Map(
        refs.map(([name, oid, peeled]: string[]) => [name, { oid, ...(peeled && { peeled }) }]),
      ),
      packs: new Map(packs),
      records: new Map(records),
    };
  } catch {
    return undefined;
  }
}

/** Writes a mirror's state, all of it or nothing. */
export async function writeState(path: string, state: State, unique: string): Promise<void> {
  const { refs, packs, records, ...rest } = state;
  const all = {
    format: FORMAT,
    ...rest,
    refs: [...refs].map(([name, { oid, peeled }]) => peeled ? [name, oid, peeled] : [name, oid]),
    packs: [...packs],
    records: [...records],
  };
  const body = JSON.stringify(all);
  await writeAtomic(join(path, FILE), `{"sum":"${sumOf(body)}",${body.slice(1)}`, { unique });
}

const SUMMED = /^\{"sum":"([0-9a-f]{8})",/;

/** Tells a state that was written from one that was damaged since. */
function isAsWritten(text: string): boolean {
  const [head = "", sum] = SUMMED.exec(text) ?? [];
  return sum !== undefined && sum === sumOf(`{${text.slice(head.length)}`);
}

/**
 * A checksum of a text, as eight hex digits: FNV-1a over words of four bytes, so that a change within one word always
 * shows. Every command reads the state first, and to load what makes a better sum takes longer than that.
 */
function sumOf(text: string): string {
  const bytes = new TextEncoder().encode(text.padEnd(text.length + 3));
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  let sum = 0x811c9dc5;
  for (let at = 0; at < words.length; at++) sum = Math.imul(sum ^ (words[at] ?? 0), 0x01000193);
  return (sum >>> 0).toString(16).padStart(8, "0");
}
