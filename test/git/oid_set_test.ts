import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { NOT_IN_SET, OidSet } from "../../core/git/oid_set.ts";
import { randomNumbers } from "../support/git.ts";

describe("OidSet", () => {
  it("numbers oids as they come and finds them wherever they lie", () => {
    const random = randomNumbers(7);
    const bytes = new Uint8Array(5000 * 20 + 1);
    for (let i = 0; i < bytes.length; i++) bytes[i] = random(256);
    // Oids alike but for their end share a place in the table.
    for (let i = 1; i < 1000; i++) bytes.copyWithin(1 + i * 20, 1, 17);
    const set = new OidSet();
    const known = new Map<string, number>();
    for (let at = 1; at < bytes.length; at += 20) {
      const oid = bytes.subarray(at, at + 20).toHex();
      assertEquals(set.has(oid), known.has(oid));
      assertEquals(set.find(bytes, at), known.get(oid) ?? NOT_IN_SET);
      if (!known.has(oid)) known.set(oid, known.size);
      assertEquals(set.add(bytes, at), known.get(oid));
    }
    assertEquals(set.size, known.size);
    assertEquals([...set], [...known.keys()]);
    for (const [oid, number] of known) {
      assertEquals(set.oid(number), oid);
      assert(set.has(oid));
    }
  });
});
