import { CorruptError } from "../errors.ts";
import { isGitmodules } from "./check_name.ts";
import { parseCommit } from "./commit.ts";
import type { GitObject, ObjectKind, Oid } from "./object.ts";
import { OID_BYTES, oidAt, oidBytes } from "./oid.ts";
import { OidSet } from "./oid_set.ts";
import type { PackTable } from "./pack_table.ts";
import { parseTag } from "./tag.ts";
import { isGitlink } from "./tree.ts";
import { kindOf, TreeCursor } from "./walk.ts";

/** Is told of one object that another leads to: where its oid starts, its kind, and whether it is there as `.gitmodules`. */
export type Visit = (bytes: Uint8Array, at: number, kind: ObjectKind, isModules: boolean) => void;

/** Tells of everything that an object leads to, but not of the commits that submodules are at. */
export function visitLinks({ kind, bytes }: GitObject, visit: Visit): void {
  if (kind === "commit") {
    const { tree, parents } = parseCommit(bytes);
    for (const parent of parents) visit(oidBytes(parent), 0, "commit", false);
    visit(oidBytes(tree), 0, "tree", false);
  } else if (kind === "tag") {
    const tag = parseTag(bytes);
    visit(oidBytes(tag.object), 0, tag.kind, false);
  } else if (kind === "tree") {
    const cursor = new TreeCursor(bytes);
    while (cursor.next()) {
      if (isGitlink(cursor.mode)) continue;
      const isModules = isGitmodules(bytes, cursor.nameStart, cursor.nameEnd);
      visit(bytes, cursor.nameEnd + 1, kindOf(cursor.mode), isModules);
    }
  }
}

const KINDS: readonly ObjectKind[] = ["commit", "tree", "blob", "tag"];
/** A note has in its lower bits the kind that an object is, in those above the kind that others say it is. */
const IS = 7;
const SAID = 3;
/** Packs lead to few objects outside; what leads to more than so many, and four times its own, is not followed. */
const MOST_OUTSIDE = 100_000;

/**
 * What the objects of packs lead to, gathered as they are indexed: when everything they lead to is there, nothing needs to
 * be read again to know it. What cannot be gathered leaves the question open.
 */
export class Links {
  /** How many objects the packs have. */
  size = 0;
  /** The objects that are there as `.gitmodules`. */
  readonly modules = new Set<Oid>();
  readonly #seen = new OidSet();
  #notes = new Uint8Array(1024);
  #isOpen = false;
  #allowed = MOST_OUTSIDE;

  /** True when nothing is known, and only a walk can tell. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Gives up: objects have come whose links are not known. */
  giveUp(): void {
    this.#isOpen = true;
    this.modules.clear();
  }

  /** Makes room for what a pack of so many objects may lead to. */
  expect(objects: number): void {
    this.#allowed += objects * 4;
  }

  /** Notes what an object of a pack leads to. */
  note(object: GitObject): void {
    if (this.#isOpen || object.kind === "blob") return;
    try {
      visitLinks(object, this.#visit);
    } catch (error) {
      if (!(error instanceof CorruptError)) throw error;
      // Whether it matters depends on whether anything reaches it.
      this.giveUp();
    }
    if (this.#seen.size > this.#allowed) this.giveUp();
  }

  /** Notes which objects a pack has, once all of it has been made. */
  settle(table: PackTable): void {
    if (this.#isOpen) return;
    for (let entry = 0; entry < table.count; entry++) {
      const number = this.#number(table.oids, entry * OID_BYTES);
      const note = this.#notes[number] ?? 0;
      if ((note & IS) !== 0) continue;
      this.#notes[number] = note | codeOf(table.kind(entry) ?? "blob");
      this.size++;
    }
  }

  /** Tells whether the packs have the object. */
  has(oid: Oid): boolean {
    return ((this.#notes[this.#seen.find(oidBytes(oid), 0)] ?? 0) & IS) !== 0;
  }

  /** The objects of the packs. */
  *[Symbol.iterator](): Generator<Oid> {
    for (let number = 0; number < this.#seen.size; number++) {
      if (((this.#notes[number] ?? 0) & IS) !== 0) yield this.#seen.oid(number);
    }
  }

  /** What the packs' objects lead to and none of them is; or is, but as another kind. */
  *outside(): Generator<{ oid: Oid; kind: ObjectKind }> {
    for (let number = 0; number < this.#seen.size; number++) {
      const note = this.#notes[number] ?? 0;
      const kind = KINDS[(note >>> SAID) - 1];
      if (kind !== undefined && (note & IS) !== note >>> SAID) {
        yield { oid: this.#seen.oid(number), kind };
      }
    }
  }

  readonly #visit: Visit = (bytes, at, kind, isModules) => {
    const number = this.#number(bytes, at);
    const note = this.#notes[number] ?? 0;
    const said = codeOf(kind);
    if (note >>> SAID === 0) this.#notes[number] = note | said << SAID;
    else if (note >>> SAID !== said) this.giveUp();
    if (isModules) this.modules.add(oidAt(bytes, at));
  };

  #number(bytes: Uint8Array, at: number): number {
    const number = this.#seen.add(bytes, at);
    if (number >= this.#notes.length) {
      const longer = new Uint8Array(number * 2);
      longer.set(this.#notes);
      this.#notes = longer;
    }
    return number;
  }
}

function codeOf(kind: ObjectKind): number {
  return kind === "blob" ? 3 : kind === "tree" ? 2 : kind === "commit" ? 1 : 4;
}
