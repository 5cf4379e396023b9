/**
 * A proxy on loopback that sees every request and can spoil it: the connection drops, the answer is
 * another, half of it is missing, or it takes long.
 */
import { Buffer } from "node:buffer";
import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as send,
  type ServerResponse,
} from "node:http";
import { type Network, type NetworkOptions, openNetwork } from "./network.ts";

/** A request that came by. */
export interface Seen {
  readonly method: string;
  /** The method's NSID; empty outside of `/xrpc/`. */
  readonly nsid: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly body: Buffer;
  /** The answer's status; undefined when none was given. */
  status?: number;
  /** Bytes of the answer's body, as sent on. */
  answered: number;
}

/** What happens to a request in place of being passed on as it is. */
export type Fault =
  /** The connection ends before the request is passed on, or after it was done but not answered. */
  | { readonly kind: "drop"; readonly when: "before" | "after" }
  /** It is not passed on. */
  | {
    readonly kind: "answer";
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }
  /** It is passed on; the connection ends after half of the answer's body. */
  | { readonly kind: "cut" }
  /** It is passed on once `until` is settled. */
  | { readonly kind: "hold"; readonly until: Promise<unknown> };

/** Which requests a fault is for. */
export interface Match {
  readonly method?: string;
  readonly nsid?: string;
  readonly path?: RegExp;
  /** How many to let by first; none without it. */
  readonly skip?: number;
  /** How many to spoil; all without it. */
  readonly times?: number;
}

/** A fault in force until it is disposed of. */
export interface Rule extends Disposable {
  /** How many requests it spoiled. */
  readonly hits: number;
}

export interface Proxy extends AsyncDisposable {
  /** Stands for the target's URL. */
  readonly url: string;
  /** Every request since the start or the last `forget`, in order of arrival. */
  readonly seen: readonly Seen[];
  count(match?: Pick<Match, "method" | "nsid" | "path">): number;
  /** Requests that change a repository or bring a blob, and the bytes of their bodies. */
  writes(): { readonly requests: number; readonly bytes: number };
  forget(): void;
  inject(match: Match, fault: Fault): Rule;
}

const writing = new Set([
  "com.atproto.repo.applyWrites",
  "com.atproto.repo.createRecord",
  "com.atproto.repo.deleteRecord",
  "com.atproto.repo.putRecord",
  "com.atproto.repo.uploadBlob",
]);

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function matches(match: Match, { method, nsid, path }: Seen): boolean {
  return (match.method === undefined || match.method === method) &&
    (match.nsid === undefined || match.nsid === nsid) &&
    (match.path === undefined || match.path.test(path));
}

/** What of the headers is about the message and not about the connection. */
function keep(headers: IncomingHttpHeaders, without: readonly string[]): Answer["headers"] {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !without.includes(name)) kept[name] = value;
  }
  return kept;
}

async function pass(target: string, { method, path, headers, body }: Seen): Promise<Answer> {
  const { hostname, port, host } = new URL(target);
  const outgoing = send({
    hostname,
    port,
    method,
    path,
    headers: {
      ...keep(headers, ["connection", "content-length", "transfer-encoding"]),
      host,
      ...(method !== "GET" && { "content-length": body.length }),
    },
  });
  const answered = once(outgoing, "response");
  outgoing.end(body);
  const incoming: IncomingMessage = (await answered)[0];
  return {
    status: incoming.statusCode ?? 0,
    headers: keep(incoming.headers, ["connection", "content-length", "transfer-encoding"]),
    body: await readBody(incoming),
  };
}

/**
 * Opens a proxy in front of `target`. `rewrite` changes the body of each answer, for targets that
 * name what is to be reached through another proxy.
 */
