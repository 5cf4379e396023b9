import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConflictError } from "../../core/errors.ts";
import { applyUpdates, MovedError } from "../../core/forge/moved.ts";

const one = "1".repeat(40);
const two = "2".repeat(40);
const three = "3".repeat(40);
const refs = new Map([["refs/heads/main", { oid: one }], ["refs/tags/v1", { oid: two }]]);

describe("updates of refs", () => {
  it("make, move and remove refs", () => {
    const next = applyUpdates(refs, [
      { ref: "refs/heads/main", old: one, new: two },
      { ref: "refs/heads/topic", new: three },
      { ref: "refs/tags/v1", old: two },
    ]);
    assertEquals([...next], [["refs/heads/main", { oid: two }], ["refs/heads/topic", {
      oid: three,
    }]]);
  });

  it("name the old and the new head of a ref that moved", () => {
    const update = { ref: "refs/heads/main", old: three, new: two };
    const moved = assertThrows(() => applyUpdates(refs, [update]), MovedError);
    assertEquals(moved.message, "main moved: it was 3333333, it is now 1111111");
    assertEquals(moved.facts, { ref: "refs/heads/main", old: three, now: one });
  });

  it("refuse to make what is there and to move what is gone", () => {
    assertThrows(
      () => applyUpdates(refs, [{ ref: "refs/tags/v1", new: one }]),
      MovedError,
      `v1 exists: it is at ${two}`,
    );
    assertThrows(
      () => applyUpdates(refs, [{ ref: "refs/heads/x", old: one, new: two }]),
      MovedError,
      "x is gone",
    );
  });

  it("keep a name and a name below it apart", () => {
    assertThrows(
      () => applyUpdates(refs, [{ ref: "refs/heads/main/sub", new: two }]),
      ConflictError,
      "main/sub and main cannot both exist",
    );
    const renamed = applyUpdates(refs, [
      { ref: "refs/heads/main", old: one },
      { ref: "refs/heads/main/sub", new: one },
    ]);
    assertEquals(renamed.has("refs/heads/main/sub"), true);
  });
});
