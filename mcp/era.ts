import { CODE, isObject, type Json, ProtocolError } from "./message.ts";

/**
 * How a request is to be understood: `legacy` as in a session that `initialize` began (up to 2025-11-25), `modern` by
 * itself, with an envelope in its `_meta` (2026-07-28). Clients mix them on one connection, so each message tells.
 */
export type Era = "legacy" | "modern";

/** The version whose requests stand for themselves. */
export const MODERN_VERSION = "2026-07-28";

const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

/** The keys in `_meta` that the protocol itself uses. */
export const META = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  serverInfo: "io.modelcontextprotocol/serverInfo",
} as const;

/** How this program is called, and its version. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

/** The `_meta` of a request's parameters; empty where there is none. */
export function metaOf(params: Json): Json {
  return isObject(params["_meta"]) ? params["_meta"] : {};
}

/** Tells which era a request is of. */
export function eraOf(method: string, params: Json): Era {
  const meta = metaOf(params);
  const isModern = method === "server/discover" || META.version in meta ||
    META.capabilities in meta;
  return isModern ? "modern" : "legacy";
}

/** Tells whether a version is one whose sessions `initialize` begins. */
export function isLegacyVersion(version: unknown): boolean {
  return LEGACY_VERSIONS.some((known) => known === version);
}

/** The version a session gets that asks for `asked`: that one, or the newest where it is not known. */
export function negotiate(asked: unknown): string {
  return LEGACY_VERSIONS.find((known) => known === asked) ?? LEGACY_VERSIONS[0];
}

/** Refuses a modern request whose envelope is not whole, or of a version that is not spoken here. */
export function checkEnvelope(params: Json): void {
  const { [META.version]: version, [META.capabilities]: capabilities } = metaOf(params);
  if (typeof version !== "string") throw missing(META.version);
  if (version !== MODERN_VERSION) {
    throw new ProtocolError(
      CODE.unsupportedVersion,
      `the protocol version is not supported: this server speaks ${MODERN_VERSION}`,
      { supported: [MODERN_VERSION], requested: version },
    );
  }
  if (!isObject(capabilities)) throw missing(META.capabilities);
}

function missing(key: string): ProtocolError {
  return new ProtocolError(CODE.invalidParams, `params._meta["${key}"] is missing`);
}

/** How long a client may keep each list, which no call changes. */
const LIST_TTL_MS = 3_600_000;

/** The methods whose modern results say how long they keep, and for whom. */
const KEPT: Readonly<Record<string, Json>> = {
  "server/discover": { ttlMs: LIST_TTL_MS, cacheScope: "public" },
  "tools/list": { ttlMs: LIST_TTL_MS, cacheScope: "public" },
  "prompts/list": { ttlMs: LIST_TTL_MS, cacheScope: "public" },
  "resources/list": { ttlMs: LIST_TTL_MS, cacheScope: "public" },
  "resources/templates/list": { ttlMs: LIST_TTL_MS, cacheScope: "public" },
  "resources/read": { ttlMs: 0, cacheScope: "private" },
};

/** A result with what the modern era wants in each. */
export function stamp(method: string, result: Json, info: ServerInfo): Json {
  return {
    resultType: "complete",
    ...KEPT[method],
    ...result,
    _meta: { ...metaOf(result), [META.serverInfo]: info },
  };
}
