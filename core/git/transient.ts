import { FreedMemory } from "./freed.ts";
import type { ObjectReader, Oid } from "./object.ts";
import { openStore } from "./store.ts";

const MEMORY = 16 << 20;
/** Who reads a whole history looks for oids everywhere: room for the places of 450,000. */
const PAGE_BYTES = 24 << 20;

/** Reads objects to be looked at once: what was read holds until `turn` is called. */
export interface TransientObjects extends Disposable {
  read: ObjectReader["read"];
  info: ObjectReader["info"];
  turn(): void;
}

/** Opens the packs of a bare repository for reading much of it once; what they lack is read from `others`. */
export function openTransient(dir: string, others: ObjectReader): TransientObjects {
  const memory = new FreedMemory(MEMORY);
  const store = openStore(dir, { memory, pageBytes: PAGE_BYTES });
  return {
    read: (oid: Oid) => store.read(oid) ?? others.read(oid),
    info: (oid: Oid) => store.info(oid) ?? others.info(oid),
    turn: () => memory.turn(),
    [Symbol.dispose]: () => store.close(),
  };
}
