import { Buffer } from "node:buffer";
import { createHash, webcrypto } from "node:crypto";
import type { JsonObject } from "./json.ts";

/** What a proof is bound to. */
export interface Proof {
  readonly method: string;
  /** Without its query. */
  readonly url: URL;
  readonly accessToken: string;
  /** The nonce that the server gave last. */
  readonly nonce: string | undefined;
  /** Seconds since 1970. */
  readonly now: number;
  /** Different in each proof. */
  readonly id: string;
}

/** Signs proofs of possession of a P-256 key, as RFC 9449 has them. */
export async function openProver(jwk: JsonObject): Promise<(proof: Proof) => Promise<string>> {
  const { kty, crv, x, y, d } = jwk;
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const secret = { kty: String(kty), crv: String(crv), x: String(x), y: String(y), d: String(d) };
  const key = await webcrypto.subtle.importKey("jwk", secret, algorithm, false, ["sign"]);
  const head = encode({ alg: "ES256", typ: "dpop+jwt", jwk: { kty, crv, x, y } });
  return async ({ method, url, accessToken, nonce, now, id }) => {
    const claims = {
      jti: id,
      iat: now,
      htm: method,
      htu: url.origin + url.pathname,
      ath: createHash("sha256").update(accessToken).digest("base64url"),
      ...(nonce !== undefined && { nonce }),
    };
    const text = `${head}.${encode(claims)}`;
    const signature = await webcrypto.subtle.sign(algorithm, key, Buffer.from(text));
    return `${text}.${Buffer.from(signature).toString("base64url")}`;
  };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
