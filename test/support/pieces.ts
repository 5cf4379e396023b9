import type { NetworkProxies } from "./proxy.ts";

/** The bytes of the pieces in which packs are sent, once that is said. */
export const PIECE = 50_000;

/** Has the PDS say that it takes small pieces, so that even a small pack is sent in many. */
export function limitPieces({ pds }: NetworkProxies): void {
  pds.inject({ nsid: "com.atproto.server.describeServer" }, {
    kind: "answer",
    status: 200,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ did: "did:web:localhost", blobUploadLimit: PIECE }),
  });
}
