import { KnotlessError, quote, RemoteError } from "../errors.ts";

/** How to ask: whose fetch, how long to wait for it, and how much to read. */
export interface Asking {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** Milliseconds for the whole exchange. */
  readonly timeoutMs: number;
  /** The longest body that is read; a longer one is a RemoteError. */
  readonly maxBytes: number;
  readonly init?: RequestInit;
}

/** A whole answer. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

const DELAYS_MS = [250, 1000] as const;

/**
 * Sends one request and reads the whole answer, whatever its status; follows no redirect. A fault of the network is a
 * RemoteError with code `remote.unreachable` (nothing was sent), `remote.lost` or `remote.timeout` (it may have arrived).
 */
export async function ask(url: URL, asking: Asking): Promise<Reply> {
  const timeout = AbortSignal.timeout(asking.timeoutMs);
  try {
    const response = await asking.fetch(url, {
      redirect: "manual",
      ...asking.init,
      signal: AbortSignal.any([asking.signal, timeout]),
    });
    const body = await readBounded(response, asking.maxBytes, url.host);
    return { status: response.status, headers: response.headers, body };
  } catch (error) {
    throw toRemoteError(error, url.host, asking.signal, timeout);
  }
}

/**
 * Runs `attempt` and, where it failed for a reason that may pass, twice more; for reads only. A host that did not answer
 * in time twice is `silent`: whoever asks it then has waited long, and is not kept by another try.
 */
export async function askAgain<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  random: () => number,
  silent: Set<string> = new Set(),
): Promise<T> {
  let silences = 0;
  for (const delay of DELAYS_MS) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof RemoteError) || !error.retryable || error.status === 429) throw error;
      if (error.code === "remote.timeout" && (++silences === 2 || silent.has(error.host))) {
        silent.add(error.host);
        throw error;
      }
    }
    await pause(delay * (0.5 + random()), signal);
  }
  return await attempt();
}

/** A larger body may take long to send, which says nothing of the host. */
const SMALL_BYTES = 100_000;

/** A fetch that says once for each host that it is waited for, after so many milliseconds without an answer. */
export function tellWaiting(
  ask: typeof fetch,
  note: (text: string) => void,
  milliseconds: number,
): typeof fetch {
  const told = new Set<string>();
  return async (input, init) => {
    const { host } = new URL(input instanceof Request ? input.url : input);
    const isLarge = init?.body instanceof Uint8Array && init.body.length > SMALL_BYTES;
    const timer = isLarge || told.has(host) ? undefined : setTimeout(() => {
      if (!told.has(host)) note(`waiting for ${quote(host)}`);
      told.add(host);
    }, milliseconds);
    try {
      return await ask(input, init);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Waits; rejects with the signal's reason when it aborts first. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** What a failed request says to the user; gives back an abort of ours, or an error that is for the user already. */
export function toRemoteError(
  error: unknown,
  host: string,
  signal: AbortSignal,
  timeout?: AbortSignal,
): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof KnotlessError) return error;
  if (timeout?.aborted) {
    return new RemoteError(`${quote(host)} did not answer in time`, {
      host,
      code: "remote.timeout",
      cause: error,
    });
  }
  if (!(error instanceof Error)) return error;
  return neverSent(error)
    ? new RemoteError(`${quote(host)} cannot be reached`, {
      host,
      code: "remote.unreachable",
      cause: error,
    })
    : new RemoteError(`the connection to ${quote(host)} was lost`, {
      host,
      code: "remote.lost",
      cause: error,
    });
}

/** Reads a body of at most `maxBytes`; a longer one is a RemoteError that asking again does not help. */
export async function readBounded(
  response: Response,
  maxBytes: number,
  host: string,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new RemoteError(`${quote(host)} answered more than ${maxBytes} bytes`, {
        host,
        status: response.status,
        retryable: false,
      });
    }
    chunks.push(chunk);
  }
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

/**
 * The URL, if requests may go there: https to a public name or address. With `loopback` also this machine, in plain http
 * as well: for a network of one's own.
 */
export function allowedUrl(text: string, loopback: boolean): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== "" || url.password !== "") return undefined;
  if (isLoopback(url)) {
    return loopback && (url.protocol === "http:" || url.protocol === "https:") ? url : undefined;
  }
  return url.protocol === "https:" && !isPrivateAddress(url.hostname) ? url : undefined;
}

/** True when the URL names this machine. */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" ||
    /^127\.\d+\.\d+\.\d+$/.test(host);
}

function isPrivateAddress(host: string): boolean {
  if (host.startsWith("[")) return /^\[(?:::|f[cd]|fe[89ab]|64:ff9b:)/.test(host);
  return /^(?:0|10)\.\d+\.\d+\.\d+$/.test(host) || /^192\.168\.\d+\.\d+$/.test(host) ||
    /^169\.254\.\d+\.\d+$/.test(host) || /^172\.(?:1[6-9]|2\d|3[01])\.\d+\.\d+$/.test(host) ||
    /^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.\d+\.\d+$/.test(host) ||
    /\.(?:local|internal)\.?$/.test(host);
}

/** True when the request cannot have reached the other side: no name, no route, no listener. */
function neverSent(error: Error): boolean {
  const code = "code" in error ? String(error.code) : "";
  return /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(code) ||
    /client error \(Connect\)|tcp connect error|dns error/.test(error.message) ||
    (error.cause instanceof Error && neverSent(error.cause));
}
