import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";

/** A person at a browser, as a login needs one. */
export interface Visitor {
  /** Shows the address to sign in at. */
  visit(url: string): void;
  /** An address that the person pasted in place of the browser's redirect; undefined when there will be none. */
  paste(signal: AbortSignal): Promise<string | undefined>;
  /** Says why what was pasted is of no use. */
  reject(why: string): void;
}

/** Where the browser comes back to after a login. */
export interface Redirect {
  readonly url: `http://127.0.0.1:${number}/`;
  /** What the browser, or the person in its place, brings back for the login with that `state`. */
  wait(state: string, visitor: Visitor, signal: AbortSignal): Promise<URLSearchParams>;
  close(): Promise<void>;
}

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>knotless</title>
<style>body{font:1.1em/1.5 system-ui,sans-serif;margin:20vh auto;max-width:24em;text-align:center}</style>
<h1>knotless</h1><p>`;

/** Listens on a free port of this machine, for this machine alone. */
export async function openRedirect(): Promise<Redirect> {
  const { createServer } = await import("node:http");
  let come: ((params: URLSearchParams) => boolean) | undefined;
  const server = createServer((request, response) => {
    answer(request, response, come);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/`,

    async wait(state, visitor, signal) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
      const done = new AbortController();
      signal.addEventListener("abort", () => reject(signal.reason), { signal: done.signal });
      come = (params) => {
        if (params.get("state") !== state) return false;
        resolve(params);
        return true;
      };
      readPasted(state, visitor, done.signal).then((params) => params && resolve(params), reject);
      try {
        return await promise;
      } finally {
        done.abort();
      }
    },

    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      await closed;
    },
  };
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  come: ((params: URLSearchParams) => boolean) | undefined,
): void {
  const url = new URL(request.url ?? "/", "http://127.0.0.1");
  const ours = request.method === "GET" && url.pathname === "/" && url.searchParams.has("state");
  const taken = ours && come?.(url.searchParams) === true;
  const said = !taken
    ? "This is not the login that is waited for."
    : url.searchParams.has("code")
    ? "You are back: close this page and go on in the terminal."
    : "You did not sign in. Close this page and go on in the terminal.";
  response.writeHead(taken ? 200 : 404, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "referrer-policy": "no-referrer",
    "connection": "close",
  });
  response.end(`${PAGE}${said}</p></html>`);
}

async function readPasted(
  state: string,
  visitor: Visitor,
  signal: AbortSignal,
): Promise<URLSearchParams | undefined> {
  while (!signal.aborted) {
    const line = await visitor.paste(signal);
    if (line === undefined) return undefined;
    const text = line.trim();
    if (text === "") continue;
    const query = URL.canParse(text) ? new URL(text).search : text;
    const params = new URLSearchParams(query);
    if (params.get("state") === state) return params;
    visitor.reject(
      params.has("state")
        ? "that address is another login's"
        : "that is not the address the browser ended on: it starts with http://127.0.0.1",
    );
  }
  return undefined;
}
