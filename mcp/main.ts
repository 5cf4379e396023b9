import process from "node:process";
import { KnotlessError } from "../core/errors.ts";
import type { Fact } from "../core/facts.ts";
import { version } from "../core/version.ts";
import type { Methods } from "./connection.ts";
import type { Filter, FilterWish } from "./filter.ts";
import { HELP, isSet, readFlags } from "./flags.ts";
import { Output } from "./pipes.ts";
import { createMethods } from "./server.ts";
import { serveStdio } from "./stdio.ts";
import { PACE } from "./pace.ts";
import { watchLater } from "./versions.ts";
import { completeFromHere, openLater } from "./world.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Runs knotless-mcp until its client goes, and gives the exit status; every reply is out by then. */
export async function serve(argv: readonly string[], env: Env): Promise<number> {
  const output = new Output();
  try {
    const asked = readFlags(argv, env);
    if (asked.to !== "serve") {
      await output.write(asked.to === "help" ? HELP : `knotless-mcp ${version}\n`);
      return 0;
    }
    const methods = methodsOf(await filterOf(asked.wish), env);
    if (asked.port === undefined) return await serveStdio(output, methods);
    const { serveHttp } = await import("./http.ts");
    return await serveHttp(methods, asked.port, say);
  } catch (error) {
    if (!(error instanceof KnotlessError)) throw error;
    await say(`error: ${error.message}${error.hint ? `\nhint: ${error.hint}` : ""}`);
    return error.exit;
  }
}

/** Most servers name nothing to leave out, and do not load what reads names. */
async function filterOf(wish: FilterWish): Promise<Filter> {
  const { toolsets, tools, excludeTools, repos, variables: _, ...switches } = wish;
  if ((toolsets ?? tools ?? excludeTools ?? repos) === undefined) return switches;
  const { readFilter } = await import("./filter.ts");
  return await readFilter(wish, loadFacts);
}

async function loadFacts(): Promise<readonly Fact[]> {
  return (await import("../core/facts.gen.ts")).facts;
}

/** Everything a call needs is loaded by the first one, so that the handshake waits for none of it. */
function methodsOf(filter: Filter, env: Env): Methods {
  const offline = isSet(env.KNOTLESS_OFFLINE);
  const globals = { as: env.KNOTLESS_ACCOUNT || undefined, offline };
  return createMethods({
    version,
    filter,
    pace: PACE,
    open: openLater(globals, env),
    complete: completeFromHere(globals, env),
    versions: watchLater({ env, version, offline }),
    facts: loadFacts,
    answers: async () => (await import("../core/answers.gen.ts")).answers,
    load: async (name) => await (await import("../core/table.ts")).loadCommand(name),
    report: (error) => {
      if (!isSet(env.KNOTLESS_DEBUG)) return;
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    },
  });
}

/** Tells the person who started it. */
function say(text: string): Promise<void> {
  return new Promise((resolve) => process.stderr.write(`${text}\n`, () => resolve()));
}
