import { type Dirent, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { CorruptError } from "../errors.ts";
import { latin1 } from "./bytes.ts";
import { tooLarge } from "./delta.ts";
import { inflate, inflateStart } from "./inflate.ts";
import type { GitObject, ObjectKind, Oid } from "./object.ts";
import { isKind } from "./tag.ts";

const HEADER = 32;

/** The objects of a repository that are files of their own. */
export class LooseObjects {
  readonly #dir: string;
  readonly #objectBytes: number;
  #folders: ReadonlySet<string> = new Set();

  /** Looks in `dir`, which is the `objects` folder of a repository. */
  constructor(dir: string, objectBytes: number) {
    this.#dir = dir;
    this.#objectBytes = objectBytes;
    this.refresh();
  }

  /** Looks again which folders there are. */
  refresh(): void {
    this.#folders = new Set(
      names(this.#dir).filter(({ name }) => /^[0-9a-f]{2}$/.test(name)).map(({ name }) => name),
    );
  }

  /** Tells whether there is a file for the oid. */
  has(oid: Oid): boolean {
    return this.#folders.has(oid.slice(0, 2)) && existsSync(this.#path(oid));
  }

  /** Reads an object; undefined when there is none. */
  read(oid: Oid): GitObject | undefined {
    const file = this.#open(oid);
    if (file === undefined) return undefined;
    const { kind, size, start, bytes } = file;
    if (size > this.#objectBytes) throw tooLarge(size, this.#objectBytes);
    const whole = inflate(bytes, 0, start + size);
    if (whole === undefined) throw new CorruptError(`the object ${oid} is cut short`);
    return { kind, bytes: whole.bytes.subarray(start) };
  }

  /** Gives kind and size of an object; undefined when there is none. */
  info(oid: Oid): { kind: ObjectKind; size: number } | undefined {
    const file = this.#open(oid);
    return file && { kind: file.kind, size: file.size };
  }

  /** The oids that start with the prefix of at least 2 digits. */
  find(prefix: string): Oid[] {
    const folder = prefix.slice(0, 2);
    if (!this.#folders.has(folder)) return [];
    return names(join(this.#dir, folder))
      .map(({ name }) => folder + name)
      .filter((oid) => /^[0-9a-f]{40}$/.test(oid) && oid.startsWith(prefix));
  }

  #path(oid: Oid): string {
    return join(this.#dir, oid.slice(0, 2), oid.slice(2));
  }

  #open(
    oid: Oid,
  ): { kind: ObjectKind; size: number; start: number; bytes: Uint8Array } | undefined {
    if (!this.has(oid)) return undefined;
    const path = this.#path(oid);
    const { size: length } = statSync(path);
    if (length > this.#objectBytes + 4096) throw tooLarge(length, this.#objectBytes);
    const bytes = readFileSync(path);
    const head = inflateStart(bytes, 0, HEADER);
    const start = head.indexOf(0) + 1;
    const [, kind, digits] = /^([a-z]+) (0|[1-9][0-9]*)$/.exec(latin1(head, 0, start - 1)) ?? [];
    if (kind === undefined || !isKind(kind)) {
      throw new CorruptError(`the object ${oid} does not start with its kind and size`);
    }
    return { kind, size: Number(digits), start, bytes };
  }
}

function names(dir: string): Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
