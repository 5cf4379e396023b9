import type { WriteContext } from "../core/context.ts";
import { CorruptError, OfflineError, quote, RemoteError, UsageError } from "../core/errors.ts";
import { parseRepoName, type RepoName } from "../core/forge/names.ts";
import { openContexts } from "../core/open.ts";
import { type Env, unboundEnv } from "./git.ts";
import { answer, readLine } from "./lines.ts";
import { defaultOptions, setOption } from "./options.ts";
import { parseRequest, type Request } from "./plan.ts";
import { listRefs, openPush, type Push, push } from "./push.ts";
import { Progress, reportFatal } from "./report.ts";
import { prepareMirror, serveFetch } from "./serve.ts";

const PUSH_ADVICE = "push again: what has landed is not sent twice";
const CAPABILITIES = "connect\npush\noption\nobject-format\n\n";

/** Serves git as the remote helper of knotless:// URLs, on stdin and stdout, and gives the exit status. */
export async function main(argv: readonly string[], env: Env): Promise<number> {
  let owner: string | undefined;
  try {
    const url = argv[1] ?? argv[0];
    if (url === undefined) {
      throw new UsageError("git runs this program itself, for knotless:// URLs", {
        hint: "git clone knotless://HANDLE/NAME",
      });
    }
    const named = parseRepoName(url);
    owner = named.owner;
    return await converse(named, env);
  } catch (error) {
    // A push is the owner's.
    return reportFatal(error, isOn(env.KNOTLESS_DEBUG), owner);
  }
}

async function converse(named: RepoName, env: Env): Promise<number> {
  const options = defaultOptions();
  const progress = new Progress(options, Date.now);
  const open = opener(named, env, progress);
  let pushing: Push | undefined;
  let requests: Request[] = [];
  for (let line = readLine(); line !== undefined; line = readLine()) {
    const [command = "", rest = ""] = cutAt(line, " ");
    if (command === "") {
      // Without requests an empty line is git's farewell.
      if (pushing === undefined || requests.length === 0) return 0;
      const results = await advised(push(pushing, requests), PUSH_ADVICE);
      progress.end();
      answer(`${results}\n`);
      requests = [];
    } else if (command === "capabilities") {
      answer(CAPABILITIES);
    } else if (command === "option") {
      const [name = "", value] = cutAt(rest, " ");
      answer(`${setOption(options, name, value)}\n`);
    } else if (line === "connect git-upload-pack") {
      const context = await open.read();
      // git tells it while the mirror is brought up to date.
      const apart = unboundEnv(env);
      apart.catch(() => {});
      const mirror = await advised(
        prepareMirror(context, named),
        "KNOTLESS_OFFLINE=1 reads from the copy on this machine, where there is one",
      );
      progress.end();
      answer("\n");
      const status = await serveFetch(mirror.path, await apart);
      // What git found wrong may be wrong on this machine: the next try has a copy that is not.
      if (status !== 0) await mirror.heal(context.freshness);
      return status;
    } else if (command === "connect") {
      answer("fallback\n");
    } else if (line === "list for-push") {
      pushing = await advised(openPush(open.write, named, { env, options }), PUSH_ADVICE);
      progress.end();
      answer(`${listRefs(pushing)}\n`);
    } else if (command === "push") {
      requests.push(parseRequest(rest));
    } else {
      throw new CorruptError(`git sent a line that is not known here: ${quote(line)}`);
    }
  }
  return 0;
}

/** Says what to do about a network that failed, where nothing else is said. */
async function advised<T>(work: Promise<T>, hint: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof RemoteError) || error.hint !== undefined) throw error;
    const { message, host, status, retryable, code, facts, cause } = error;
    throw new RemoteError(message, { host, status, retryable, code, facts, cause, hint });
  }
}

/** A push acts as the account that owns the repository, where that one is signed in and no other is asked for. */
function opener(named: RepoName, env: Env, progress: Progress) {
  const surface = {
    signal: new AbortController().signal,
    note: (text: string) => progress.note(`note: ${text}`),
    progress: (text: string, done?: number, total?: number) => progress.show(text, done, total),
  };
  const isOffline = isOn(env.KNOTLESS_OFFLINE);
  const as = env.KNOTLESS_ACCOUNT || undefined;
  return {
    read: () => openContexts({ offline: isOffline, refresh: !isOffline }, env, surface)("read"),
    async write(): Promise<WriteContext> {
      if (isOffline) throw new OfflineError("nothing was pushed: a push is not done offline");
      const online = { offline: false, refresh: true };
      if (as !== undefined) return await openContexts({ ...online, as }, env, surface)("write");
      const { identity, sessions } = await openContexts(online, env, surface)("machine");
      const { did } = await identity.resolve(named.owner);
      const here = [...await sessions.list(), ...await sessions.listDamaged()];
      const isHere = here.some((session) => session.did === did);
      return await openContexts({ ...online, as: isHere ? did : undefined }, env, surface)("write");
    },
  };
}

function cutAt(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0" && value !== "false";
}
