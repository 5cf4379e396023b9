/**
 * Where the sandbox's handles are proved: `_atproto.HANDLE` over DNS, and over HTTP
 * `GET BASE/.well-known/atproto-did` with `x-forwarded-host: HANDLE`, in place of
 * `GET https://HANDLE/.well-known/atproto-did`. Without that header the Host header names the
 * handle. Both answer from what is so now, not from the accounts of the start.
 */
import { type DnsServer, startDns } from "./dns.ts";
import { listen, type Listener } from "./listen.ts";

/** Gives the DID of a handle. */
export type FindDid = (handle: string) => Promise<string | undefined>;

const label = "_atproto.";

/** Starts the DNS server. */
export function startHandleDns(port: number, find: FindDid): Promise<DnsServer> {
  return startDns(port, async (name) => {
    const did = name.startsWith(label) ? await find(name.slice(label.length)) : undefined;
    return did && `did=${did}`;
  });
}

/** Starts the server of well-known files. */
export function startHandleHttp(port: number, find: FindDid): Listener {
  return listen(port, async (request) => {
    const url = new URL(request.url);
    if (url.pathname !== "/.well-known/atproto-did") return new Response(null, { status: 404 });
    const handle = request.headers.get("x-forwarded-host") ?? url.hostname;
    const did = await find(handle.toLowerCase());
    return did ? new Response(did) : new Response("no such handle\n", { status: 404 });
  });
}
