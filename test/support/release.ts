/** Releases as they are published: programs, their checksums, and a signature over those. */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

/** A pair of keys to sign releases with. */
export interface Signer {
  /** As a program has it compiled in. */
  readonly key: string;
  sign(bytes: Uint8Array): Uint8Array;
}

/** Makes a pair of keys. */
export function createSigner(): Signer {
  const { privateKey } = generateKeyPairSync("ed25519");
  return { key: keyOf(privateKey), sign: (bytes) => sign(null, bytes, privateKey) };
}

/** A program that says a version, and nothing else. */
export function programOf(version: string): string {
  return `#!/bin/sh\necho knotless ${version}\n`;
}

/** The name a program for this machine has in a release. */
export function nameOf(version: string): string {
  return `knotless-${version}-${process.platform}-${process.arch}`;
}

/** Writes a release of these programs into a folder, or of what its checksums are to say in their place. */
export async function writeRelease(
  folder: string,
  signer: Signer,
  programs: Readonly<Record<string, string>>,
  sums: string = Object.entries(programs).map(([name, text]) => sumLine(name, text)).join(""),
): Promise<void> {
  for (const [name, text] of Object.entries(programs)) await writeFile(join(folder, name), text);
  const bytes = new TextEncoder().encode(sums);
  await writeFile(join(folder, "SHA256SUMS"), bytes);
  await writeFile(join(folder, "SHA256SUMS.sig"), signer.sign(bytes));
}

/** A line of the checksums. */
export function sumLine(name: string, text: string): string {
  return `${createHash("sha256").update(text).digest("hex")}  ${name}\n`;
}

function keyOf(privateKey: KeyObject): string {
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  return Buffer.from(x, "base64url").toString("base64");
}
