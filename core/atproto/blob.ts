import { createHash } from "node:crypto";
import { CorruptError, quote, RemoteError } from "../errors.ts";
import { parseCid } from "./cid.ts";
import { allowedUrl, isLoopback, toRemoteError } from "./http.ts";

const MAX_REDIRECTS = 3;

/** How a blob is read. */
export interface BlobReading {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** Milliseconds without a byte after which the connection counts as lost. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** An answer whose body is still to come, and the clock that watches it. */
export interface OpenBlob {
  readonly response: Response;
  readonly host: string;
  /** Starts the wait for the next bytes. */
  watch(): void;
  close(): void;
  fault(error: unknown): unknown;
}

/** Asks for a blob, following redirects only to where blobs may come from; the caller closes it. */
export async function openBlob(start: URL, reading: BlobReading): Promise<OpenBlob> {
  const idle = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => idle.abort(), reading.timeoutMs);
  };
  const close = () => clearTimeout(timer);
  let url = start;
  const fault = (error: unknown) => toRemoteError(error, url.host, reading.signal, idle.signal);
  try {
    watch();
    for (let hops = 0;; hops++) {
      const response = await reading.fetch(url, {
        // Packs do not compress again, and trying costs the PDS far more than sending.
        headers: { "accept-encoding": "identity" },
        redirect: "manual",
        signal: AbortSignal.any([reading.signal, idle.signal]),
      });
      const target = response.status >= 300 && response.status < 400
        ? response.headers.get("location")
        : null;
      if (target === null) return { response, host: url.host, watch, close, fault };
      await response.body?.cancel();
      url = followed(url, target, hops, isLoopback(start));
    }
  } catch (error) {
    close();
    throw fault(error);
  }
}

function followed(from: URL, target: string, hops: number, loopback: boolean): URL {
  const text = URL.canParse(target, from.href) ? new URL(target, from.href).href : "";
  const url = hops < MAX_REDIRECTS ? allowedUrl(text, loopback) : undefined;
  if (url !== undefined) return url;
  throw new RemoteError(
    `${quote(from.host)} sends on to ${quote(target)}, where blobs do not come from`,
    {
      host: from.host,
      retryable: false,
    },
  );
}

/** Gives the blob's bytes as they come. They are proven only at the end: a CorruptError there means that none were right. */
export async function* readBlob(
  { response, watch, close, fault }: OpenBlob,
  cid: string,
  maxBytes: number,
): AsyncIterable<Uint8Array> {
  const hash = createHash("sha256");
  let length = 0;
  try {
    for await (const chunk of response.body ?? []) {
      watch();
      length += chunk.length;
      if (length > maxBytes) {
        throw new CorruptError(
          `the blob ${cid} is longer than the ${maxBytes} bytes it should have`,
        );
      }
      hash.update(chunk);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof CorruptError ? error : fault(error);
  } finally {
    close();
  }
  const expected = parseCid(cid)?.digest;
  if (expected === undefined || !hash.digest().equals(expected)) {
    throw new CorruptError(`the blob ${cid} is not what its CID says`);
  }
}
