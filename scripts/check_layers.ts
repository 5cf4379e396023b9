// deno-lint-ignore-file no-console
/**
 * Fails when a module of the product imports one that its layer may not, a package that another folder owns, or, by
 * whatever way round, itself. Type imports count.
 */
import { dirname, join } from "node:path";
import { readdir, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Who may import what, beside its own folder: files and folders; the nearest row above a module counts. */
const EDGES: Readonly<Record<string, readonly string[]>> = {
  "main.ts": ["cli", "mcp", "remote", "core/version.ts"],
  "cli": [
    "core/answer.ts",
    "core/child.ts",
    "core/command.ts",
    "core/context.ts",
    "core/disk.ts",
    "core/errors.ts",
    "core/facts.gen.ts",
    "core/facts.ts",
    "core/files.ts",
    "core/git_config.ts",
    "core/open.ts",
    "core/table.ts",
    "core/text.ts",
    "core/version.ts",
    "core/versions.ts",
  ],
  "mcp": [
    "core/answer.ts",
    "core/answers.gen.ts",
    "core/command.ts",
    "core/context.ts",
    "core/errors.ts",
    "core/facts.gen.ts",
    "core/facts.ts",
    "core/form.ts",
    // What completion knows and what a name names, the same for every surface.
    "core/forge/confine.ts",
    "core/forge/known.ts",
    "core/forge/names.ts",
    "core/open.ts",
    "core/table.ts",
    "core/text.ts",
    "core/tools.ts",
    "core/toolsets.ts",
    "core/version.ts",
    "core/versions.ts",
  ],
  "remote": [
    "core/child.ts",
    "core/context.ts",
    "core/disk.ts",
    "core/errors.ts",
    "core/forge",
    "core/git",
    "core/mirror",
    "core/open.ts",
    "core/text.ts",
    "core/version.ts",
  ],
  "core": ["core/errors.ts", "core/text.ts"],
  "core/errors.ts": [],
  "core/context.ts": ["core/atproto", "core/background.ts", "core/errors.ts", "core/mirror"],
  "core/accept.ts": ["core/facts.ts", "core/forge/names.ts"],
  "core/command.ts": [
    "core/accept.ts",
    "core/context.ts",
    "core/errors.ts",
    "core/explain.ts",
    "core/facts.ts",
    "core/form.ts",
    "core/params.ts",
    "core/text.ts",
  ],
  "core/disk.ts": ["core/errors.ts", "core/folders.ts"],
  "core/explain.ts": ["core/errors.ts", "core/text.ts"],
  "core/params.ts": ["core/errors.ts", "core/forge/names.ts", "core/text.ts"],
  "core/facts.ts": ["core/context.ts", "core/errors.ts"],
  "core/facts.gen.ts": ["core/facts.ts"],
  "core/answers.gen.ts": ["core/form.ts"],
  "core/tools.ts": ["core/facts.ts", "core/form.ts"],
  "core/toolsets.ts": ["core/errors.ts", "core/facts.ts", "core/text.ts", "core/tools.ts"],
  "core/mcp_clients.ts": ["core/toolsets.ts"],
  "core/versions.ts": [
    "core/atproto/http.ts",
    "core/errors.ts",
    "core/files.ts",
    "core/folders.ts",
  ],
  "core/table.ts": ["core/command.ts", "core/commands", "core/facts.gen.ts"],
  "core/answer.ts": ["core/command.ts", "core/errors.ts"],
  "core/author.ts": ["core/atproto", "core/files.ts", "core/git_config.ts"],
  "core/machine.ts": ["core/child.ts", "core/context.ts", "core/folders.ts"],
  "core/open.ts": [
    "core/atproto",
    "core/author.ts",
    "core/background.ts",
    "core/context.ts",
    "core/errors.ts",
    "core/files.ts",
    "core/folders.ts",
    "core/git",
    "core/lock.ts",
    "core/machine.ts",
    "core/mirror",
    "core/text.ts",
    "core/version.ts",
  ],
  "core/commands": [
    "core/answer.ts",
    "core/child.ts",
    "core/command.ts",
    "core/context.ts",
    "core/diff_colors.ts",
    "core/errors.ts",
    "core/forge",
    "core/form.ts",
    "core/params.ts",
    "core/text.ts",
    "core/version.ts",
  ],
  // The logins of this machine are no matter of the forge.
  "core/commands/login.ts": [
    "core/atproto",
    "core/command.ts",
    "core/context.ts",
    "core/errors.ts",
    "core/params.ts",
    "core/text.ts",
  ],
  "core/commands/upgrade.ts": [
    "core/command.ts",
    "core/text.ts",
    "core/upgrade",
    "core/version.ts",
  ],
  "core/upgrade": [
    "core/atproto/http.ts",
    "core/child.ts",
    "core/errors.ts",
    "core/folders.ts",
    "core/versions.ts",
  ],
  // What assistants are offered follows from the whole table.
  "core/commands/mcp.ts": [
    "core/command.ts",
    "core/facts.gen.ts",
    "core/forge",
    "core/mcp_clients.ts",
    "core/params.ts",
    "core/text.ts",
    "core/tools.ts",
    "core/toolsets.ts",
  ],
  "core/forge": [
    "core/atproto",
    "core/context.ts",
    "core/errors.ts",
    "core/files.ts",
    "core/git",
    "core/lock.ts",
    "core/mirror",
    // The nearest of some names.
    "core/text.ts",
    "core/version.ts",
  ],
  "core/mirror": ["core/atproto", "core/errors.ts", "core/files.ts", "core/git", "core/lock.ts"],
  "core/git": ["core/errors.ts"],
  "core/atproto": ["core/errors.ts", "core/files.ts", "core/lock.ts", "lexicons"],
};

/** Who may import a package of others, so that the day it goes one folder changes. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  "@atproto/": ["core/atproto"],
  "@modelcontextprotocol/sdk": ["mcp"],
  "@std/cli": ["cli"],
  "isomorphic-git": ["core/forge/smart_http.ts"],
  "msgpackr": ["core/mirror"],
  "zod": ["core/command.ts", "core/explain.ts", "core/params.ts"],
};

const PRODUCT = ["main.ts", "cli", "mcp", "remote", "core"];

const ADVICE = "A new edge? Add it to scripts/check_layers.ts, with the reason in ARCHITECTURE.md";

/** Names each import under `root` that the tables do not allow, and each import cycle, one sentence each. */
export async function checkLayers(root: string): Promise<string[]> {
  const graph = await readGraph(root, await listModules(root));
  const problems: string[] = [];
  for (const [from, imports] of graph) {
    for (const to of imports) {
      if (!mayImport(from, to)) problems.push(`${from} may not import ${to}`);
    }
  }
  return [...problems, ...findCycles(graph)].sort();
}

function mayImport(from: string, to: string): boolean {
  if (to.startsWith("node:")) return true;
  if (!isModule(to)) {
    const owner = Object.keys(OWNERS).find((name) =>
      name.endsWith("/") ? to.startsWith(name) : to === name
    );
    return owner !== undefined && isUnder(from, OWNERS[owner] ?? []);
  }
  const row = nearestRow(from);
  return isUnder(to, EDGES[row] ?? []) || (row !== "core" && to.startsWith(`${row}/`));
}

function nearestRow(path: string): string {
  for (let at = path; at !== "."; at = dirname(at)) if (at in EDGES) return at;
  return "";
}

function isUnder(path: string, places: readonly string[]): boolean {
  return places.some((place) => path === place || path.startsWith(`${place}/`));
}

function isModule(path: string): boolean {
  return path.endsWith(".ts") || path.endsWith(".json");
}

async function listModules(root: string): Promise<string[]> {
  const modules: string[] = [];
  for (const place of PRODUCT.filter((place) => existsSync(join(root, place)))) {
    if (place.endsWith(".ts")) modules.push(place);
    else {
      const entries = await readdir(join(root, place), { recursive: true });
      modules.push(
        ...entries.map((entry) => `${place}/${entry}`).filter((at) => at.endsWith(".ts")),
      );
    }
  }
  return modules;
}

interface GraphModule {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly specifier: string;
    readonly code?: { readonly specifier?: string };
    readonly type?: { readonly specifier?: string };
  }[];
}

