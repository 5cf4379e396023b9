import { describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { checkLayers } from "../scripts/check_layers.ts";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

describe("the layers", () => {
  it("hold in the product", async () => {
    assertEquals(await checkLayers(at("..")), []);
  });

  it("name each import that breaks a rule, each package in other hands and each cycle", async () => {
    assertEquals(await checkLayers(at("fixtures/layers")), [
      "a cycle: core/mirror/left.ts → core/mirror/right.ts → core/mirror/left.ts",
      "cli/main.ts may not import mcp/server.ts",
      "core/atproto/writer.ts may not import core/forge/merge.ts",
      "core/forge/merge.ts may not import zod",
      "core/git/object.ts may not import mcp/server.ts",
      "remote/main.ts may not import @std/assert",
    ]);
  });
});
