import { randomBytes, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import process from "node:process";
import { RefusedError } from "../core/errors.ts";
import { Connection, type Methods, type Peer, type Send } from "./connection.ts";
import { type Era, eraOf, isLegacyVersion } from "./era.ts";
import { checkHeaders, refuseStranger } from "./http_check.ts";
import { HttpReply } from "./http_reply.ts";
import {
  CODE,
  errorReply,
  idOf,
  invalidRequest,
  isObject,
  type Json,
  ProtocolError,
} from "./message.ts";
import { readBody } from "./http_body.ts";
import { HttpSessions } from "./http_sessions.ts";

const ADDRESS = "127.0.0.1";

/** A server that listens. */
export interface Listening {
  /** Where it is reached, the token with it. */
  readonly url: string;
  close(): void;
}

/** Serves MCP over HTTP to programs of this machine until a signal comes; gives the exit status. */
export async function serveHttp(
  methods: Methods,
  port: number,
  say: (text: string) => Promise<void>,
): Promise<number> {
  const listening = await listen((send) => new Connection(methods, send), port);
  await say(`MCP is served at ${listening.url}`);
  const status = await new Promise<number>((resolve) => {
    process.once("SIGHUP", () => resolve(129));
    process.once("SIGINT", () => resolve(130));
    process.once("SIGTERM", () => resolve(143));
  });
  listening.close();
  return status;
}

/** Listens on a port of this machine alone, 0 for any, and has `open` make the peer of each client. */
export async function listen(open: (send: Send) => Peer, port: number): Promise<Listening> {
  const token = randomBytes(24).toString("base64url");
  const sessions = new HttpSessions();
  const server = createServer((request, response) => {
    const reply = new HttpReply(response);
    const refusal = refuseStranger(request.url ?? "", request.headers, token);
    if (refusal !== undefined) {
      if (refusal.status === 401) reply.set("www-authenticate", "Bearer");
      reply.status(refusal.status, invalidRequest(undefined, refusal.why));
      return;
    }
    answer(request, reply, { open, sessions }).catch(() => reply.status(500));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      reject(new RefusedError(`port ${port} cannot be listened on: ${cause.message}`, { cause }));
    });
    server.listen(port, ADDRESS, resolve);
  });
  const address = server.address();
  const bound = typeof address === "object" ? address?.port : undefined;
  return {
    url: `http://${ADDRESS}:${bound ?? port}/mcp/${token}`,
    close() {
      sessions.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

interface World {
  readonly open: (send: Send) => Peer;
  readonly sessions: HttpSessions;
}

async function answer(request: IncomingMessage, reply: HttpReply, world: World): Promise<void> {
  const { headers, method } = request;
  const session = headers["mcp-session-id"]?.toString();
  if (method === "DELETE" && session !== undefined) {
    reply.status(world.sessions.end(session) ? 204 : 404);
    return;
  }
  if (method !== "POST") {
    reply.set("allow", "POST");
    reply.status(405);
    return;
  }
  const body = await readBody(request);
  if (body === undefined) {
    reply.status(413, invalidRequest(undefined, "the message is too long"));
    return;
  }
  let message: unknown;
  try {
    message = JSON.parse(body);
  } catch {
    reply.status(400, errorReply(undefined, new ProtocolError(CODE.parseError, "not JSON")));
    return;
  }
  const shape = isObject(message) ? message : {};
  if (eraOfRequest(shape, request) === "modern") await answerModern(shape, request, reply, world);
  else await answerLegacy(message, session, request, reply, world);
}

/** A modern client says so in the headers as well, so that one with a broken envelope is told that it is broken. */
function eraOfRequest({ method, params }: Json, { headers }: IncomingMessage): Era {
  if (typeof method !== "string") return "legacy";
  const version = headers["mcp-protocol-version"];
  const saysModern = headers["mcp-method"] !== undefined ||
    (version !== undefined && !isLegacyVersion(version));
  // A client that asks for a session may know the modern headers too.
  if (saysModern && method !== "initialize") return "modern";
  return eraOf(method, isObject(params) ? params : {});
}

/** Each request stands for itself, and is over with its stream. */
async function answerModern(
  message: Json,
  { headers }: IncomingMessage,
  reply: HttpReply,
  { open }: World,
): Promise<void> {
  const { method, params, id } = message;
  try {
    if (typeof method === "string" && isObject(params) && id !== undefined) {
      checkHeaders(method, params, headers);
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    reply.end(errorReply(idOf(id), error), "modern");
    return;
  }
  const peer = open((sent) => reply.send(sent));
  const { signal } = reply;
  reply.end(await peer.take(message, { signal, era: "modern" }), "modern");
  peer.close();
}

/** `initialize` begins a session, so that a later request can cancel an earlier one. */
async function answerLegacy(
  message: unknown,
  name: string | undefined,
  { headers }: IncomingMessage,
  reply: HttpReply,
  { open, sessions }: World,
): Promise<void> {
  const known = name === undefined ? undefined : sessions.find(name);
  const version = headers["mcp-protocol-version"];
  if (name !== undefined && known === undefined) {
    reply.status(404, invalidRequest(undefined, "the session has ended"));
    return;
  }
  if (version !== undefined && !isLegacyVersion(version)) {
    reply.status(400, invalidRequest(undefined, "the header mcp-protocol-version is not known"));
    return;
  }
  const peer = known ?? open(() => {});
  if (known === undefined && isObject(message) && message["method"] === "initialize") {
    const fresh = randomUUID();
    sessions.begin(fresh, peer);
    reply.set("mcp-session-id", fresh);
  }
  const { signal } = reply;
  reply.end(await peer.take(message, { signal, send: (sent) => reply.send(sent) }), "legacy");
}
