/** A git host on loopback: `git http-backend` behind a small server, with the faults a test asks for. */
import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";

/** How the host is to behave. */
export interface HostOptions {
  /** Asks for this, as `user:password`, and answers 401 without it. */
  readonly login?: string;
  /** Redirects every request whose path starts with the first to the same below the second, a URL or path. */
  readonly redirects?: Readonly<Record<string, string>>;
}

/** A running host. */
export interface GitHost extends AsyncDisposable {
  readonly url: string;
  /** What was asked for, in order: `GET /app.git/info/refs?service=…`. */
  readonly requests: { readonly line: string; readonly authorization: string | undefined }[];
  /** Breaks the connection of the next answer to a POST after so many bytes. */
  cutAfter(bytes: number): void;
  /** Answers every request with this until it is taken back. */
  answerWith(answer: { status: number; type?: string; body?: string } | undefined): void;
}

/** Serves the repositories below `root`. */
export async function openGitHost(root: string, options: HostOptions = {}): Promise<GitHost> {
  const requests: GitHost["requests"] = [];
  let cut: number | undefined;
  let fixed: Parameters<GitHost["answerWith"]>[0];
  const server = createServer((request, response) => {
    const target = request.url ?? "/";
    const { authorization } = request.headers;
    requests.push({ line: `${request.method} ${target}`, authorization });
    const [from, to] = Object.entries(options.redirects ?? {})
      .find(([from]) => target.startsWith(from)) ?? [];
    if (fixed !== undefined) {
      response.writeHead(fixed.status, { "content-type": fixed.type ?? "text/plain" });
      response.end(fixed.body ?? "");
    } else if (from !== undefined) {
      response.writeHead(302, { location: `${to}${target.slice(from.length)}` }).end();
    } else if (options.login !== undefined && authorization !== basic(options.login)) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
    } else {
      const limit = request.method === "POST" ? cut : undefined;
      if (request.method === "POST") cut = undefined;
      runBackend(root, request, response, limit);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    cutAfter: (bytes) => cut = bytes,
    answerWith: (answer) => fixed = answer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function basic(login: string): string {
  return `Basic ${Buffer.from(login).toString("base64")}`;
}

/** Runs the CGI program for one request; it prints headers, an empty line and the body. */
function runBackend(
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
  limit: number | undefined,
): void {
  const { pathname, search } = new URL(request.url ?? "/", "http://host");
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_PROTOCOL: request.headers["git-protocol"]?.toString() ?? "",
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      CONTENT_LENGTH: request.headers["content-length"] ?? "",
      REMOTE_ADDR: "127.0.0.1",
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  request.pipe(backend.stdin);
  backend.stdin.on("error", () => {});
  let head: Buffer | undefined = Buffer.alloc(0);
  let sent = 0;
  backend.stdout.on("data", (chunk: Buffer) => {
    let body = chunk;
    if (head !== undefined) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      writeHead(response, head.subarray(0, end).toString("latin1"));
      body = head.subarray(end + 4);
      head = undefined;
    }
    sent += body.length;
    if (limit === undefined || sent < limit) {
      response.write(body);
      return;
    }
    response.write(body.subarray(0, body.length - (sent - limit)), () => response.destroy());
    backend.kill();
  });
  backend.stdout.on("end", () => response.end());
}

function writeHead(response: ServerResponse, text: string): void {
  const lines = text.split("\r\n").map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const status = lines.find(([name]) => name.toLowerCase() === "status")?.[1] ?? "200";
  const headers = lines.filter(([name]) => name.toLowerCase() !== "status");
  response.writeHead(Number.parseInt(status), Object.fromEntries(headers));
}
