import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { makeTids } from "../../core/atproto/syntax.ts";
import { isOver, retire } from "../../core/forge/retired.ts";

const HOUR = 60 * 60 * 1000;
const START = Date.parse("2026-01-01T00:00:00Z");

/** Packs listed that were made at a time. */
function packsMadeAt(time: number, count: number) {
  const tid = makeTids(() => time, Math.random);
  return Array.from({ length: count }, () => ({ rkey: tid(), cid: "c", bytes: 1, objects: 1 }));
}

const at = (hours: number) => new Date(START + hours * HOUR);

describe("the manifest's notes of replaced packs", () => {
  it("stay few however many packs come and go in a day", () => {
    let retired: ReturnType<typeof retire> = [];
    for (let fold = 0; fold < 500; fold++) {
      const now = START + fold * HOUR / 20;
      retired = retire(retired, packsMadeAt(now - HOUR, 24), new Date(now));
      assert(retired.length <= 24, `${retired.length}`);
    }
  });

  it("keep packs for a day from when they were replaced, young ones of many for most of it", () => {
    const old = packsMadeAt(START - 30 * 24 * HOUR, 10);
    const young = packsMadeAt(START - 5 * HOUR, 100);
    const retired = retire([], [...old, ...young], at(0));
    assertEquals(retired.length, 24);
    const over = (hours: number) =>
      [...old, ...young].map(({ rkey }) => rkey).filter(isOver(retired, at(hours)));
    for (const hours of [0, 12, 18.9]) assertEquals(over(hours), [], `${hours}`);
    assertEquals(over(23.9).length, 86);
    assertEquals(over(24.1).length, 110);
  });

  it("go when their day is over, and their packs count as left over still", () => {
    const packs = packsMadeAt(START - 30 * 24 * HOUR, 3);
    const retired = retire(retire([], packs, at(0)), packsMadeAt(START, 1), at(25));
    assertEquals(retired.length, 1);
    assert(packs.every(({ rkey }) => isOver(retired, at(25))(rkey)));
  });

  it("leave an orphan, which nothing notes, for a day", () => {
    const [{ rkey } = { rkey: "" }] = packsMadeAt(START, 1);
    assertEquals([23, 25].map((hours) => isOver([], at(hours))(rkey)), [false, true]);
    assert(isOver([], at(0))("not-a-tid"));
  });
});
