import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "../atproto/identity.ts";
import type { Repo } from "../atproto/lexicons.gen.ts";
import { type Did, isDid } from "../atproto/syntax.ts";
import { namesIn, readText, writeAtomic } from "../files.ts";
import { Mirror, type Surroundings } from "./mirror.ts";

/** What an owner's name record and repository record said when they were last read. */
export interface Remembered {
  readonly rkey: string;
  /** The CID of the repository record. */
  readonly cid: string;
  readonly record: Repo;
  /** In milliseconds. */
  readonly checkedAt: number;
}

/** The mirrors on this machine, and what names led to. */
export interface Mirrors {
  /** The mirror of the repository with this rkey; the same one each time it is asked for. */
  at(account: Account, rkey: string): Mirror;
  /** What `key`, a name in lower case or an rkey, led to; undefined when it is not known here. */
  recall(account: Account, key: string): Remembered | undefined;
  remember(account: Account, key: string, what: Remembered | undefined): Promise<void>;
  /** Heals the mirrors that were asked for; true when one was damaged. */
  heal(how: { offline: boolean }): Promise<boolean>;
  /** Whose repositories are known here. */
  owners(): Did[];
  /** The names of an account's repositories that are known here, sorted. */
  names(account: Account): string[];
}

/** Opens the mirrors under the cache folder. */
export function openMirrors(world: Surroundings): Mirrors {
  const mirrors = new Map<string, Mirror>();
  const fileOf = ({ did }: Account) => join(world.cacheDir, did.replaceAll(":", "_"), "names.json");
  const read = (account: Account): Record<string, Remembered> => {
    const text = readText(fileOf(account));
    try {
      return text === undefined ? {} : JSON.parse(text);
    } catch {
      return {};
    }
  };
  return {
    at(account, rkey) {
      const key = `${account.did}/${rkey}`;
      const mirror = mirrors.get(key) ?? new Mirror(world, account, rkey);
      mirrors.set(key, mirror);
      return mirror;
    },
    recall(account, key) {
      const all = read(account);
      return Object.hasOwn(all, key) ? all[key] : undefined;
    },
    async remember(account, key, what) {
      const all = read(account);
      await mkdir(join(fileOf(account), ".."), { recursive: true });
      // Two processes may lose each other's entry here: it is only a cache, and the next look puts it back.
      const next = Object.fromEntries([
        ...Object.entries(all).filter(([other]) => other !== key),
        ...(what ? [[key, what] as const] : []),
      ]);
      await writeAtomic(fileOf(account), JSON.stringify(next), { unique: world.unique() });
    },
    async heal(how) {
      let isHealed = false;
      for (const mirror of mirrors.values()) isHealed = await mirror.heal(how) || isHealed;
      return isHealed;
    },
    owners() {
      // A folder's name is the DID with its colons replaced.
      return namesIn(world.cacheDir).map((name) => name.replaceAll("_", ":")).filter(isDid);
    },
    names(account) {
      const all = Object.values(read(account));
      return [...new Set(all.map(({ record }) => record.name))].sort();
    },
  };
}
