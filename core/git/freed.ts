import type { GitObject } from "./object.ts";

/** What the map takes for an object. */
const ENTRY = 100;

/**
 * Keeps the objects used last, as a `ByteCache` does, in memory that is given back at once when they are dropped, and not
 * when the runtime comes to it. Drops nothing but in `turn`: until then all that was given holds.
 */
export class FreedMemory {
  readonly #half: number;
  #young = new Map<number, GitObject>();
  #old = new Map<number, GitObject>();
  #youngSize = 0;
  /** What was given since the last turn and is not kept. */
  readonly #loose = new Set<ArrayBuffer>();

  /** Keeps about `bytes`, and what is read between two turns. */
  constructor(bytes: number) {
    this.#half = bytes / 2;
  }

  /** The object kept under the key, if it still is. */
  get(key: number): GitObject | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.#old.delete(key);
    this.#keep(key, old);
    return old;
  }

  /** Keeps an object, unless it would take much of the room. */
  set(key: number, { kind, bytes }: GitObject): void {
    if (bytes.length > this.#half / 4 || this.#young.has(key)) return;
    const { buffer } = bytes;
    const isOurs = buffer instanceof ArrayBuffer && this.#loose.delete(buffer);
    this.#keep(key, { kind, bytes: isOurs ? bytes : new Uint8Array(bytes) });
  }

  /** Memory for an object's bytes. */
  room(size: number): Uint8Array<ArrayBuffer> {
    const buffer = new ArrayBuffer(size);
    this.#loose.add(buffer);
    return new Uint8Array(buffer);
  }

  /** Says that nothing of what was given is looked at any more. */
  turn(): void {
    this.#loose.forEach(free);
    this.#loose.clear();
    if (this.#youngSize <= this.#half) return;
    this.#dropOld();
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngSize = 0;
  }

  /** Forgets everything. */
  clear(): void {
    this.#loose.forEach(free);
    this.#loose.clear();
    this.#dropOld();
    for (const { bytes } of this.#young.values()) free(bytes.buffer);
    this.#young.clear();
    this.#youngSize = 0;
  }

  #keep(key: number, object: GitObject): void {
    this.#young.set(key, object);
    this.#youngSize += object.bytes.length + ENTRY;
  }

  #dropOld(): void {
    for (const { bytes } of this.#old.values()) free(bytes.buffer);
    this.#old.clear();
  }
}

function free(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
