import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { fileURLToPath } from "node:url";
import { parity } from "../../scripts/bench/parity.ts";
import { tryGit } from "../support/git.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** A checkout without its history has nothing to compare. */
const LEAST = 50;

describe("this project's own history", () => {
  it("is answered as git answers it", async () => {
    const { out, status } = tryGit(ROOT, undefined, "rev-list", "--count", "HEAD");
    if (status !== 0 || Number(new TextDecoder().decode(out)) < LEAST) return;
    const measures = await parity("", { repo: ROOT, samples: 60, pushes: 0 });
    const over: string[] = [];
    for (const { name, value, limit = Infinity } of measures) {
      Deno.stderr.writeSync(new TextEncoder().encode(`    ${name} ${value}\n`));
      if (value > limit) over.push(name);
    }
    assertEquals(over, []);
  });
});