export async function openProxy(
  target: string,
  options: { readonly rewrite?: (text: string) => string } = {},
): Promise<Proxy> {
  const seen: Seen[] = [];
  const rules = new Set<{ match: Match; fault: Fault; passed: number; hits: number }>();

  const choose = (request: Seen): Fault | undefined => {
    for (const rule of rules) {
      const { match, fault } = rule;
      if (rule.hits >= (match.times ?? Infinity) || !matches(match, request)) continue;
      if (rule.passed++ < (match.skip ?? 0)) continue;
      rule.hits++;
      return fault;
    }
  };

  const fetchAnswer = async (request: Seen, fault: Fault | undefined): Promise<Answer> => {
    if (fault?.kind === "answer") {
      const { status, headers = {}, body = "" } = fault;
      return { status, headers, body: Buffer.from(body) };
    }
    if (fault?.kind === "hold") await Promise.allSettled([fault.until]);
    const answer = await pass(target, request);
    if (!options.rewrite) return answer;
    return { ...answer, body: Buffer.from(options.rewrite(answer.body.toString())) };
  };

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const path = incoming.url ?? "/";
    const request: Seen = {
      method: incoming.method ?? "GET",
      nsid: /^\/xrpc\/([^?/]+)/.exec(path)?.[1] ?? "",
      path,
      headers: incoming.headers,
      body: await readBody(incoming),
      answered: 0,
    };
    seen.push(request);
    const fault = choose(request);
    if (fault?.kind === "drop" && fault.when === "before") return void incoming.socket.destroy();
    const { status, headers, body } = await fetchAnswer(request, fault);
    if (fault?.kind === "drop") return void incoming.socket.destroy();
    request.status = status;
    const length = body.length > 0 ? { "content-length": String(body.length) } : {};
    // A client may send again by itself what was lost on a connection that it used before.
    outgoing.writeHead(status, { ...headers, ...length, connection: "close" });
    if (fault?.kind !== "cut") {
      request.answered = body.length;
      return void outgoing.end(body);
    }
    const half = body.subarray(0, Math.floor(body.length / 2));
    request.answered = half.length;
    outgoing.write(half, () => incoming.socket.destroy());
  };

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;

  return {
    url: `http://localhost:${port}`,
    seen,
    count: (match = {}) => seen.filter((request) => matches(match, request)).length,
    writes() {
      const requests = seen.filter(({ nsid }) => writing.has(nsid));
      return {
        requests: requests.length,
        bytes: requests.reduce((sum, { body }) => sum + body.length, 0),
      };
    },
    forget: () => void seen.splice(0),
    inject(match, fault) {
      const rule = { match, fault, passed: 0, hits: 0 };
      rules.add(rule);
      return {
        get hits() {
          return rule.hits;
        },
        [Symbol.dispose]: () => void rules.delete(rule),
      };
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export interface NetworkProxies extends AsyncDisposable {
  readonly pds: Proxy;
  readonly plc: Proxy;
  /** For a client that is to go through them. */
  readonly env: Network["env"];
}

/**
 * Puts proxies in front of a network's PDS and directory; the directory's documents name the PDS's
 * proxy. It does for sessions of a password only: a proof of OAuth's (DPoP) is for one URL, and the
 * PDS goes by its own.
 */
export async function proxyNetwork(network: Network): Promise<NetworkProxies> {
  const pds = await openProxy(network.pds);
  const rewrite = (text: string) => text.replaceAll(network.pds, pds.url);
  const plc = await openProxy(network.plc, { rewrite });
  return {
    pds,
    plc,
    env: { ...network.env, KNOTLESS_PDS: pds.url, KNOTLESS_PLC: plc.url },
    async [Symbol.asyncDispose]() {
      await plc[Symbol.asyncDispose]();
      await pds[Symbol.asyncDispose]();
    },
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}

/** Starts a network whose PDS knows itself by its proxy's URL, so that OAuth goes through it too. */
export async function openProxiedNetwork(
  options: NetworkOptions = {},
): Promise<Network & { readonly proxy: Proxy }> {
  const port = await findFreePort();
  const proxy = await openProxy(`http://localhost:${port}`);
  const publicPort = Number(new URL(proxy.url).port);
  const network = await openNetwork({ ...options, own: true, port, publicPort });
  const stop = async () => {
    await network.stop();
    await proxy[Symbol.asyncDispose]();
  };
  return { ...network, proxy, stop, [Symbol.asyncDispose]: stop };
}
