import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** A server on this machine that the test answers for. */
export interface Edge extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly port: number;
}

/** Opens an HTTP server on a free port of this machine. */
export async function openEdge(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Edge> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The URL of a port of this machine where nobody listens. */
export async function closedUrl(): Promise<string> {
  await using edge = await openEdge(() => {});
  return edge.url;
}

/** What the DNS server says of a name: TXT texts, no such name, or nothing at all. */
export type Zone = (name: string) => readonly string[] | "absent" | "silent";

/** Opens a DNS server for TXT questions; `address` is its `host:port`. */
export async function openDns(zone: Zone): Promise<{ address: string } & AsyncDisposable> {
  const socket = createSocket("udp4");
  socket.on("message", (question: Uint8Array, from: { port: number; address: string }) => {
    const answer = answerDns(question, zone);
    if (answer !== undefined) socket.send(answer, from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => socket.close(resolve));
    },
  };
}

function answerDns(question: Uint8Array, zone: Zone): Uint8Array | undefined {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(new TextDecoder().decode(question.subarray(at + 1, at + 1 + length)));
    at += 1 + length;
  }
  const end = at + 5;
  const isText = question[at + 2] === 16;
  const found = zone(labels.join(".").toLowerCase());
  const texts = Array.isArray(found) && isText ? found : [];
  if (found === "silent") return undefined;
  const code = found === "absent" ? 3 : 0;
  const bytes = [...question.subarray(0, end)];
  bytes.splice(2, 10, 0x81, 0x80 | code, 0, 1, 0, texts.length, 0, 0, 0, 0);
  for (const text of texts) {
    const data = new TextEncoder().encode(text);
    bytes.push(0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 0, 0, data.length + 1, data.length, ...data);
  }
  return Uint8Array.from(bytes);
}
