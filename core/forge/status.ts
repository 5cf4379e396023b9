import type { ReadContext } from "../context.ts";
import { RemoteError, UsageError } from "../errors.ts";
import { version } from "../version.ts";
import type { RepoName } from "./names.ts";
import { openReading } from "./reading.ts";

const STATUS_BYTES = 100_000;

/** This program's version and account, a server's health, and with a repository its mirror here. */
export async function readStatus(
  context: ReadContext,
  { server, repo }: { server?: string | undefined; repo?: RepoName | undefined },
) {
  const { appview } = context;
  const reader = await context.reader();
  const url = server ?? appview;
  if (url === undefined) context.note("no appview is configured");
  return {
    version,
    ...(reader && { account: { did: reader.did, handle: reader.handle } }),
    server: url === undefined ? null : { url, status: await askStatus(context, url) },
    ...(repo && { mirror: await readMirror(context, repo) }),
  };
}

async function readMirror(context: ReadContext, repo: RepoName) {
  const { repository, view } = await openReading(context, repo);
  const { mirror, spelled, uri } = repository;
  const state = mirror.state();
  const commit = view.refs.get(view.head)?.oid;
  return {
    repo: spelled,
    uri,
    path: mirror.path,
    generation: view.generation,
    ...(commit !== undefined && { commit }),
    packs: state?.packs.size ?? 0,
    bytes: await mirror.bytes(),
    checkedAt: new Date(view.checkedAt).toISOString(),
    stale: context.now().getTime() - view.checkedAt >= context.freshness.maxAge &&
      context.freshness.maxAge > 0,
  };
}

async function askStatus(context: ReadContext, server: string): Promise<unknown> {
  const url = readServer(server);
  const host = url.host;
  let response: Response;
  try {
    const timeout = AbortSignal.timeout(10_000);
    const signal = AbortSignal.any([context.signal, timeout]);
    response = await context.fetch(url, { signal, redirect: "error" });
  } catch (cause) {
    context.signal.throwIfAborted();
    throw new RemoteError(`${host} does not answer`, { host, cause, code: "remote.unreachable" });
  }
  const text = await response.text();
  if (!response.ok || text.length > STATUS_BYTES) {
    throw new RemoteError(`${host} answered ${response.status} to /_status`, {
      host,
      status: response.status,
    });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new RemoteError(`${host} answered something that is not JSON to /_status`, {
      host,
      cause,
      retryable: false,
    });
  }
}

function readServer(server: string): URL {
  let url: URL;
  try {
    url = new URL("/_status", server);
  } catch (cause) {
    throw new UsageError(`server is ${server}: give a URL such as https://example.com`, { cause });
  }
  const isLoopback = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback)) return url;
  throw new UsageError(`server is ${server}: give an https URL; http is for this machine alone`);
}
