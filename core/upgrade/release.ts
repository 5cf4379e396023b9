import { createPublicKey, verify } from "node:crypto";
import { CorruptError, NotFoundError, RefusedError } from "../errors.ts";
import { readFile, type Source } from "./source.ts";

/** The checksums of a release's files, one `sha256sum` line each. */
const SUMS = "SHA256SUMS";
/** The 64 bytes of an Ed25519 signature over that file. */
const SIGNATURE = "SHA256SUMS.sig";
const MOST_BYTES = 100_000;

/** What identifies a machine to a release. */
export interface Target {
  /** As node:process names them. */
  readonly platform: string;
  readonly arch: string;
}

/** The program of a release for one kind of machine. */
export interface ReleaseFile {
  readonly file: string;
  readonly version: string;
  /** In hex. */
  readonly sha256: string;
}

/**
 * Finds the program for a machine in a release that is signed for `key`, the base64 of an Ed25519 public key. The
 * signature covers names, which say the version and the machine, so no file can stand in for another.
 */
export async function findProgram(
  source: Source,
  { platform, arch }: Target,
  key: string,
): Promise<ReleaseFile> {
  const [sums, signature] = await Promise.all([
    readFile(source, SUMS, MOST_BYTES),
    readFile(source, SIGNATURE, MOST_BYTES),
  ]);
  if (!verify(null, sums, publicKey(key), signature)) {
    throw new RefusedError(`the release at ${source.name} is not signed for this knotless`, {
      code: "refused.signature",
    });
  }
  const system = platform === "win32" ? "windows" : platform;
  const files = readSums(new TextDecoder().decode(sums));
  const [file, ...others] = files.filter(({ machine }) => machine === `${system}-${arch}`);
  if (file === undefined) {
    const known = files.map(({ machine }) => machine).join(", ");
    throw new NotFoundError(
      `the release at ${source.name} has no program for ${system}-${arch}, only for ${
        known || "none"
      }`,
    );
  }
  if (others.length > 0) {
    throw new CorruptError(`the release at ${source.name} has two programs for ${file.machine}`);
  }
  return file;
}

const LINE =
  /^([0-9a-f]{64}) [ *](knotless-(\d{1,6}\.\d{1,6}\.\d{1,6})-([a-z0-9]+-[a-z0-9]+)(?:\.exe)?)$/;

/** The programs among the files; what else a release has is no matter here. */
function readSums(text: string): (ReleaseFile & { readonly machine: string })[] {
  return text.split("\n").flatMap((line) => {
    const [, sha256, file, version, machine] = LINE.exec(line) ?? [];
    return sha256 && file && version && machine ? [{ sha256, file, version, machine }] : [];
  });
}

function publicKey(key: string) {
  const x = Buffer.from(key, "base64").toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}
