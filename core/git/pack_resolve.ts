import { CorruptError } from "../errors.ts";
import { applyDelta } from "./delta.ts";
import { readData } from "./entry_data.ts";
import type { PositionedFile } from "./file.ts";
import type { GitObject, ObjectKind, Oid } from "./object.ts";
import { missingBase } from "./pack.ts";
import type { PackLimits, ParsedPack, Taker } from "./pack_parse.ts";
import { tooMuch } from "./pack_receive.ts";
import { NONE } from "./pack_table.ts";

/** An object whose deltas are being resolved. */
interface Frame {
  readonly entry: number;
  readonly kind: ObjectKind;
  readonly depth: number;
  readonly children: readonly number[];
  next: number;
  /** Undefined once memory was short: it is then made again. */
  bytes: Uint8Array | undefined;
}

/** A delta of a pack. */
export interface Chain {
  readonly oid: Oid;
  /** How many deltas it is away from a whole object. */
  readonly depth: number;
  /** That object, when it is outside the pack. */
  readonly outer: Oid | undefined;
}

/** Objects that wait for their other deltas take up to this many bytes. */
const HELD = 64 << 20;
/** How much more than the pack's own objects may be made, when memory was short. */
const MOST_AGAIN = 4;

/** The second pass over a pack: makes what its deltas stand for, each once where memory allows. */
export class DeltaResolver {
  /** The objects outside the pack that deltas are made on. */
  readonly outer: Oid[] = [];
  readonly #file: PositionedFile;
  readonly #parsed: ParsedPack;
  readonly #limits: PackLimits;
  readonly #taker: Taker;
  readonly #findBase: (oid: Oid) => GitObject | undefined;
  /** What the entries made on an object outside the pack, and the deltas on those, start from. */
  #root: { oid: Oid; object: GitObject } | undefined;
  /** For each entry whose chain ends outside the pack, one more than the place of that end in `outer`. */
  #roots: Int32Array | undefined;
  #stack: Frame[] = [];
  #held = 0;
  #again = 0;

  constructor(
    file: PositionedFile,
    parsed: ParsedPack,
    limits: PackLimits,
    taker: Taker,
    findBase: (oid: Oid) => GitObject | undefined,
  ) {
    this.#file = file;
    this.#parsed = parsed;
    this.#limits = limits;
    this.#taker = taker;
    this.#findBase = findBase;
  }

  /** Resolves all deltas and gives control back after each; one whose base is nowhere is a CorruptError. */
  *run(): Generator<number> {
    const { table, named } = this.#parsed;
    for (let entry = 0; entry < table.count; entry++) {
      const kind = table.bases[entry] === NONE ? table.kind(entry) : undefined;
      if (kind === undefined || table.depths[entry] !== 0) continue;
      const children = this.#childrenOf(entry);
      if (children.length > 0) yield* this.#descend(entry, kind, 0, children, undefined);
    }
    for (const oid of [...named.keys()].sort()) {
      const children = named.get(oid);
      if (children === undefined) continue;
      const object = this.#findBase(oid);
      if (object === undefined) continue;
      named.delete(oid);
      this.#root = { oid, object };
      this.outer.push(oid);
      yield* this.#descend(NONE, object.kind, 0, children, object.bytes);
    }
    const [missing] = [...named.keys()].sort();
    if (missing !== undefined) throw missingBase(missing);
  }

