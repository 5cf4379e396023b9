/** A DNS server on loopback that answers TXT questions only. */
import { Buffer } from "node:buffer";
import { createSocket } from "node:dgram";
import { once } from "node:events";

const headerBytes = 12;
const txt = 16;
const responseAuthoritative = 0x8580;
const nameNotFound = 3;

export interface DnsServer extends AsyncDisposable {
  /** `host:port`. */
  readonly address: string;
  readonly port: number;
}

interface Question {
  readonly name: string;
  readonly type: number;
  /** Where the question ends. */
  readonly end: number;
}

function readQuestion(query: Buffer): Question {
  const labels: string[] = [];
  let at = headerBytes;
  for (let size = query.readUInt8(at); size > 0; size = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + size));
    at += size + 1;
  }
  return {
    name: labels.join(".").toLowerCase(),
    type: query.readUInt16BE(at + 1),
    end: at + 5,
  };
}

/** A TXT record of the name asked for, in strings of at most 255 bytes, kept for a second at most. */
function writeAnswer(text: string): Buffer {
  const bytes = Buffer.from(text);
  const strings: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 255) {
    const part = bytes.subarray(at, at + 255);
    strings.push(Buffer.from([part.length]), part);
  }
  const data = Buffer.concat(strings);
  const head = Buffer.alloc(headerBytes);
  head.writeUInt16BE(0xc000 | headerBytes, 0);
  head.writeUInt16BE(txt, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(1, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

async function answer(
  query: Buffer,
  find: (name: string) => Promise<string | undefined>,
): Promise<Buffer> {
  const { name, type, end } = readQuestion(query);
  const found = await find(name);
  const answers = found !== undefined && type === txt ? [writeAnswer(found)] : [];
  const head = Buffer.from(query.subarray(0, headerBytes));
  const status = found === undefined ? nameNotFound : 0;
  head.writeUInt16BE(responseAuthoritative | (head.readUInt16BE(2) & 0x0100) | status, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(answers.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, query.subarray(headerBytes, end), ...answers]);
}

/**
 * Starts a DNS server on 127.0.0.1; port 0 takes a free one. `find` gives the text for a name in
 * lower case, or undefined where there is no such name. What is no question gets no answer.
 */
export async function startDns(
  port: number,
  find: (name: string) => Promise<string | undefined>,
): Promise<DnsServer> {
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    answer(query, find).then(
      (response) => socket.send(response, from.port, from.address),
      () => {},
    );
  });
  socket.bind(port, "127.0.0.1");
  await once(socket, "listening");
  const bound = socket.address().port;
  return {
    address: `127.0.0.1:${bound}`,
    port: bound,
    async [Symbol.asyncDispose]() {
      const closed = once(socket, "close");
      socket.close();
      await closed;
    },
  };
}
