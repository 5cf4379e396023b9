import type { Refs } from "../atproto/lexicons.gen.ts";
import { isTid, tidTime } from "../atproto/syntax.ts";

type Retired = Refs["retired"];

/** What a fold replaced, or no manifest came to name, stays for a day: a clone or a write may be on its way with it. */
const STAY_MS = 24 * 60 * 60 * 1000;
/** Of a pack that was replaced so soon after it was made its own age does for a note: it stays for 18 hours at least. */
const YOUNG_MS = 6 * 60 * 60 * 1000;
/** With more notes than this those go that say little. */
const MOST_NOTES = 24;

/**
 * The manifest's notes of replaced packs with those of `gone`, without those whose day is over. When there are many, packs
 * that were replaced soon after they were made are left out, or each push would send a longer manifest.
 */
export function retire(retired: Retired, gone: Refs["packs"], now: Date): Retired {
  const at = now.toISOString();
  const notes = [
    ...retired.filter(({ at }) => !(Date.parse(at) < now.getTime() - STAY_MS)),
    ...gone.map(({ rkey }) => ({ rkey, at })),
  ];
  let spare = notes.length - MOST_NOTES;
  return notes.filter(({ rkey, at }) => {
    const isSpared = spare > 0 && Date.parse(at) - timeOf(rkey) < YOUNG_MS;
    if (isSpared) spare--;
    return !isSpared;
  });
}

/** Tells of records that are left over whether they have stayed for long enough. */
export function isOver(retired: Retired, now: Date): (rkey: string) => boolean {
  const noted = new Map(retired.map(({ rkey, at }) => [rkey, Date.parse(at)]));
  const before = now.getTime() - STAY_MS;
  return (rkey) => (noted.get(rkey) ?? timeOf(rkey)) < before;
}

function timeOf(rkey: string): number {
  return isTid(rkey) ? tidTime(rkey) : 0;
}
