import type { Oid } from "./object.ts";
import { OID_BYTES, oidBytes } from "./oid.ts";

/** What {@link OidSet.find} gives for an oid that is not in the set. */
export const NOT_IN_SET = -1;

const WORDS = OID_BYTES / 4;
const FIRST_SLOTS = 1024;

/**
 * A set of oids that takes some 30 bytes for each, and looks them up where they lie in an object without making text of
 * them. Each has a number: how many were added before it.
 */
export class OidSet {
  #size = 0;
  /** The oids in the order they came, five words each. */
  #names = new Int32Array(FIRST_SLOTS / 2 * WORDS);
  /** A hash table of the numbers, each one higher so that 0 is an empty place. */
  #slots = new Uint32Array(FIRST_SLOTS);

  /** How many oids there are. */
  get size(): number {
    return this.#size;
  }

  /** Tells whether the oid is in the set. */
  has(oid: Oid): boolean {
    return this.find(oidBytes(oid), 0) !== NOT_IN_SET;
  }

  /** Gives the number of the oid whose 20 bytes start at `at`, or `NOT_IN_SET`. */
  find(bytes: Uint8Array, at: number): number {
    return (this.#slots[this.#slotOf(bytes, at)] ?? 0) - 1;
  }

  /** Adds the oid whose 20 bytes start at `at`, unless it is there, and gives its number. */
  add(bytes: Uint8Array, at: number): number {
    let slot = this.#slotOf(bytes, at);
    const number = this.#slots[slot] ?? 0;
    if (number > 0) return number - 1;
    if (this.#size * 4 >= this.#slots.length * 3) {
      this.#spread();
      slot = this.#slotOf(bytes, at);
    }
    const name = this.#size * WORDS;
    if (name === this.#names.length) this.#lengthen();
    for (let i = 0; i < WORDS; i++) this.#names[name + i] = wordAt(bytes, at + i * 4);
    this.#slots[slot] = ++this.#size;
    return this.#size - 1;
  }

  /** The oid of a number. */
  oid(number: number): Oid {
    return this.bytes(number).toHex();
  }

  /** The same in binary. */
  bytes(number: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(OID_BYTES);
    const view = new DataView(bytes.buffer);
    for (let i = 0; i < WORDS; i++) view.setInt32(i * 4, this.#names[number * WORDS + i] ?? 0);
    return bytes;
  }

  /** The oids in the order they were added. */
  *[Symbol.iterator](): Generator<Oid> {
    for (let number = 0; number < this.#size; number++) yield this.oid(number);
  }

  /** Oids are hashes already: their first bytes spread them. */
  #slotOf(bytes: Uint8Array, at: number): number {
    const slots = this.#slots;
    const names = this.#names;
    const mask = slots.length - 1;
    const first = wordAt(bytes, at);
    for (let slot = first & mask;; slot = (slot + 1) & mask) {
      const number = slots[slot] ?? 0;
      if (number === 0) return slot;
      const name = (number - 1) * WORDS;
      if (
        names[name] === first && names[name + 1] === wordAt(bytes, at + 4) &&
        names[name + 2] === wordAt(bytes, at + 8) && names[name + 3] === wordAt(bytes, at + 12) &&
        names[name + 4] === wordAt(bytes, at + 16)
      ) return slot;
    }
  }

  /** The names grow by less than the table does: they are most of what the set takes. */
  #lengthen(): void {
    const names = new Int32Array(Math.ceil(this.#size * 1.25) * WORDS);
    names.set(this.#names);
    this.#names = names;
  }

  #spread(): void {
    const names = this.#names;
    const slots = new Uint32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let number = 0; number < this.#size; number++) {
      let slot = (names[number * WORDS] ?? 0) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) << 24 | (bytes[at + 1] ?? 0) << 16 | (bytes[at + 2] ?? 0) << 8 |
    (bytes[at + 3] ?? 0);
}
