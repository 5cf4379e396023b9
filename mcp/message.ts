/** An id that a request may have. */
export type Id = string | number;

/** An object whose keys are not known. */
export type Json = Readonly<Record<string, unknown>>;

/** A message of JSON-RPC that this side sends. */
export interface Message {
  readonly jsonrpc: "2.0";
  readonly id?: Id | null;
  readonly method?: string;
  readonly params?: Json;
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The codes of errors, by the names JSON-RPC and MCP give them. */
export const CODE = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Up to 2025-11-25 only. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** An error of the protocol: the client is sent its code, message and data as they are. */
export class ProtocolError extends Error {
  override name = "ProtocolError";
  readonly code: number;
  readonly data: Json | undefined;
  constructor(code: number, message: string, data?: Json) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Tells whether a value is an object, and no list. */
export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as the id of a request; undefined when it is none. */
export function idOf(value: unknown): Id | undefined {
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}

/** The reply to a request that failed; the id is null where none could be read. */
export function errorReply(id: Id | undefined, { code, message, data }: ProtocolError): Message {
  return {
    jsonrpc: "2.0",
    id: id ?? null,
    error: { code, message, ...(data !== undefined && { data }) },
  };
}

/** The reply to what is no request at all. */
export function invalidRequest(id: Id | undefined, why: string): Message {
  return errorReply(id, new ProtocolError(CODE.invalidRequest, why));
}
