import { describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import { childEnv } from "../../core/child.ts";

describe("the environment of a child", () => {
  it("has nothing that steers the runtime inside the binary", () => {
    assertEquals(
      childEnv({
        PATH: "/bin",
        BUN_OPTIONS: "--preload ./x.ts",
        BUN_BE_BUN: "1",
        EMPTY: undefined,
      }),
      { PATH: "/bin", EMPTY: undefined },
    );
  });
});
