import { Buffer } from "node:buffer";
import { CorruptError } from "../errors.ts";
import { isObject, type JsonObject } from "./json.ts";
import type { BlobRef } from "./lexicons.gen.ts";

/** Nesting that no record needs: deeper data is refused. */
export const MAX_DEPTH = 64;

/** A value of the wire's JSON as records are in memory: `$bytes` become bytes; links stay `{ $link }`. */
export function fromJson(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new CorruptError("a record is nested too deeply");
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw new CorruptError("a record holds a number that is not an integer within 2^53");
  }
  if (Array.isArray(value)) return value.map((item) => fromJson(item, depth + 1));
  if (!isObject(value)) return value;
  const bytes = value["$bytes"];
  if (typeof bytes === "string" && Object.keys(value).length === 1) return decodeBytes(bytes);
  return mapObject(value, (item) => fromJson(item, depth + 1));
}

/** The wire's JSON for a value as records are in memory. Keeps nulls; leaves out what is undefined. */
export function toJson(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    const view = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return { $bytes: view.toString("base64").replace(/=+$/, "") };
  }
  if (Array.isArray(value)) return value.map(toJson);
  return isObject(value) ? mapObject(value, toJson) : value;
}

/** True for a blob as records name it. */
export function isBlobRef(value: unknown): value is BlobRef {
  return isObject(value) && value["$type"] === "blob" && isObject(value["ref"]) &&
    typeof value["ref"]["$link"] === "string" && typeof value["mimeType"] === "string" &&
    Number.isSafeInteger(value["size"]) && Number(value["size"]) >= 0;
}

/** Sets a key as JSON.parse does: `__proto__` is a key like any other. */
export function setKey(object: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  } else object[key] = value;
}

function mapObject(value: JsonObject, change: (item: unknown) => unknown): JsonObject {
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) setKey(result, key, change(item));
  }
  return result;
}

function decodeBytes(text: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    throw new CorruptError("a record holds bytes that are not base64");
  }
  return new Uint8Array(Buffer.from(text, "base64"));
}
