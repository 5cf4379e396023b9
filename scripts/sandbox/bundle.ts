/** Makes one file of the PDS and the PLC library, which runs without the packages it was made from. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const entry = `
export { PDS, envToCfg, envToSecrets } from "@atproto/pds";
export { assureValidNextOp, getLastOpWithCid, opToData } from "@did-plc/lib";
export { skipSyncs } from "better-sqlite3";
`;

/** CommonJS packages in the bundle still ask for node's built-ins, and for paths beside them. */
const banner = `
import { createRequire as createBundleRequire } from "node:module";
const require = createBundleRequire(import.meta.url);
const __filename = import.meta.filename;
const __dirname = import.meta.dirname;
`;

interface Located {
  readonly path: string;
}

interface Build {
  onResolve(
    on: { filter: RegExp },
    run: (at: Located) => { path: string; namespace?: string },
  ): void;
  onLoad(
    on: { filter: RegExp; namespace?: string },
    run: (at: Located) => Promise<{ contents: string }> | { contents: string },
  ): void;
}

interface Esbuild {
  build(options: Readonly<Record<string, unknown>>): Promise<unknown>;
  stop(): Promise<void>;
}

/** Replaces what the sandbox has no use for, or no native build of. */
function replacing(absent: readonly string[]): { name: string; setup(build: Build): void } {
  return {
    name: "sandbox",
    setup(build) {
      const sqlite = fileURLToPath(new URL("sqlite.ts", import.meta.url));
      const others = absent.filter((name) => name !== "better-sqlite3").join("|");
      build.onResolve({ filter: /^better-sqlite3$/ }, () => ({ path: sqlite }));
      build.onResolve(
        { filter: new RegExp(`^(${others})(/|$)`) },
        ({ path }) => ({ path, namespace: "absent" }),
      );
      build.onLoad(
        { filter: /.*/, namespace: "absent" },
        () => ({ contents: "module.exports = {}" }),
      );
      // Copying the set once for each of its thousand names costs an eighth of a second a start.
      build.onLoad({ filter: /handle[/\\]reserved\.js$/ }, async ({ path }) => {
        const text = await Deno.readTextFile(path);
        const copy = /return \{\s*\.\.\.acc,\s*\[cur\]: true,\s*\};/;
        return { contents: text.replace(copy, "acc[cur] = true; return acc;") };
      });
    },
  };
}

/** Bundles the packages installed in `directory` into `outfile`; `absent` are the names left out. */
export async function bundle(
  directory: string,
  absent: readonly string[],
  outfile: string,
): Promise<void> {
  const esbuild: Esbuild = createRequire(`${directory}/package.json`)("esbuild");
  try {
    await esbuild.build({
      stdin: { contents: entry, resolveDir: directory, sourcefile: "entry.js" },
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node22",
      // Names are kept: renaming them back at start costs a tenth of a second.
      minifyWhitespace: true,
      minifySyntax: true,
      legalComments: "none",
      logLevel: "warning",
      banner: { js: banner },
      // The guard for outgoing requests looks for the client inside Node.
      define: { "process.versions.undici": '"8.0.0"' },
      plugins: [replacing(absent)],
    });
  } finally {
    await esbuild.stop();
  }
}
