import { NotFoundError, quote, RemoteError, UsageError } from "../errors.ts";
import { allowedUrl, ask, askAgain } from "./http.ts";
import { isObject, parseJson, textOf } from "./json.ts";
import { type Did, isHandle } from "./syntax.ts";

const DOCUMENT_BYTES = 256 * 1024;

/** What a DID document says of an account. */
export interface Document {
  readonly did: Did;
  /** The handle it claims, lower-cased, not verified. */
  readonly handle: string | undefined;
  /** The base URL of its PDS. */
  readonly pds: string;
}

/** Where DID documents are asked for. */
export interface Directory {
  /** Base URL of the PLC directory. */
  readonly plc: string;
  /** Whether documents may point at this machine: for a network of one's own. */
  readonly loopback: boolean;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  random(): number;
}

/** Reads an account's DID document from the PLC directory, or for did:web from its host. */
export async function readDocument(directory: Directory, did: Did): Promise<Document> {
  const url = documentUrl(directory, did);
  const { signal, random } = directory;
  const reply = await askAgain(
    async () => {
      const reply = await ask(url, { ...directory, maxBytes: DOCUMENT_BYTES });
      if (reply.status >= 500 || reply.status === 429) throw refusedBy(url, reply.status);
      return reply;
    },
    signal,
    random,
  );
  if (reply.status === 404) throw new NotFoundError(`there is no account ${quote(did)}`);
  if (reply.status === 410) throw new NotFoundError(`the account ${quote(did)} was deleted`);
  if (reply.status !== 200) throw refusedBy(url, reply.status);
  return parseDocument(directory, did, parseJson(reply.body));
}

function refusedBy(url: URL, status: number): RemoteError {
  return new RemoteError(`${quote(url.host)} answered ${status} when asked for a DID document`, {
    host: url.host,
    status,
    retryable: status >= 500 || status === 429,
  });
}

function documentUrl({ plc, loopback }: Directory, did: Did): URL {
  if (/^did:plc:[a-z2-7]{24}$/.test(did)) return new URL(`${plc.replace(/\/+$/, "")}/${did}`);
  const web = /^did:web:([a-zA-Z0-9.-]+)(?:%3A(\d{1,5}))?$/i.exec(did);
  const [, host = "", port] = web ?? [];
  const local = host === "localhost";
  const url = web === null || (port !== undefined && !local) ? undefined : allowedUrl(
    `${local ? "http" : "https"}://${host}${port ? `:${port}` : ""}/.well-known/did.json`,
    loopback,
  );
  if (url === undefined) {
    throw new UsageError(`${quote(did)} is not a DID that accounts have`, {
      hint: web === null && !did.startsWith("did:web:")
        ? "give a handle, a did:plc or a did:web"
        : "a did:web names a public host and no port or path: did:web:alice.example",
    });
  }
  return url;
}

function parseDocument(directory: Directory, did: Did, document: unknown): Document {
  if (!isObject(document) || document["id"] !== did) {
    throw new NotFoundError(`the DID document of ${quote(did)} is not its own`);
  }
  const endpoint = list(document["service"]).find((service) =>
    [`${did}#atproto_pds`, "#atproto_pds"].includes(textOf(service, "id") ?? "") &&
    textOf(service, "type") === "AtprotoPersonalDataServer"
  );
  const address = textOf(endpoint, "serviceEndpoint") ?? "";
  if (address === "") throw new NotFoundError(`the account ${quote(did)} has no PDS`);
  const pds = allowedUrl(address, directory.loopback);
  if (pds === undefined) {
    throw new NotFoundError(`the PDS of ${quote(did)} has no address to use: ${quote(address)}`);
  }
  const names = list(document["alsoKnownAs"]).filter((name) => typeof name === "string");
  const name = names.find((name) => name.startsWith("at://"))?.slice("at://".length).toLowerCase();
  return { did, pds: pds.origin, handle: name !== undefined && isHandle(name) ? name : undefined };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
