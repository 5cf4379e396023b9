import type { ObjectReader, Oid } from "../git/object.ts";
import type { Chain } from "../git/pack_resolve.ts";
import type { Manifest, RefTarget } from "./manifest.ts";
import type { Verified } from "./verify.ts";

/** How old an answer from the mirror may be. */
export interface Freshness {
  /** Never ask the network. */
  readonly offline: boolean;
  /** Milliseconds since the last look at the owner's PDS; 0 looks each time. */
  readonly maxAge: number;
  /** Fails with the network, where the mirror would do otherwise. */
  readonly strict?: boolean;
}

/** A repository as its mirror holds it at one moment. */
export interface View {
  readonly head: string;
  readonly refs: ReadonlyMap<string, RefTarget>;
  readonly objects: ObjectReader;
  readonly generation: number;
  readonly cid: string;
  readonly checkedAt: number;
}

/** The manifest as the owner's PDS has it, and the repository as the mirror then holds it. */
export interface Latest {
  readonly manifest: Manifest;
  readonly view: View;
}

/** A pack as others are to have it. */
export interface Published {
  readonly sha256: string;
  readonly file: string;
  readonly bytes: number;
  readonly objects: number;
  /** Objects outside the pack that its deltas lean on. */
  readonly needs: readonly Oid[];
  /** Its deltas, when it leans on objects outside or is small. */
  readonly chains: readonly Chain[];
}

/** A pack that has been indexed and waits to be published and kept. */
export interface Received extends Published {
  /** The mirror's objects and the pack's. */
  readonly reader: ObjectReader;
  /** The folder it waits in, laid out as a bare repository's. */
  readonly folder: string;
  /** The git pack's name there. */
  readonly name: string;
  /** What refs reach of it once it is published. */
  readonly verified: Verified;
  /** Closes the pack's files; `reader` cannot be used afterwards. */
  close(): void;
}
