/** Random and hostile values, the same in each run with the same seed. */
export interface Random {
  /** From 0 up to below `limit`. */
  int(limit: number): number;
  pick<T>(from: readonly T[]): T;
  /** One to `most` characters, most of them ones that mean something to somebody. */
  text(most: number): string;
  /** A value of JSON. */
  json(depth?: number): unknown;
}

const CHARACTERS = [
  ...`ab/ #?%&=+,;:@!$'()*~é世"<>[]{}|\\^\`.-_0\n\r\t`,
  "\0",
  "\u202e",
  "\u{1f469}",
  "\ud800",
  "%2e",
  "%2F",
  "%",
  "..",
];

/** Gives the same numbers from 0 to 1 for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Makes a source of random values. */
export function random(seed: string): Random {
  const next = seededRandom(
    [...seed].reduce((sum, character) => sum * 31 + character.charCodeAt(0) | 0, 7),
  );
  const int = (limit: number) => Math.floor(next() * limit);
  const pick = <T>(from: readonly T[]): T => from[int(from.length)] as T;
  const text = (most: number) =>
    Array.from({ length: 1 + int(most) }, () => pick(CHARACTERS)).join("");
  const json = (depth = 3): unknown => {
    switch (int(depth > 0 ? 8 : 6)) {
      case 0:
        return null;
      case 1:
        return next() < 0.5;
      case 2:
        return int(2 ** 31) - 2 ** 30;
      case 3:
        return pick([0, -1, 1.5, 1e308, -0]);
      case 6:
        return Array.from({ length: int(4) }, () => json(depth - 1));
      case 7:
        return Object.fromEntries(
          Array.from({ length: int(4) }, () => [
            pick(["__proto__", "constructor", "toString", "", "name", text(4)]),
            json(depth - 1),
          ]),
        );
      default:
        return text(12);
    }
  };
  return { int, pick, text, json };
}
