import { Agent, XRPCError } from "@atproto/api";
import type { Refusal } from "./xrpc.ts";

/** The library's client for one account; `send` signs and sends its requests. */
export function openAgent(
  did: string,
  send: (path: string, init: RequestInit) => Promise<Response>,
): Agent {
  return new Agent({ did, fetchHandler: send });
}

/** What the library's error says; undefined for an error of another kind. */
export function readAgentError(
  error: unknown,
  host: string,
): Refusal & { readonly headers: Headers; readonly cause: unknown } | undefined {
  if (!(error instanceof XRPCError)) return undefined;
  const headers = new Headers();
  for (const [key, value] of Object.entries(error.headers ?? {})) {
    if (value !== undefined) headers.set(key, value);
  }
  return {
    host,
    status: error.status,
    name: error.error,
    message: error.message,
    headers,
    cause: error.cause,
  };
}
