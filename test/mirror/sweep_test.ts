import { describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sweepPushes } from "../../core/mirror/place.ts";
import { tempDir } from "../support/git.ts";

describe("sweepPushes", () => {
  it("removes what a push left over a day ago, and nothing else", async () => {
    using temp = tempDir();
    const now = new Date("2026-11-30T20:00:00Z");
    const old = new Date("2026-11-29T19:00:00Z");
    for (const name of ["push-old", "push-new", "objects"]) {
      await mkdir(join(temp.path, name));
      await writeFile(join(temp.path, name, "pack"), "x");
      await utimes(join(temp.path, name), now, name === "push-new" ? now : old);
    }
    await sweepPushes(temp.path, now);
    assertEquals((await readdir(temp.path)).sort(), ["objects", "push-new"]);
  });
});
