import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openBackground } from "../../core/background.ts";

describe("work that no answer waits for", () => {
  it("is done one after the other, once for a key that waits, and again later", async () => {
    const later = openBackground();
    const done: string[] = [];
    const work = (name: string) => async () => {
      done.push(`begin ${name}`);
      await Promise.resolve();
      done.push(`end ${name}`);
    };
    later("a", work("a"));
    later("a", work("a again"));
    later("broken", () => Promise.reject(new Error("broken")));
    await new Promise<void>((resolve) => {
      later("b", async () => {
        await work("b")();
        resolve();
      });
    });
    await new Promise<void>((resolve) => {
      later("a", () => {
        done.push("a once more");
        resolve();
        return Promise.resolve();
      });
    });
    assertEquals(done, ["begin a", "end a", "begin b", "end b", "a once more"]);
  });
});
