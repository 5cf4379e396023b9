/** An owner who writes what they like: records and packs made by hand and sent as they are. */
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { concat } from "../../core/git/bytes.ts";
import { formatEntryHeader } from "../../core/git/entry.ts";
import { hashObject } from "../../core/git/hash.ts";
import type { ObjectKind, Oid } from "../../core/git/object.ts";
import { sealPack } from "../../core/git/write_pack.ts";
import type { Account } from "../../scripts/sandbox/state.ts";
import type { Network } from "./network.ts";

/** Any JSON object. */
// deno-lint-ignore no-explicit-any
export type Json = Record<string, any>;

/** A record that was written. */
export interface Written {
  readonly uri: string;
  readonly cid: string;
  readonly rkey: string;
}

export interface Owner {
  readonly account: Account;
  create(collection: string, value: Json): Promise<Written>;
  put(collection: string, rkey: string, value: Json): Promise<Written>;
  delete(collection: string, rkey: string): Promise<void>;
  upload(bytes: Uint8Array): Promise<Json>;
  get(collection: string, rkey: string): Promise<{ cid: string; value: Json }>;
  list(collection: string): Promise<{ uri: string; value: Json }[]>;
  /** Puts a refs record with these fields put in, one generation up unless they say which; undefined takes one away. */
  publish(rkey: string, fields: Json): Promise<Written>;
}

let ticks = 0;

/** Gives a TID that no other call gave. */
export function freshTid(): string {
  let number = BigInt(Date.now()) * 1_000_000n + BigInt(ticks++ % 1000);
  let text = "";
  for (let i = 0; i < 13; i++, number >>= 5n) {
    text = "234567abcdefghijklmnopqrstuvwxyz"[Number(number & 31n)] + text;
  }
  return text;
}

/** Signs an account of the network in. */
export async function openOwner({ pds }: Network, account: Account): Promise<Owner> {
  const call = async (method: string, init: RequestInit, query = ""): Promise<Json> => {
    const response = await fetch(`${pds}/xrpc/com.atproto.${method}${query}`, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method}: ${response.status} ${text}`);
    return text === "" ? {} : JSON.parse(text);
  };
  const { did: repo, handle, password } = account;
  const { accessJwt } = await call("server.createSession", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ identifier: handle, password }),
  });
  const authorization = `Bearer ${accessJwt}`;
  const post = (method: string, input: Json) =>
    call(`repo.${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization },
      body: JSON.stringify({ repo, ...input }),
    });
  const written = ({ uri, cid }: Json): Written => ({ uri, cid, rkey: uri.split("/").at(-1) });
  const owner: Owner = {
    account,
    create: async (collection, value) =>
      written(
        await post("createRecord", { collection, record: { $type: collection, ...value } }),
      ),
    put: async (collection, rkey, value) =>
      written(
        await post("putRecord", { collection, rkey, record: { $type: collection, ...value } }),
      ),
    delete: async (collection, rkey) => void await post("deleteRecord", { collection, rkey }),
    upload: async (bytes) => {
      const { blob } = await call("repo.uploadBlob", {
        method: "POST",
        headers: { "content-type": "application/octet-stream", authorization },
        body: Uint8Array.from(bytes),
      });
      return blob;
    },
    get: async (collection, rkey) => {
      const query = `?repo=${repo}&collection=${collection}&rkey=${rkey}`;
      const { cid, value } = await call("repo.getRecord", {}, query);
      return { cid, value };
    },
    list: async (collection) =>
      (await call("repo.listRecords", {}, `?repo=${repo}&collection=${collection}&limit=100`))
        .records,
    publish: async (rkey, fields) => {
      const { cid, value } = await owner.get("dev.knotless.refs", rkey);
      return await owner.put("dev.knotless.refs", rkey, {
        ...value,
        generation: value.generation + 1,
        prev: cid,
        id: freshTid(),
        ...fields,
      });
    },
  };
  return owner;
}

/** An object as a pack has it: whole, a delta, or whatever bytes. */
export type Entry = Uint8Array;

/** An object whole; `size` and `data` may be others than its own. */
export function whole(
  kind: ObjectKind,
  bytes: Uint8Array,
  { size = bytes.length, data = deflateSync(bytes) }: { size?: number; data?: Uint8Array } = {},
): Entry {
  return concat([Uint8Array.from(formatEntryHeader(kind, size)), data]);
}

/** A delta on the object with an oid, or on what starts so many bytes before. */
export function deltaOn(base: Oid | number, delta: Uint8Array): Entry {
  return concat([
    Uint8Array.from(formatEntryHeader(base, delta.length)),
    deflateSync(delta),
  ]);
}

/** A delta that makes `to` of an object of `size` bytes without using any. */
export function insertDelta(size: number, to: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [Uint8Array.from([...varint(size), ...varint(to.length)])];
  for (let at = 0; at < to.length; at += 127) {
    const some = to.subarray(at, at + 127);
    parts.push(Uint8Array.of(some.length), some);
  }
  return concat(parts);
}

/** A number as a delta has it. */
export function varint(number: number): number[] {
  const bytes: number[] = [];
  for (; number > 127; number = Math.floor(number / 128)) bytes.push(number % 128 + 128);
  return [...bytes, number];
}

/** A pack of entries, with the trailer they should have. */
export function packOf(...entries: Entry[]): Uint8Array {
  return sealPack(entries.length, entries);
}

/** A pack with its trailer made right again. */
export function reseal(pack: Uint8Array): Uint8Array {
  const body = pack.subarray(0, -20);
  return concat([body, createHash("sha1").update(body).digest()]);
}

/** The entry of a manifest's tail for a pack. */
export function tailEntry(pack: Uint8Array, fields: Json = {}): Json {
  return {
    bytes: { $bytes: Buffer.from(pack).toString("base64").replace(/=+$/, "") },
    sha256: sha256(pack),
    needs: [],
    ...fields,
  };
}

/** Bytes that do not compress and are like no others. */
export function noise(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  // No more than this is given at once.
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A blob, a tree or a commit made by hand, with its oid and its entry. */
export interface Handmade {
  readonly oid: Oid;
  readonly kind: ObjectKind;
  readonly bytes: Uint8Array;
  readonly entry: Entry;
}

export function handmade(kind: ObjectKind, content: Uint8Array | string): Handmade {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return { oid: hashObject(kind, bytes), kind, bytes, entry: whole(kind, bytes) };
}

/** A tree of entries in the order given. */
export function tree(...entries: readonly (readonly [mode: string, name: string, oid: Oid])[]) {
  return handmade(
    "tree",
    concat(entries.flatMap(([mode, name, oid]) => [
      new TextEncoder().encode(`${mode} ${name}\0`),
      Uint8Array.fromHex(oid),
    ])),
  );
}

/** A commit of a tree. */
export function commit(treeOid: Oid, ...parents: Oid[]) {
  const person = "Eve <eve@example.com> 1700000000 +0000";
  return handmade(
    "commit",
    [
      `tree ${treeOid}`,
      ...parents.map((parent) => `parent ${parent}`),
      `author ${person}`,
      `committer ${person}`,
      "",
      "crafted",
      "",
    ].join("\n"),
  );
}
