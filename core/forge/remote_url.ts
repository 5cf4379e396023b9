import { allowedUrl, isLoopback } from "../atproto/http.ts";
import { NotFoundError, UsageError } from "../errors.ts";

/** A repository at a git host, as its URL names it. */
export interface Remote {
  /** Without credentials, query and slash at its end. */
  readonly url: URL;
  /** The `Authorization` header that the URL's user and password come to. */
  readonly authorization: string | undefined;
}

/**
 * Reads the URL of a repository at a git host: https, or http to this machine. Throws a UsageError, which does not
 * repeat the text: it may hold a password.
 */
export function readRemoteUrl(text: string): Remote {
  const [, repo] = /^knotless:\/\/([\w.:%-]+\/[\w.-]+)$/i.exec(text) ?? [];
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new UsageError("from is not the URL of a git repository: give https://host/path", {
      hint: repo === undefined ? undefined : { command: "repo fork", args: { repo } },
    });
  }
  const url = new URL(text);
  if (url.protocol === "http:" && !isLoopback(url)) {
    throw new UsageError(
      `from is ${url.origin}: http sends all in the clear and is for this machine alone, give an https URL`,
    );
  }
  if (url.search !== "" || url.hash !== "") {
    throw new UsageError("from has a ? or # in it: give the URL that git clone takes");
  }
  const authorization = authorizationOf(url);
  url.username = "";
  url.password = "";
  url.pathname = url.pathname.replace(/\/+$/, "");
  return { url, authorization };
}

/** Where a redirect leads to, if requests may follow it: never from https to http, nor from elsewhere to this machine. */
export function followRedirect(from: URL, location: string | null): URL {
  const text = location !== null && URL.canParse(location, from)
    ? new URL(location, from).href
    : "";
  const allowed = allowedUrl(text, isLoopback(from)) ??
    (text.startsWith(`${from.origin}/`) ? new URL(text) : undefined);
  if (allowed === undefined || (from.protocol === "https:" && allowed.protocol !== "https:")) {
    throw new NotFoundError(`${from.host} redirects to where no request may follow`, {
      code: "not_found.remote",
    });
  }
  return allowed;
}

function authorizationOf(url: URL): string | undefined {
  if (url.username === "" && url.password === "") return undefined;
  try {
    const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    return `Basic ${Buffer.from(login).toString("base64")}`;
  } catch {
    throw new UsageError("from has a user or password that is not percent-encoded right");
  }
}
