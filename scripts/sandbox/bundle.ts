/** Makes a file of the PDS and the PLC library that runs without the packages it was made from. */
import { cp } from "node:fs/promises";
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

/** Where a file beside the bundle is meant, and what costs a sandbox time and gives it nothing. */
const edits = [
  {
    file: /router[/\\]assets[/\\]assets\.js$/,
    from: /'@atproto\/oauth-provider-ui\/bundle-manifest\.json'/g,
    to: '"./ui/bundle-manifest.json"',
  },
  {
    // The set of reserved names is copied once for each of its thousand members.
    file: /handle[/\\]reserved\.js$/,
    from: /return \{\s*\.\.\.acc,\s*\[cur\]: true,\s*\};/g,
    to: "acc[cur] = true; return acc;",
  },
  {
    // Each account and each login pays for a password that is hard to guess from its hash.
    file: /helpers[/\\]scrypt\.js$/,
    from: /crypto\.scrypt\(password, salt, 64, /g,
    to: "crypto.scrypt(password, salt, 64, { N: 2 }, ",
  },
  {
    // Each login takes 350 ms so that nobody learns from its time whether an account exists.
    file: /account-manager[/\\]account-manager\.js$/,
    from: /await wait\(350 - \(Date\.now\(\) - start\)\);/g,
    to: "",
  },
  {
    file: /oauth-provider[/\\]dist[/\\]lib[/\\]util[/\\]time\.js$/,
    from: /export async function constantTime\(time, fn[^{]*\{/g,
    to: "$& return await fn();",
  },
] as const;

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
      for (const { file, from, to } of edits) {
        build.onLoad({ filter: file }, async ({ path }) => {
          const text = await Deno.readTextFile(path);
          if (text.search(from) < 0) throw new Error(`${path} is not as the sandbox knows it`);
          return { contents: text.replaceAll(from, to) };
        });
      }
    },
  };
}

/**
 * Bundles the packages installed in `packages` into the file `name` of `directory`, with the pages
 * of its logins beside it. The file appears when it is whole.
 */
export async function bundle(packages: string, directory: string, name: string): Promise<void> {
  const { overrides }: { overrides: Record<string, string> } = JSON.parse(
    await Deno.readTextFile(`${packages}/package.json`),
  );
  const absent = Object.keys(overrides).filter((name) => overrides[name]?.startsWith("npm:vary@"));
  await cp(`${packages}/node_modules/@atproto/oauth-provider-ui/dist`, `${directory}/ui`, {
    recursive: true,
    filter: (path) => !/\.map$|\.d\.ts$/.test(path),
  });
  const esbuild: Esbuild = createRequire(`${packages}/package.json`)("esbuild");
  try {
    await esbuild.build({
      stdin: { contents: entry, resolveDir: packages, sourcefile: "entry.js" },
      outfile: `${directory}/${name}.new`,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node22",
      // Names are kept: giving them back at start costs a tenth of a second.
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
  await Deno.rename(`${directory}/${name}.new`, `${directory}/${name}`);
}
