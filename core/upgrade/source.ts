import { open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { allowedUrl, toRemoteError } from "../atproto/http.ts";
import { KnotlessError, NotFoundError, quote, RefusedError, UsageError } from "../errors.ts";

/** Where the files of a release are. */
export interface Source {
  /** As messages name it. */
  readonly name: string;
  /** Opens a file of the release; throws a NotFoundError when it is not there. */
  open(file: string): Promise<AsyncIterable<Uint8Array>>;
}

/** How to ask a server. */
export interface SourceOptions {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** A release in a folder of this machine, or at a URL; throws a UsageError for a URL that is not asked. */
export function openSource(from: string, options: SourceOptions): Source {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(from)) return openFolder(resolve(from));
  const url = allowedUrl(from, true);
  if (url === undefined) {
    throw new UsageError(`from is ${quote(from)}: give an https URL or a folder`);
  }
  return openUrl(url, options);
}

/** All of a file of a release; throws a RefusedError when it is longer than `most`. */
export async function readFile(source: Source, file: string, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of await source.open(file)) {
    length += chunk.length;
    if (length > most) throw new RefusedError(`${file} of the release is over ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function openFolder(folder: string): Source {
  return {
    name: folder,
    async open(file) {
      try {
        return (await open(join(folder, file))).createReadStream();
      } catch (cause) {
        throw new NotFoundError(`${quote(join(folder, file))} is not there or cannot be read`, {
          cause,
        });
      }
    },
  };
}

function openUrl(url: URL, { fetch, signal }: SourceOptions): Source {
  const base = new URL(url.href.endsWith("/") ? url : `${url}/`);
  return {
    name: base.href,
    async open(file) {
      try {
        // Whoever it leads to: what comes is checked, not where it came from.
        const response = await fetch(new URL(file, base), { signal });
        if (response.ok && response.body !== null) return readOn(response.body, base.host, signal);
        await response.body?.cancel();
        throw new NotFoundError(
          `${quote(base.host)} answered ${response.status} to ${file} of the release`,
        );
      } catch (error) {
        throw toRemoteError(error, base.host, signal);
      }
    },
  };
}

async function* readOn(
  body: ReadableStream<Uint8Array>,
  host: string,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw error instanceof KnotlessError ? error : toRemoteError(error, host, signal);
  }
}
