import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { NotFoundError, quote, UsageError } from "../core/errors.ts";
import { lookAt } from "../core/files.ts";
import type { Surface } from "../core/open.ts";
import type { Sources } from "./args.ts";
import { findCheckoutRepo } from "./checkout.ts";
import type { Globals } from "./globals.ts";
import type { Terminal } from "./terminal.ts";

const maxFile = 100_000_000;

/** Where a command line's arguments come from on this machine; `aside` is told when a repository was taken as given. */
export function sourcesOf(
  terminal: Terminal,
  globals: Globals,
  surface: Surface,
  aside: (text: string) => void,
): Sources {
  const { env } = terminal;
  const dir = resolve(terminal.cwd, globals.dir ?? "");
  if (globals.dir !== undefined) checkFolder(dir, globals.dir);
  const taken = (repo: string, why: string): string => {
    if (globals.verbose) terminal.err(`repository: ${quote(repo)} (${why})`);
    aside(`the repository was taken to be ${quote(repo)} (${why}): -R names another`);
    return repo;
  };
  return {
    repo: globals.repo,
    findRepo() {
      if (env.KNOTLESS_REPO) return taken(env.KNOTLESS_REPO, "KNOTLESS_REPO");
      const found = findCheckoutRepo(dir, env);
      return found && taken(found.repo, found.why);
    },
    readFile: (path) => readInput(resolve(dir, path), path),
    readStdin: () => terminal.readStdin(),
    async confirm(param, { summary, details }, args) {
      if (!surface.interactive) return undefined;
      const what = args.repo === undefined ? summary : `${summary}: ${quote(String(args.repo))}`;
      return await terminal.ask(
        [what, details, `${param.description}: `].filter((text) => text !== undefined).join("\n"),
      );
    },
  };
}

function checkFolder(path: string, name: string): void {
  const found = lookAt(path);
  if (found?.isDirectory()) return;
  const why = found === undefined ? "no such directory" : "not a directory";
  throw new UsageError(`cannot change to ${quote(name)}: ${why}`);
}

async function readInput(path: string, name: string): Promise<string> {
  const found = lookAt(path);
  if (found === undefined) throw new NotFoundError(`no such file: ${quote(name)}`);
  if (found.isDirectory()) throw new UsageError(`${quote(name)} is a directory`);
  if (found.size > maxFile) throw new UsageError(`${quote(name)} is over ${maxFile} bytes`);
  // What is no file may come when it likes.
  const bytes = found.isFile() ? readFileSync(path) : await readFile(path);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError(`${quote(name)} is not UTF-8 text`, { cause });
  }
}
