import { describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import { AuthError } from "../../core/errors.ts";
import { spellHint } from "../../remote/report.ts";

describe("spellHint", () => {
  it("spells commands as a shell takes them", () => {
    assertEquals(
      spellHint({ command: "repo archive", args: { repo: "alice.test/app", undo: true } }),
      "run knotless repo archive alice.test/app --undo",
    );
    assertEquals(spellHint("fetch first"), "fetch first");
  });

  it("says how to log in", () => {
    const { hint = "" } = new AuthError("none", "no one is logged in");
    assertEquals(spellHint(hint), "run knotless login HANDLE");
    assertEquals(spellHint(hint, "alice.test"), "run knotless login alice.test");
    const { hint: ended = "" } = new AuthError("ended", "it has ended", { account: "bob.test" });
    assertEquals(spellHint(ended, "alice.test"), "run knotless login bob.test");
  });
});
