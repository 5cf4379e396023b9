import { AuthError, ConflictError, KnotlessError, quote, RemoteError } from "../errors.ts";
import { inactiveError, rateLimited, type Refusal, refusedError } from "./xrpc.ts";

/** The error for a write that was refused, or of which nothing was heard. */
export function writeError(
  said: Refusal & { readonly headers: Headers; readonly cause: unknown },
  did: string,
): unknown {
  const { host, status, name, message, headers, cause } = said;
  if (cause instanceof RemoteError) return mayHaveArrived(cause) ? inDoubt(cause, host) : cause;
  if (cause instanceof KnotlessError) return cause;
  // The library's own numbers: nothing was answered, or nothing that it understands.
  if (status === 1) return cause;
  if (status === 2) return inDoubt(refusedError({ ...said, status: 200 }, headers), host);
  const inactive = inactiveError(host, did, name);
  if (inactive !== undefined) return inactive;
  if (status === 429) return rateLimited(host, headers);
  if (name === "InvalidSwap") {
    return new ConflictError(`another write came first: ${quote(message)}`, {
      code: "conflict.swap",
    });
  }
  if (name === "BlobNotFound") {
    return new RemoteError(
      `${quote(host)} no longer has a blob that was uploaded: ${quote(message)}`,
      {
        host,
        status,
        code: "remote.blob_missing",
      },
    );
  }
  if (name === "ScopeMissingError" || name === "insufficient_scope") {
    return scopeError(message, did);
  }
  if (status === 401 || name === "ExpiredToken" || name === "InvalidToken") {
    return new AuthError("ended", `${quote(host)} no longer takes the login of ${did}`, {
      account: did,
    });
  }
  if (status === 413 || name === "BlobTooLarge") {
    return new RemoteError(`${quote(host)} does not take as much: ${quote(message)}`, {
      host,
      status,
      code: "remote.too_large",
      retryable: false,
    });
  }
  const refused = refusedError(said, headers);
  // A PDS answers 500 to a create where a record is, and may have done what a proxy before it gave up on.
  return refused.status !== undefined && refused.status >= 500 ? inDoubt(refused, host) : refused;
}

/** The error for a login that may not do this; names the scope it lacks. */
export function scopeError(message: string, did: string): AuthError {
  const scope = /"([^"]{1,200})"/.exec(message)?.[1] ?? message;
  return new AuthError("scope", `the login lacks the scope ${quote(scope)}`, {
    facts: { scope },
    account: did,
  });
}

function mayHaveArrived({ code }: RemoteError): boolean {
  return code === "remote.lost" || code === "remote.timeout";
}

function inDoubt(cause: RemoteError, host: string): RemoteError {
  const { message, status } = cause;
  return new RemoteError(`${message}: it may have been written`, {
    host,
    cause,
    status,
    code: "remote.doubt",
  });
}
