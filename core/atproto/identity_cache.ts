import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import { readText, writeAtomic } from "../files.ts";
import { isObject, textOf } from "./json.ts";
import { type Did, isDid } from "./syntax.ts";

/** An account and when it was looked at, in milliseconds since 1970. */
export interface IdentityEntry {
  readonly did: Did;
  readonly handle: string;
  readonly pds: string;
  readonly at: number;
}

/** Accounts looked at before, in one small file that may be deleted at any time. */
export interface IdentityCache {
  find(actor: string): IdentityEntry | undefined;
  put(entry: IdentityEntry): Promise<void>;
  /** Makes an entry as old as can be: good only where the network does not answer. */
  age(did: Did): Promise<void>;
}

const MOST = 1000;

/** Opens the cache; a file that cannot be read or written is as good as none. */
export function openIdentityCache(path: string): IdentityCache {
  let writes = 0;

  function load(): Map<string, IdentityEntry> {
    try {
      return parseEntries(readText(path));
    } catch {
      return new Map();
    }
  }

  async function change(edit: (entries: Map<string, IdentityEntry>) => void): Promise<void> {
    const entries = load();
    edit(entries);
    const kept = [...entries.values()].sort((a, b) => b.at - a.at).slice(0, MOST);
    try {
      await mkdir(dirname(path), { recursive: true });
      await writeAtomic(path, JSON.stringify(kept), { unique: `${process.pid}.${writes++}` });
    } catch {
      // A cache on a full or read-only disk only costs a look at the network.
    }
  }

  return {
    find(actor) {
      const entries = load();
      if (isDid(actor)) return entries.get(actor);
      // Two accounts may have had the handle, one after the other.
      let found: IdentityEntry | undefined;
      for (const entry of entries.values()) {
        if (entry.handle === actor && entry.at > (found?.at ?? -1)) found = entry;
      }
      return found;
    },
    put: (entry) => change((entries) => entries.set(entry.did, entry)),
    age: (did) =>
      change((entries) => {
        const entry = entries.get(did);
        if (entry !== undefined) entries.set(did, { ...entry, at: 0 });
      }),
  };
}

function parseEntries(text: string | undefined): Map<string, IdentityEntry> {
  const entries = new Map<string, IdentityEntry>();
  const list: unknown = JSON.parse(text ?? "[]");
  if (!Array.isArray(list)) return entries;
  for (const entry of list.slice(0, MOST)) {
    const at = isObject(entry) ? entry["at"] : undefined;
    const did = textOf(entry, "did");
    const handle = textOf(entry, "handle");
    const pds = textOf(entry, "pds");
    if (
      did === undefined || !isDid(did) || handle === undefined || pds === undefined ||
      !URL.canParse(pds) || typeof at !== "number"
    ) continue;
    entries.set(did, { did, handle, pds, at });
  }
  return entries;
}
