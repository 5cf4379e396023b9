import { CorruptError, KnotlessError, NotFoundError, quote, RemoteError } from "../errors.ts";
import type { OpenBlob } from "./blob.ts";
import { decodeCbor } from "./cbor.ts";
import { parseCid } from "./cid.ts";
import { fromJson } from "./data.ts";
import { ask, askAgain, readBounded, type Reply } from "./http.ts";
import type { Account, Identity } from "./identity.ts";
import { isObject, textOf } from "./json.ts";
import { parseAtUri } from "./syntax.ts";
import { inactiveError, readAnswer, readRefusal, refusedError, xrpcUrl } from "./xrpc.ts";

/** A record as its PDS has it now. */
export interface StoredRecord<T = unknown> {
  readonly uri: string;
  readonly cid: string;
  readonly value: T;
}

/** Reads records and blobs of any account. */
export interface Records {
  /** The record, or undefined when there is none. */
  get(account: Account, collection: string, rkey: string): Promise<StoredRecord | undefined>;
  /** Every record of a collection, newest rkey first, or oldest first with `reverse`. */
  list(
    account: Account,
    collection: string,
    options?: { reverse?: boolean },
  ): AsyncIterable<StoredRecord>;
  /** Records by CID, each proven to be what its CID says; the ones the PDS does not have are left out. */
  getBlocks(account: Account, cids: readonly string[]): Promise<Map<string, unknown>>;
  /** A blob's bytes; a CorruptError at their end, or at `maxBytes`, when they are not what the CID says. */
  blob(account: Account, cid: string, maxBytes: number): AsyncIterable<Uint8Array>;
  /** The CID of the account's newest commit, whatever was written. */
  latestCommit(account: Account): Promise<string>;
  /** What the PDS at this base URL takes. */
  describe(pds: string): Promise<{ blobUploadLimit: number }>;
}

/** How records are read. */
export interface RecordsOptions {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** Asked again, once, for an account that its PDS says it does not serve: it may have moved. */
  readonly identity?: Identity;
  /** Milliseconds for one request. */
  readonly timeoutMs: number;
  /** Milliseconds for one that answers much, and for blobs without a byte; `timeoutMs` if not given. */
  readonly longMs?: number;
  /** For the pause before a second try. */
  readonly random?: () => number;
}

const RECORD_BYTES = 2_000_000;
const PAGE_BYTES = 64_000_000;
const BLOCKS_AT_ONCE = 50;
const BLOCKS_BYTES = 50_000_000;
/** What a PDS takes that does not say. */
const UPLOAD_LIMIT = 5_000_000;