/** Gives what each module imports: paths below the root, names of packages, `node:` modules. */
async function readGraph(root: string, modules: string[]): Promise<Map<string, Set<string>>> {
  const base = pathToFileURL(join(root, "/")).href;
  const project = fileURLToPath(new URL("..", import.meta.url));
  const entry = await Deno.makeTempFile({ suffix: ".ts" });
  await writeFile(
    entry,
    modules.map((path) => `import ${JSON.stringify(base + path)};\n`).join(""),
  );
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--quiet", `--config=${join(project, "deno.json")}`, entry],
  }).output();
  await rm(entry);
  if (!success) throw new Error(`deno info: ${new TextDecoder().decode(stderr)}`);
  const info: { modules: GraphModule[] } = JSON.parse(new TextDecoder().decode(stdout));
  const graph = new Map<string, Set<string>>();
  for (const { specifier, dependencies = [] } of info.modules) {
    if (!specifier.startsWith(base) || !modules.includes(specifier.slice(base.length))) continue;
    const imports = dependencies.flatMap(({ code, type }) => [code?.specifier, type?.specifier])
      .filter((to) => to !== undefined);
    graph.set(
      specifier.slice(base.length),
      new Set(imports.map((to) => shorten(to, base, project))),
    );
  }
  return graph;
}

function shorten(specifier: string, base: string, project: string): string {
  const linked = `${pathToFileURL(join(project, "std")).href}/`;
  if (specifier.startsWith(linked)) return `@std/${specifier.slice(linked.length).split("/")[0]}`;
  if (specifier.startsWith(base)) return specifier.slice(base.length);
  const [, name] = /^(?:npm|jsr):\/?((?:@[^/]+\/)?[^/@]+)/.exec(specifier) ?? [];
  return name ?? specifier;
}

function findCycles(graph: Map<string, Set<string>>): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (module: string, trail: string[]): void => {
    const seenAt = trail.indexOf(module);
    if (seenAt !== -1) cycles.push(`a cycle: ${[...trail.slice(seenAt), module].join(" → ")}`);
    if (seenAt !== -1 || done.has(module)) return;
    for (const to of graph.get(module) ?? []) visit(to, [...trail, module]);
    done.add(module);
  };
  for (const module of graph.keys()) visit(module, []);
  return cycles;
}

if (import.meta.main) {
  const problems = await checkLayers(fileURLToPath(new URL("..", import.meta.url)));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) {
    console.error(ADVICE);
    process.exitCode = 1;
  }
}