  /** Resolves what hangs on an object, depth first; the last delta of each replaces it, so that a plain chain holds one object. */
  *#descend(
    entry: number,
    kind: ObjectKind,
    depth: number,
    children: readonly number[],
    bytes: Uint8Array | undefined,
  ): Generator<number> {
    this.#push({ entry, kind, depth, children, next: 0, bytes });
    for (let frame = this.#stack.at(-1); frame !== undefined; frame = this.#stack.at(-1)) {
      const child = frame.children[frame.next++] ?? NONE;
      const base = frame.bytes ?? this.#make(frame.entry);
      if (frame.next === frame.children.length) this.#pop();
      else this.#keep(frame, base);
      const made = this.#apply(base, child);
      this.#settle(frame, child, made);
      const grandchildren = this.#childrenOf(child);
      if (grandchildren.length > 0) {
        this.#push({
          entry: child,
          kind: frame.kind,
          depth: frame.depth + 1,
          children: grandchildren,
          next: 0,
          bytes: made,
        });
      }
      yield made.length;
    }
  }

  #settle(frame: Frame, child: number, made: Uint8Array): void {
    const { table } = this.#parsed;
    const depth = frame.depth + 1;
    if (depth > this.#limits.depth) {
      throw tooMuch(`has a chain of more than ${this.#limits.depth} deltas`);
    }
    table.bases[child] = frame.entry;
    table.depths[child] = depth;
    table.identify(child, frame.kind, this.#taker.take(frame.kind, made));
    if (this.#root === undefined) return;
    this.#roots ??= new Int32Array(table.count);
    this.#roots[child] = this.outer.length;
  }

  /** The deltas of the pack once all are resolved. */
  *chains(): Generator<Chain> {
    const { table } = this.#parsed;
    for (let entry = 0; entry < table.count; entry++) {
      const depth = table.depths[entry] ?? 0;
      if (depth === 0) continue;
      yield { oid: table.oid(entry), depth, outer: this.outer[(this.#roots?.[entry] ?? 0) - 1] };
    }
  }

  /** The deltas on an entry, those that nothing hangs on first. */
  #childrenOf(entry: number): number[] {
    const { table, named } = this.#parsed;
    const leaves: number[] = [];
    const others: number[] = [];
    for (
      let child = table.firstChild[entry] ?? NONE;
      child !== NONE;
      child = table.nextChild[child] ?? NONE
    ) {
      (table.firstChild[child] === NONE ? leaves : others).push(child);
    }
    if (named.size > 0) {
      const oid = table.oid(entry);
      const more = named.get(oid);
      if (more !== undefined) {
        named.delete(oid);
        others.push(...more);
      }
    }
    return leaves.length === 0 ? others : leaves.concat(others);
  }

  #apply(base: Uint8Array, entry: number): Uint8Array {
    const { deltas } = this.#parsed;
    const kept = deltas.get(entry);
    return applyDelta(base, kept ?? this.#data(entry), this.#limits.objectBytes);
  }

  #data(entry: number): Uint8Array {
    const { offsets, headerLengths, sizes } = this.#parsed.table;
    const at = (offsets[entry] ?? 0) + (headerLengths[entry] ?? 0);
    return readData(this.#file, at, offsets[entry + 1] ?? 0, sizes[entry] ?? 0).bytes;
  }

  /** Makes an object again, from the nearest whole one below it. */
  #make(entry: number): Uint8Array {
    const { table } = this.#parsed;
    const chain: number[] = [];
    let at = entry;
    while (at !== NONE && table.depths[at] !== 0) {
      chain.push(at);
      at = table.bases[at] ?? NONE;
    }
    let bytes = at === NONE ? this.#root?.object.bytes : this.#data(at);
    if (bytes === undefined) throw new CorruptError("a delta has no base");
    for (let next = chain.pop(); next !== undefined; next = chain.pop()) {
      bytes = this.#apply(bytes, next);
      this.#again += bytes.length;
      if (this.#again > this.#limits.totalBytes * MOST_AGAIN) {
        throw tooMuch("has deltas that take more memory than can be given");
      }
    }
    return bytes;
  }

  #push(frame: Frame): void {
    this.#stack.push(frame);
    this.#held += frame.bytes?.length ?? 0;
    for (const below of this.#stack) {
      if (this.#held <= HELD) return;
      if (below === frame || below.bytes === undefined) continue;
      this.#held -= below.bytes.length;
      below.bytes = undefined;
    }
  }

  #pop(): void {
    this.#held -= this.#stack.pop()?.bytes?.length ?? 0;
  }

  #keep(frame: Frame, bytes: Uint8Array): void {
    if (frame.bytes !== undefined) return;
    frame.bytes = bytes;
    this.#held += bytes.length;
  }
}