/** Opens the reader of records. */
export function openRecords(options: RecordsOptions): Records {
  const { signal, identity } = options;
  const random = options.random ?? (() => 0.5);
  const longMs = options.longMs ?? options.timeoutMs;
  const silent = new Set<string>();

  async function get(url: URL, maxBytes: number): Promise<Reply> {
    const timeoutMs = maxBytes > RECORD_BYTES ? longMs : options.timeoutMs;
    return await askAgain(
      async () => {
        const reply = await ask(url, { ...options, timeoutMs, maxBytes });
        if (reply.status >= 500 || reply.status === 429) throw refuse(url, reply);
        return reply;
      },
      signal,
      random,
      silent,
    );
  }

  /** Runs `work`; if its PDS does not serve the account, looks up where it is now and runs it there. */
  async function whereItIs<T>(account: Account, work: (account: Account) => Promise<T>) {
    try {
      return await work(account);
    } catch (error) {
      if (identity === undefined || !(error instanceof KnotlessError) || !isAway(error)) {
        throw error;
      }
      await identity.forget(account.did);
      const now = await identity.resolve(account.did);
      if (now.pds === account.pds) throw error;
      return await work(now);
    }
  }

  /** The error for an answer that is no success: a PDS calls much of what may be wrong a record not found. */
  async function explain(account: Account, url: URL, reply: Reply): Promise<unknown> {
    const refusal = readRefusal(url.host, reply);
    const named = inactiveError(url.host, account.did, refusal.name);
    if (named !== undefined) return named;
    const status = xrpcUrl(account.pds, "com.atproto.sync.getRepoStatus", { did: account.did });
    const answer = await get(status, RECORD_BYTES);
    const state = answer.status === 200
      ? textOf(readAnswer(url.host, answer), "status")
      : readRefusal(url.host, answer).name;
    return inactiveError(url.host, account.did, state ?? "") ??
      refusedError(refusal, reply.headers);
  }

  async function page(
    account: Account,
    params: { collection: string; reverse: boolean | undefined; cursor: string | undefined },
  ): Promise<{ records: StoredRecord[]; cursor: string | undefined }> {
    const url = xrpcUrl(account.pds, "com.atproto.repo.listRecords", {
      repo: account.did,
      limit: 100,
      ...params,
    });
    const reply = await get(url, PAGE_BYTES);
    if (reply.status !== 200) throw await explain(account, url, reply);
    const answer = readAnswer(url.host, reply);
    const records = Array.isArray(answer["records"]) ? answer["records"] : [];
    return {
      records: records.map((record) => readRecord(url, account, params.collection, record)),
      cursor: textOf(answer, "cursor"),
    };
  }

  async function blocks(account: Account, cids: readonly string[], found: Map<string, unknown>) {
    if (cids.length === 0) return;
    const url = xrpcUrl(account.pds, "com.atproto.sync.getBlocks", { did: account.did, cids });
    const reply = await get(url, BLOCKS_BYTES);
    if (reply.status === 200) {
      const wanted = new Set(cids);
      const { readCar } = await import("./car.ts");
      for (const { cid, block } of readCar(reply.body)) {
        if (wanted.has(cid)) found.set(cid, decodeCbor(block));
      }
      return;
    }
    if (reply.status !== 400) throw await explain(account, url, reply);
    // One that is not there refuses them all: halves find out which.
    if (cids.length === 1) {
      const error = await explain(account, url, reply);
      if (isPlain(error)) return;
      throw error;
    }
    const half = Math.ceil(cids.length / 2);
    await blocks(account, cids.slice(0, half), found);
    await blocks(account, cids.slice(half), found);
  }

  async function askBlob(account: Account, cid: string, maxBytes: number): Promise<OpenBlob> {
    const url = xrpcUrl(account.pds, "com.atproto.sync.getBlob", { did: account.did, cid });
    const { openBlob } = await import("./blob.ts");
    const opened = await openBlob(url, { ...options, timeoutMs: longMs, maxBytes });
    const { response, host } = opened;
    const { status, headers } = response;
    if (status === 200) return opened;
    opened.close();
    const reply = { status, headers, body: await readBounded(response, RECORD_BYTES, host) };
    if (host !== url.host || status >= 500 || status === 429) throw refuse(url, reply);
    const error = await explain(account, url, reply);
    if (!isPlain(error)) throw error;
    throw new NotFoundError(`${quote(host)} does not have the blob ${quote(cid)}`, {
      code: "not_found.blob",
    });
  }

  return {
    get: (account, collection, rkey) =>
      whereItIs(account, async ({ did, pds, handle }) => {
        const url = xrpcUrl(pds, "com.atproto.repo.getRecord", { repo: did, collection, rkey });
        const reply = await get(url, RECORD_BYTES);
        if (reply.status === 200) {
          return readRecord(url, { did }, collection, readAnswer(url.host, reply), rkey);
        }
        const { name, message } = readRefusal(url.host, reply);
        if (name === "RecordNotFound") return undefined;
        const error = await explain({ did, pds, handle }, url, reply);
        if (isPlain(error) && /\bnot (?:found|locate|find)\b/i.test(message)) return undefined;
        throw error;
      }),

    async *list(account, collection, { reverse } = {}) {
      let cursor: string | undefined;
      do {
        const before: string | undefined = cursor;
        const next = await whereItIs(account, (now) => page(now, { collection, reverse, cursor }));
        yield* next.records;
        cursor = next.records.length > 0 ? next.cursor : undefined;
        if (cursor !== undefined && cursor === before) {
          throw new CorruptError(`the list of ${collection} of ${account.did} does not end`);
        }
      } while (cursor !== undefined);
    },

    async getBlocks(account, cids) {
      const found = new Map<string, unknown>();
      const wanted = [...new Set(cids)];
      for (let at = 0; at < wanted.length; at += BLOCKS_AT_ONCE) {
        const some = wanted.slice(at, at + BLOCKS_AT_ONCE);
        await whereItIs(account, (now) => blocks(now, some, found));
      }
      return found;
    },

    latestCommit: (account) =>
      whereItIs(account, async (now) => {
        const url = xrpcUrl(now.pds, "com.atproto.sync.getLatestCommit", { did: now.did });
        const reply = await get(url, RECORD_BYTES);
        if (reply.status !== 200) throw await explain(now, url, reply);
        const cid = textOf(readAnswer(url.host, reply), "cid");
        if (cid !== undefined) return cid;
        throw new CorruptError(`${url.host} does not say what ${now.did}'s newest commit is`);
      }),

    async *blob(account, cid, maxBytes) {
      const open = () => whereItIs(account, (now) => askBlob(now, cid, maxBytes));
      const { readBlob } = await import("./blob.ts");
      yield* readBlob(await askAgain(open, signal, random, silent), cid, maxBytes);
    },

    async describe(pds) {
      const url = xrpcUrl(pds, "com.atproto.server.describeServer");
      const reply = await get(url, RECORD_BYTES);
      if (reply.status !== 200) throw refuse(url, reply);
      const limit = readAnswer(url.host, reply)["blobUploadLimit"];
      return { blobUploadLimit: typeof limit === "number" && limit > 0 ? limit : UPLOAD_LIMIT };
    },
  };
}

function refuse(url: URL, reply: Reply): RemoteError {
  return refusedError(readRefusal(url.host, reply), reply.headers);
}

/** True for a refusal that says nothing of the account: of what was asked for, then. */
function isPlain(error: unknown): boolean {
  return error instanceof RemoteError && error.code === "remote" &&
    (error.status === 400 || error.status === 404);
}

function isAway(error: KnotlessError): boolean {
  return /^(?:not_found\.account|remote\.(?:deactivated|suspended|taken_down))$/.test(error.code);
}

function readRecord(
  url: URL,
  { did }: Pick<Account, "did">,
  collection: string,
  record: unknown,
  rkey?: string,
): StoredRecord {
  const uri = textOf(record, "uri") ?? "";
  const cid = textOf(record, "cid") ?? "";
  const name = parseAtUri(uri);
  const value = isObject(record) ? fromJson(record["value"]) : undefined;
  if (
    name?.did === did && name.collection === collection && (rkey ?? name.rkey) === name.rkey &&
    parseCid(cid) !== undefined && isObject(value)
  ) return { uri, cid, value };
  throw new CorruptError(
    `${quote(url.host)} answered a record that is not one of ${collection} of ${did}`,
  );
}
