import { type KnotlessError, NotFoundError, quote, RemoteError } from "../errors.ts";
import type { Reply } from "./http.ts";
import { isObject, parseJson, textOf } from "./json.ts";

/** What a PDS says of a request it refuses. */
export interface Refusal {
  readonly host: string;
  readonly status: number;
  /** Such as `InvalidSwap`; empty when it gave none. */
  readonly name: string;
  readonly message: string;
}

/** The URL of an XRPC method, with its parameters. */
export function xrpcUrl(
  pds: string,
  method: string,
  params: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>> = {},
): URL {
  const url = new URL(`/xrpc/${method}`, pds);
  for (const [key, value] of Object.entries(params)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) url.searchParams.append(key, String(item));
    }
  }
  return url;
}

/** Reads the refusal out of an answer that is not a success. */
export function readRefusal(
  host: string,
  { status, body }: Pick<Reply, "status" | "body">,
): Refusal {
  const answer = parseJson(body);
  return {
    host,
    status,
    name: textOf(answer, "error") ?? "",
    message: textOf(answer, "message") ?? "",
  };
}

/** The JSON object of a success; a RemoteError when it is none. */
export function readAnswer(host: string, reply: Reply): Record<string, unknown> {
  const answer = parseJson(reply.body);
  if (isObject(answer)) return answer;
  throw new RemoteError(`${quote(host)} answered something that is no JSON object`, {
    host,
    status: reply.status,
    retryable: false,
  });
}

/** The error for a refusal that has no meaning of its own where it came: overload, a broken server, a bug of ours. */
export function refusedError(refusal: Refusal, headers: Headers): RemoteError {
  const { host, status, name, message } = refusal;
  if (status === 429) return rateLimited(host, headers);
  const says = [name, message].filter((text) => text !== "").map(quote).join(": ");
  return new RemoteError(`${quote(host)} answered ${status}${says ? `: ${says}` : ""}`, {
    host,
    status,
    retryable: status >= 500 || status === 408,
    facts: { error: name },
  });
}

/** The error for a 429; says when to try again, as the answer's headers do. */
export function rateLimited(host: string, headers: Headers): RemoteError {
  const seconds = Number(headers.get("retry-after") ?? NaN);
  const reset = Number(headers.get("ratelimit-reset") ?? NaN);
  const date = Number.isFinite(reset) && reset > 0 && reset < 1e11
    ? new Date(reset * 1000).toISOString().replace(/\.\d+Z$/, "Z")
    : undefined;
  const wait = Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds) : undefined;
  const when = date !== undefined
    ? ` after ${date}`
    : wait !== undefined
    ? ` in ${wait} seconds`
    : " later";
  return new RemoteError(`${quote(host)} has had too many requests: try again${when}`, {
    host,
    status: 429,
    code: "remote.rate_limited",
    facts: { retryAt: date, retryAfter: wait },
  });
}

/** The error for an account that its PDS does not serve now, if that is what a refusal's name or a status says. */
export function inactiveError(host: string, did: string, state: string): KnotlessError | undefined {
  const word = /deactivated/i.test(state)
    ? "deactivated"
    : /suspended/i.test(state)
    ? "suspended"
    : /take(?:n)?down/i.test(state)
    ? "taken down"
    : undefined;
  if (word !== undefined) {
    return new RemoteError(
      `the account ${quote(did)} is ${word}: ${quote(host)} does not serve it`,
      {
        host,
        code: `remote.${word.replace(" ", "_")}`,
        retryable: false,
      },
    );
  }
  return state === "RepoNotFound"
    ? new NotFoundError(`${quote(host)} does not have the account ${quote(did)}`, {
      code: "not_found.account",
    })
    : undefined;
}
