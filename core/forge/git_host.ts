import { readBounded, toRemoteError } from "../atproto/http.ts";
import type { ReadContext } from "../context.ts";
import { AuthError, KnotlessError, NotFoundError, quote, RemoteError } from "../errors.ts";
import { lenientText } from "../git/bytes.ts";
import { followRedirect, type Remote } from "./remote_url.ts";

/** What requests to a git host need of the world. */
export type Wire = Pick<ReadContext, "fetch" | "signal">;

/** The service of git's smart protocol that sends packs. */
export const SERVICE = "git-upload-pack";

const MAX_REDIRECTS = 5;
const REFS_BYTES = 32 << 20;
const REFS_MS = 60_000;

/** Gets a repository's list of refs, whole, and where redirects led to; a login does not follow to another origin. */
export async function getRefs(
  first: Remote,
  { fetch, signal }: Wire,
): Promise<{ remote: Remote; list: Uint8Array }> {
  const timeout = AbortSignal.timeout(REFS_MS);
  let { authorization } = first;
  let url = new URL(`${baseOf(first)}/info/refs?service=${SERVICE}`);
  try {
    for (let hops = 0;; hops++) {
      const response = await fetch(url, {
        headers: headersFor({ url, authorization }),
        redirect: "manual",
        signal: AbortSignal.any([signal, timeout]),
      });
      if (response.status >= 300 && response.status < 400 && hops < MAX_REDIRECTS) {
        await response.body?.cancel();
        const next = followRedirect(url, response.headers.get("location"));
        if (next.origin !== url.origin) authorization = undefined;
        url = next;
        continue;
      }
      const base = new URL(url.pathname.replace(/\/info\/refs$/, ""), url.origin);
      const remote = { url: base, authorization };
      await checkAnswer(response, remote, "advertisement");
      const list = await readBounded(response, REFS_BYTES, url.host);
      checkList(list, remote);
      return { remote, list };
    }
  } catch (error) {
    throw sayWhy(error, url, signal, timeout);
  }
}

/** Sends a request for a pack and gives the answer as it comes. */
export async function postWants(
  remote: Remote,
  body: Uint8Array<ArrayBuffer>,
  { fetch, signal }: Wire,
): Promise<AsyncIterable<Uint8Array>> {
  try {
    const response = await fetch(`${baseOf(remote)}/${SERVICE}`, {
      method: "POST",
      headers: {
        ...headersFor(remote),
        "content-type": `application/x-${SERVICE}-request`,
        accept: `application/x-${SERVICE}-result`,
      },
      body,
      redirect: "manual",
      signal,
    });
    await checkAnswer(response, remote, "result");
    return response.body ?? new ReadableStream();
  } catch (error) {
    throw sayWhy(error, remote.url, signal);
  }
}

/** A repository's URL without a slash at its end. */
export function baseOf({ url }: Remote): string {
  return url.href.replace(/\/$/, "");
}

/** Makes of what a request failed with an error for the user. */
export function sayWhy(
  error: unknown,
  { host }: URL,
  signal: AbortSignal,
  timeout?: AbortSignal,
): unknown {
  return error instanceof KnotlessError ? error : toRemoteError(error, host, signal, timeout);
}

async function checkAnswer(
  { status, headers, body }: Response,
  remote: Remote,
  kind: "advertisement" | "result",
): Promise<void> {
  const type = headers.get("content-type")?.split(";")[0]?.trim();
  if (status === 200 && type === `application/x-${SERVICE}-${kind}`) return;
  await body?.cancel();
  const { host } = remote.url;
  const shown = quote(remote.url.href);
  if (status === 401 || status === 403) {
    const whom = remote.authorization === undefined
      ? "for everyone to read"
      : "for this user and password";
    throw new AuthError("none", `${shown} is not there, or not ${whom}`, {
      code: "auth.remote",
      hint: remote.authorization === undefined
        ? "a private repository takes https://USER:TOKEN@host/path"
        : "check the user and the token in the URL, and that the token may read the repository",
      facts: { host, status },
    });
  }
  if (status === 200 || status === 404 || status === 410) {
    throw new NotFoundError(`there is no git repository at ${shown}`, {
      code: "not_found.remote",
    });
  }
  throw new RemoteError(`${quote(host)} answered ${status}`, {
    host,
    status,
    retryable: status === 429 || status >= 500,
  });
}

/** A list that was cut must not pass for a shorter one: it ends in a flush. */
function checkList(list: Uint8Array, { url: { host } }: Remote): void {
  const [, said] = /^(?:[0-9a-f]{4}# service=[^\n]*\n(?:0000)?)?[0-9a-f]{4}ERR ([^\n]*)/i
    .exec(lenientText(list.subarray(0, 2000))) ?? [];
  if (said !== undefined) {
    throw new RemoteError(`${quote(host)}: ${quote(said)}`, { host, retryable: false });
  }
  if (lenientText(list.subarray(-4)) !== "0000") {
    throw new RemoteError(`${quote(host)} broke its list of refs off`, {
      host,
      code: "remote.lost",
    });
  }
}

/** Some hosts answer at a web address of a repository only to what calls itself git. */
function headersFor({ authorization }: Remote): Record<string, string> {
  return { "user-agent": "git/knotless", ...(authorization !== undefined && { authorization }) };
}
