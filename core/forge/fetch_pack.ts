import { open } from "node:fs/promises";
import type { ReadContext } from "../context.ts";
import { CorruptError, quote, RefusedError, RemoteError } from "../errors.ts";
import { concat, lenientText } from "../git/bytes.ts";
import type { Oid } from "../git/object.ts";
import { PACK_LIMITS } from "../mirror/arrive.ts";
import { postWants, sayWhy } from "./git_host.ts";
import { FLUSH, formatPacket, readPackets } from "./packets.ts";
import type { Advertised } from "./smart_http.ts";

/** A host that says nothing for so long within an answer has gone. */
const SILENCE_MS = 120_000;
const PROGRESS_BYTES = 1 << 20;
const PACK_BAND = 1;
const PROGRESS_BAND = 2;
const ERROR_BAND = 3;

type Progress = ReadContext["progress"];

/**
 * Fetches what `wants` reach and `haves` do not into `file`, as one pack whole in itself. All that is checked here is
 * that it came to its end.
 */
export async function fetchPack(
  { remote: { url, authorization }, capabilities }: Advertised,
  { wants, haves, file }: {
    wants: readonly Oid[];
    haves: readonly Oid[];
    file: string;
  },
  { fetch, signal, progress }: Pick<ReadContext, "fetch" | "signal" | "progress">,
): Promise<void> {
  if (!capabilities.has("side-band-64k")) {
    throw new RefusedError(`${quote(url.host)} speaks a dialect of git from before 2006`);
  }
  const request = formatRequest(wants, haves, capabilities);
  using silence = new Silence();
  const out = await open(file, "w");
  try {
    const answer = await postWants({ url, authorization }, request, {
      fetch,
      signal: AbortSignal.any([signal, silence.signal]),
    });
    let bytes = 0;
    for await (const piece of readPack(silence.listen(answer), url.host, progress)) {
      await out.writeFile(piece);
      const told = Math.floor(bytes / PROGRESS_BYTES);
      bytes += piece.length;
      if (bytes > PACK_LIMITS.totalBytes) {
        throw new RefusedError(
          `${quote(url.host)} sends more than ${PACK_LIMITS.totalBytes} bytes`,
        );
      }
      if (Math.floor(bytes / PROGRESS_BYTES) > told) progress("receiving objects", bytes);
    }
  } catch (error) {
    throw sayWhy(error, url, signal, silence.signal);
  } finally {
    await out.close();
  }
}

/** Thin packs are not asked for: what is imported leans on nothing. */
function formatRequest(
  wants: readonly Oid[],
  haves: readonly Oid[],
  capabilities: ReadonlySet<string>,
): Uint8Array<ArrayBuffer> {
  const asked = ["side-band-64k", "ofs-delta"].filter((one) => capabilities.has(one)).join(" ");
  return concat([
    ...wants.map((oid, i) => formatPacket(i === 0 ? `want ${oid} ${asked}\n` : `want ${oid}\n`)),
    FLUSH,
    ...haves.map((oid) => formatPacket(`have ${oid}\n`)),
    formatPacket("done\n"),
  ]);
}

/** Gives the pack out of an answer; what the host says beside it goes to `progress`. */
async function* readPack(
  answer: AsyncIterable<Uint8Array>,
  host: string,
  progress: Progress,
): AsyncGenerator<Uint8Array> {
  const broken = (why: string) =>
    new CorruptError(`the answer of ${quote(host)} breaks its format: ${why}`);
  const refusal = (text: string) =>
    new RemoteError(`${quote(host)}: ${quote(text.replace(/[\s\0]+$/, ""))}`, {
      host,
      retryable: false,
    });
  for await (const packet of readPackets(answer, broken)) {
    if (packet === undefined) return;
    const text = () => lenientText(packet.subarray(1));
    if (packet[0] === PACK_BAND) yield packet.subarray(1);
    else if (packet[0] === PROGRESS_BAND) progress(quote(`${host}: ${lastLine(text())}`));
    else if (packet[0] === ERROR_BAND) throw refusal(text());
    else {
      const line = lenientText(packet);
      if (line.startsWith("ERR ")) throw refusal(line.slice(4));
      if (!/^(NAK|ACK )/.test(line)) throw broken(`it has the line ${quote(line.trim())}`);
    }
  }
  throw new RemoteError(`the connection to ${quote(host)} was lost`, { host, code: "remote.lost" });
}

function lastLine(text: string): string {
  return text.split(/[\r\n]/).findLast((line) => line.trim() !== "")?.trim() ?? "";
}

/** Aborts when a stream has given nothing for a while. */
class Silence implements Disposable {
  readonly #controller = new AbortController();
  #timer = this.#start();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Gives the stream as it is; the wait starts again at each piece. */
  async *listen(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of stream) {
      clearTimeout(this.#timer);
      this.#timer = this.#start();
      yield piece;
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #start(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#controller.abort(), SILENCE_MS);
  }
}
