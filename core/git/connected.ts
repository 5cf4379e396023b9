import { CorruptError } from "../errors.ts";
import { findModulesFaults } from "./check_modules.ts";
import { isGitmodules } from "./check_tree.ts";
import { parseCommit } from "./commit.ts";
import type { ObjectKind, ObjectReader, Oid } from "./object.ts";
import { parseTag } from "./tag.ts";
import { isGitlink } from "./tree.ts";
import { kindOf, TreeCursor } from "./walk.ts";

/**
 * Refuses, with a CorruptError that names it, an object that the tips lead to and that is missing or of another kind than
 * what leads to it says. Objects of which `have` tells that all they lead to is there are looked at, not into. Gives the
 * oids of the others.
 */
export function checkConnected(
  objects: ObjectReader,
  tips: Iterable<Oid>,
  { have }: { have(oid: Oid): boolean },
): ReadonlySet<Oid> {
  const walk = new Walk(objects, have);
  for (const tip of tips) walk.add(tip, undefined, undefined);
  walk.run();
  return walk.reached;
}

const MOST_MODULES = 1 << 20;

class Walk {
  readonly reached = new Set<Oid>();
  readonly #objects: ObjectReader;
  readonly #have: (oid: Oid) => boolean;
  readonly #kinds = new Map<Oid, ObjectKind>();
  readonly #pending: Oid[] = [];
  /** The `.gitmodules` that have been checked. */
  readonly #modules = new Set<Oid>();

  constructor(objects: ObjectReader, have: (oid: Oid) => boolean) {
    this.#objects = objects;
    this.#have = have;
  }

  /** Looks at an object and notes it, if it is met first, to be looked into; `from` leads to it as one of this kind. */
  add(oid: Oid, kind: ObjectKind | undefined, from: Oid | undefined): void {
    let actual = this.#kinds.get(oid);
    if (actual === undefined) {
      actual = this.#objects.info(oid)?.kind;
      if (actual === undefined) throw missing(oid, from);
      this.#kinds.set(oid, actual);
      if (!this.#have(oid)) {
        this.reached.add(oid);
        if (actual !== "blob") this.#pending.push(oid);
      }
    }
    if (kind !== undefined && actual !== kind) {
      throw new CorruptError(`${from} leads to ${oid} as a ${kind}, and it is a ${actual}`, {
        code: "corrupt.object",
        facts: { oid, from },
      });
    }
  }

  run(): void {
    for (let oid = this.#pending.pop(); oid !== undefined; oid = this.#pending.pop()) {
      const object = this.#objects.read(oid);
      if (object === undefined) throw missing(oid, undefined);
      if (object.kind === "commit") this.#addCommit(oid, object.bytes);
      else if (object.kind === "tree") this.#addTree(oid, object.bytes);
      else if (object.kind === "tag") {
        const tag = parseTag(object.bytes);
        this.add(tag.object, tag.kind, oid);
      }
    }
  }

  #addCommit(oid: Oid, bytes: Uint8Array): void {
    const { tree, parents } = parseCommit(bytes);
    for (const parent of parents) this.add(parent, "commit", oid);
    this.add(tree, "tree", oid);
  }

  #addTree(oid: Oid, bytes: Uint8Array): void {
    const cursor = new TreeCursor(bytes);
    while (cursor.next()) {
      if (isGitlink(cursor.mode)) continue;
      const entry = cursor.oid();
      this.add(entry, kindOf(cursor.mode), oid);
      if (isGitmodules(cursor.name())) this.#checkModules(entry);
    }
  }

  /** What a file is called decides whether its content is dangerous, so it cannot be told when the blob comes in. */
  #checkModules(oid: Oid): void {
    if (this.#modules.has(oid)) return;
    this.#modules.add(oid);
    const info = this.#objects.info(oid);
    const object = info && info.size <= MOST_MODULES ? this.#objects.read(oid) : undefined;
    if (object?.kind !== "blob") {
      throw new CorruptError(
        `${oid} is .gitmodules, and not a file of at most ${MOST_MODULES} bytes`,
      );
    }
    const [fault] = findModulesFaults(object.bytes);
    if (fault === undefined) return;
    throw new CorruptError(`the .gitmodules ${oid} ${fault.text}`, {
      code: "corrupt.object",
      facts: { oid, fault: fault.id },
    });
  }
}

function missing(oid: Oid, from: Oid | undefined): CorruptError {
  const by = from === undefined ? "" : `, which ${from} leads to,`;
  return new CorruptError(`the object ${oid}${by} is missing`, {
    code: "corrupt.missing",
    facts: { oid, ...(from !== undefined && { from }) },
  });
}
