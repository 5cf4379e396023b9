import { describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import project from "../../deno.json" with { type: "json" };
import { version } from "../../core/version.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Import {
  readonly code?: { readonly specifier: string };
  readonly isDynamic?: boolean;
}

interface Graph {
  readonly roots: readonly string[];
  readonly modules: readonly {
    readonly specifier: string;
    readonly kind: string;
    readonly dependencies?: readonly Import[];
  }[];
}

/** The modules that loading `entry` loads, without those that are loaded later. */
async function loadedBy(entry: string): Promise<string[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", entry],
    cwd: root,
    stderr: "null",
  }).output();
  const graph: Graph = JSON.parse(new TextDecoder().decode(stdout));
  const loaded = new Set<string>();
  const waiting = [...graph.roots];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (loaded.has(at)) continue;
    loaded.add(at);
    const module = graph.modules.find(({ specifier }) => specifier === at);
    for (const { code, isDynamic } of module?.dependencies ?? []) {
      if (code && !isDynamic) waiting.push(code.specifier);
    }
  }
  return [...loaded].map((specifier) => specifier.replace(`file://${root}`, ""));
}

describe("start-up", () => {
  it("of --version loads three small modules and one builtin", async () => {
    assertEquals((await loadedBy("main.ts")).sort(), [
      "cli/end.ts",
      "core/version.ts",
      "main.ts",
      "node:process",
    ]);
  });

  it("of a command line loads no package until the command is known", async () => {
    const loaded = await loadedBy("cli/start.ts");
    assert(loaded.includes("core/facts.gen.ts"));
    for (const specifier of loaded) {
      assert(!/^(npm|jsr|https?):/.test(specifier), `${specifier} is loaded at start`);
      assert(
        !/^core\/(commands|atproto|git|mirror|forge)\//.test(specifier),
        `${specifier} is loaded at start`,
      );
    }
  });

  it("says the version of the project", () => {
    assertEquals(version, project.version);
  });
});
