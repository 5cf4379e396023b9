import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { META, metaOf, MODERN_VERSION } from "./era.ts";
import { CODE, type Json, ProtocolError } from "./message.ts";

const PATH = "/mcp";
const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

/** A request that is turned away before it is read. */
export interface Refusal {
  readonly status: number;
  readonly why: string;
}

/**
 * Refuses what does not come from a program of this machine that was told the token: a page of a browser, also one
 * whose name leads to this machine, or anyone who only found the port.
 */
export function refuseStranger(
  url: string,
  { host, origin, authorization }: IncomingHttpHeaders,
  token: string,
): Refusal | undefined {
  if (!LOCAL.test(host ?? "") || (origin !== undefined && !isLocalOrigin(origin))) {
    return { status: 403, why: "the host or the origin is not this machine" };
  }
  const [path = "", last] = url.replace(/\?.*$/s, "").split(/(?<=^\/mcp)\//);
  if (path !== PATH) return { status: 404, why: "there is nothing here" };
  const [, bearer] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
  if (isSame(last ?? bearer ?? "", token)) return undefined;
  return { status: 401, why: "the token is not the one this server was started with" };
}

function isLocalOrigin(origin: string): boolean {
  const [, host] = /^https?:\/\/(.+)$/i.exec(origin) ?? [];
  return host !== undefined && LOCAL.test(host);
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [given, token].map((text) => createHash("sha256").update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

/** Refuses a modern request whose headers do not say what its body says, so that what stands between may trust them. */
export function checkHeaders(
  method: string,
  params: Json,
  headers: IncomingHttpHeaders,
): void {
  const { [META.version]: version } = metaOf(params);
  // Without an envelope there is nothing to compare with, and that it is missing is the error.
  if (typeof version !== "string") return;
  compare("mcp-protocol-version", version, headers);
  if (version !== MODERN_VERSION) return;
  compare("mcp-method", method, headers);
  const named = method === "resources/read"
    ? params["uri"]
    : method === "tools/call" || method === "prompts/get"
    ? params["name"]
    : undefined;
  if (typeof named === "string") compare("mcp-name", named, headers);
}

function compare(name: string, wanted: string, headers: IncomingHttpHeaders): void {
  const given = headers[name];
  const value = typeof given === "string" ? decodeHeader(given.trim()) : undefined;
  if (value === wanted) return;
  throw new ProtocolError(
    CODE.headerMismatch,
    given === undefined ? `the header ${name} is missing` : `the header ${name} is not the body's`,
  );
}

/** A header's text: as it is, or base64 between two marks where it is more than a header holds. */
function decodeHeader(value: string): string | undefined {
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  if (base64 === undefined) return value;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(
      Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)),
    );
  } catch {
    return undefined;
  }
}
