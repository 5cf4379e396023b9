import type { Agent } from "@atproto/api";
import { createHash } from "node:crypto";
import { CorruptError, RemoteError } from "../errors.ts";
import { parseCid } from "./cid.ts";
import { toJson } from "./data.ts";
import { readBounded, toRemoteError } from "./http.ts";
import type { Account } from "./identity.ts";
import { isObject, type JsonObject } from "./json.ts";
import type { BlobRef } from "./lexicons.gen.ts";
import type { Authorized } from "./session.ts";
import { findFault } from "./validate.ts";
import { writeError } from "./write_error.ts";

/** One change to the account's records. */
export type Write =
  | {
    readonly action: "create" | "update";
    readonly collection: string;
    readonly rkey: string;
    readonly value: object;
  }
  | { readonly action: "delete"; readonly collection: string; readonly rkey: string };

/** A record as a write left it. */
export interface Written {
  readonly uri: string;
  readonly cid: string;
}

/** The commit that a write made. */
export interface Commit {
  readonly cid: string;
  readonly rev: string;
}

/**
 * Changes an account's own records. It never tries again by itself. The codes of its errors: `conflict.swap` (another
 * write came first), `remote.doubt` (it may have been done: look), `remote.blob_missing`, `remote.rate_limited`,
 * `auth.scope`, `auth.ended`.
 */
export interface Writer {
  readonly account: Account;
  /** Applies all the writes in one commit, or none; results are in their order, undefined for a delete. */
  apply(
    writes: readonly Write[],
    swapCommit?: string,
  ): Promise<{ commit: Commit; results: (Written | undefined)[] }>;
  /** Puts a record if the one there has the CID `swap`; null only creates. */
  put(collection: string, rkey: string, value: object, swap: string | null): Promise<Written>;
  create(collection: string, rkey: string, value: object): Promise<Written>;
  /** Deletes a record, if it has the CID `swap` when one is given; deleting what is not there succeeds. */
  delete(collection: string, rkey: string, swap?: string): Promise<void>;
  /** Uploads a blob of at most the PDS's limit; it is kept once a record names it. */
  uploadBlob(bytes: Uint8Array): Promise<BlobRef>;
}

/** What writing needs. */
export interface WriterOptions {
  readonly account: Account;
  /** Signs the account's requests; asked for when first used. */
  readonly authorized: () => Authorized;
  readonly signal: AbortSignal;
  /** Milliseconds for one request; an upload has more, by its size. */
  readonly timeoutMs: number;
}

const ANSWER_BYTES = 4_000_000;
/** The slowest upload that still counts as one. */
const BYTES_PER_MS = 30;

/** Opens the writer of an account's records. */
export function openWriter({ account, authorized, signal, timeoutMs }: WriterOptions): Writer {
  const repo = account.did;
  const { host } = new URL(account.pds);
  let opened: Promise<Agent> | undefined;

  async function openOne(): Promise<Agent> {
    const { openAgent } = await import("./agent.ts");
    const { fetch } = authorized();
    return openAgent(repo, async (path, init) => {
      const size = init.body instanceof Uint8Array ? init.body.length : 0;
      const timeout = AbortSignal.timeout(timeoutMs + Math.ceil(size / BYTES_PER_MS));
      try {
        const response = await fetch(path, { ...init, signal: AbortSignal.any([signal, timeout]) });
        const body = await readBounded(response, ANSWER_BYTES, host);
        const { status, headers } = response;
        return new Response(new Uint8Array(body), { status, headers });
      } catch (error) {
        throw toRemoteError(error, host, signal, timeout);
      }
    });
  }

  async function write<T>(send: (agent: Agent) => Promise<{ data: T }>): Promise<T> {
    signal.throwIfAborted();
    const agent = await (opened ??= openOne());
    try {
      return (await send(agent)).data;
    } catch (error) {
      signal.throwIfAborted();
      const { readAgentError } = await import("./agent.ts");
      const said = readAgentError(error, host);
      throw said === undefined ? error : writeError(said, repo);
    }
  }

  return {
    account,

    async apply(writes, swapCommit) {
      const data = await write((agent) =>
        agent.com.atproto.repo.applyWrites({
          repo,
          writes: writes.map(toInput),
          ...(swapCommit !== undefined && { swapCommit }),
        })
      );
      if (data.commit === undefined) {
        throw new RemoteError(`${host} does not say which commit it made`, {
          host,
          code: "remote.doubt",
        });
      }
      const { cid, rev } = data.commit;
      const results = (data.results ?? []).map((result) =>
        "uri" in result ? { uri: result.uri, cid: result.cid } : undefined
      );
      return { commit: { cid, rev }, results };
    },

    async put(collection, rkey, value, swapRecord) {
      const record = prepare(collection, value);
      const { uri, cid } = await write((agent) =>
        agent.com.atproto.repo.putRecord({ repo, collection, rkey, record, swapRecord })
      );
      return { uri, cid };
    },

    async create(collection, rkey, value) {
      const record = prepare(collection, value);
      const { uri, cid } = await write((agent) =>
        agent.com.atproto.repo.createRecord({ repo, collection, rkey, record })
      );
      return { uri, cid };
    },

    async delete(collection, rkey, swap) {
      await write((agent) =>
        agent.com.atproto.repo.deleteRecord({
          repo,
          collection,
          rkey,
          ...(swap !== undefined && { swapRecord: swap }),
        })
      );
    },

    async uploadBlob(bytes) {
      const { blob } = await write((agent) =>
        agent.com.atproto.repo.uploadBlob(bytes, { encoding: "application/octet-stream" })
      );
      const link = blob.ref.toString();
      const digest = createHash("sha256").update(bytes).digest();
      if (!digest.equals(parseCid(link)?.digest ?? new Uint8Array())) {
        throw new CorruptError(`${host} took the blob for other bytes than were sent`);
      }
      return { $type: "blob", ref: { $link: link }, mimeType: blob.mimeType, size: blob.size };
    },
  };
}

/** The record as it is sent. One that breaks its lexicon is a bug here: it must never reach a PDS. */
function prepare(collection: string, value: object): JsonObject {
  const record = { ...value, $type: collection };
  const fault = findFault(collection, record);
  if (fault !== undefined) {
    throw new Error(`a ${collection} to be written breaks its lexicon: ${fault}`);
  }
  const json = toJson(record);
  if (!isObject(json)) throw new Error(`a ${collection} to be written is no object`);
  return json;
}

function toInput(write: Write) {
  const { collection, rkey } = write;
  switch (write.action) {
    case "create":
      return {
        $type: "com.atproto.repo.applyWrites#create" as const,
        collection,
        rkey,
        value: prepare(collection, write.value),
      };
    case "update":
      return {
        $type: "com.atproto.repo.applyWrites#update" as const,
        collection,
        rkey,
        value: prepare(collection, write.value),
      };
    case "delete":
      return { $type: "com.atproto.repo.applyWrites#delete" as const, collection, rkey };
  }
}
