import { fileURLToPath } from "node:url";
import type { Bench } from "./bench.ts";

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly isDynamic?: boolean;
    readonly code?: { readonly specifier?: string };
  }[];
}

/** What is loaded before a word is said: a package there would be paid for by every start. */
const ENTRIES = ["main.ts", "cli/start.ts", "mcp/main.ts"];

/** How many modules and packages of others the entries load at once; no package is the limit. */
export const imports: Bench = async () => {
  const measures = await Promise.all(ENTRIES.map(async (entry) => {
    const loaded = await loadedBy(fileURLToPath(new URL(`../../${entry}`, import.meta.url)));
    const packages = loaded.filter((specifier) => specifier.startsWith("npm:"));
    return [
      { name: `${entry}: modules loaded at once`, value: loaded.length, unit: "" },
      {
        name: `${entry}: packages loaded at once ${packages.join(" ")}`.trimEnd(),
        value: packages.length,
        unit: "",
        limit: 0,
      },
    ];
  }));
  return measures.flat();
};

async function loadedBy(path: string): Promise<string[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--quiet", path],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  const info: { roots: string[]; modules: Module[] } = JSON.parse(new TextDecoder().decode(stdout));
  const modules = new Map(info.modules.map((module) => [module.specifier, module]));
  const loaded = new Set(info.roots);
  for (const specifier of loaded) {
    for (const { isDynamic, code } of modules.get(specifier)?.dependencies ?? []) {
      if (!isDynamic && code?.specifier) loaded.add(code.specifier);
    }
  }
  return [...loaded];
}
