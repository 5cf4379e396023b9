import { createHash } from "node:crypto";
import { readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BlameRun } from "../git/blame.ts";
import { sameBytes } from "../git/bytes.ts";
import type { FilePatch } from "../git/diff.ts";
import type { MergeOutcome } from "../git/merge.ts";
import type { ObjectReader, Oid } from "../git/object.ts";
import { BASES, BLAMES, type Form, MERGES, PATCHES } from "./answer_forms.ts";
import { type Column, ColumnFile, type Format, packColumns, placeFile } from "./columns.ts";
import { Recent } from "./recent.ts";

const FOLDER = "answers";
const LAYOUT = 1;
/** A file takes up at least this much of a disk. */
const BLOCK = 4096;

/** How much answers may take up: bytes of one kind in memory; bytes and files of all kinds on disk. */
export interface Room {
  readonly memory: number;
  readonly disk: number;
  readonly files: number;
}

const ROOM: Room = { memory: 4 << 20, disk: 32 << 20, files: 512 };

/**
 * Answers of one kind that follow from oids alone, so that they never grow stale: those used last are kept in memory,
 * and in files beside the mirror. A file that is not as it was written is no answer.
 */
export class Answers<V> {
  readonly #folder: string;
  readonly #engine: string;
  readonly #form: Form<V>;
  readonly #format: Format;
  readonly #room: Room;
  readonly #recent: Recent<V>;

  /** Opens the answers beside the mirror at `path` that `engine`, a version of this program, gave. */
  constructor(path: string, engine: string, form: Form<V>, room: Room) {
    this.#folder = join(path, FOLDER);
    this.#engine = engine;
    this.#form = form;
    this.#format = { version: LAYOUT, columns: form.columns + 1 };
    this.#room = room;
    this.#recent = new Recent(room.memory);
  }

  /** The answer kept under the key; it counts as used `now`. */
  get(key: string, now: Date): V | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const path = this.#pathOf(key);
    const answer = this.#read(path, key);
    if (answer === undefined) return undefined;
    touch(path, now);
    this.#recent.set(key, answer, this.#form.memory(answer));
    return answer;
  }

  /** Keeps an answer, and in a file where it took so much work that reading one costs less. */
  async set(
    key: string,
    answer: V,
    { now, isCostly }: { now: Date; isCostly: boolean },
  ): Promise<void> {
    this.#recent.set(key, answer, this.#form.memory(answer));
    if (!isCostly) return;
    const columns = this.#form.write(answer);
    const bytes = columns.reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (bytes > this.#room.disk / 4) return;
    try {
      await this.#write(key, columns, now);
      sweep(this.#folder, this.#room);
    } catch (error) {
      // What cannot be kept is found out again next time.
      if (!(error instanceof Error && "code" in error)) throw error;
    }
  }

  async #write(key: string, columns: readonly Column[], now: Date): Promise<void> {
    const seal = this.#seal(key, columns);
    const packed = await packColumns(this.#format, 1, [seal, ...columns]);
    await mkdir(this.#folder).catch(() => undefined);
    // The seal tells what a power cut leaves, so there is no waiting for the disk.
    await placeFile(this.#pathOf(key), async (temporary) => {
      await writeFile(temporary, packed);
      await utimes(temporary, now, now);
    });
  }

  #read(path: string, key: string): V | undefined {
    const file = ColumnFile.open(path, this.#format);
    if (file === undefined) return undefined;
    try {
      const columns = Array.from({ length: this.#form.columns }, (_, at) => file.bytes(at + 1));
      if (!sameBytes(file.bytes(0), this.#seal(key, columns))) return undefined;
      return this.#form.read(columns);
    } catch {
      return undefined;
    } finally {
      file.close();
    }
  }

  /** Ties an answer to its question: a file under another's name is not as it was written either. */
  #seal(key: string, columns: readonly Column[]): Uint8Array {
    const hash = createHash("sha256").update(this.#named(key));
    for (const { buffer, byteOffset, byteLength } of columns) {
      hash.update(` ${byteLength} `).update(new Uint8Array(buffer, byteOffset, byteLength));
    }
    // A Buffer would be packed as what it is.
    return new Uint8Array(hash.digest());
  }

  #pathOf(key: string): string {
    return join(this.#folder, createHash("sha1").update(this.#named(key)).digest("hex"));
  }

  #named(key: string): string {
    return `${this.#engine} ${this.#form.name} ${key}`;
  }
}

/** Marks a file as used; where that is not allowed, it is the sooner taken away. */
function touch(path: string, now: Date): void {
  try {
    utimesSync(path, now, now);
  } catch {
    // Another process may have taken it away.
  }
}

/** Takes away what was used longest ago, until what is left has room; what a writer that ended early left, nobody uses. */
function sweep(folder: string, room: Room): void {
  const files = readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const there = statSync(path, { throwIfNoEntry: false });
    return there ? [{ path, used: there.mtimeMs, bytes: Math.max(there.size, BLOCK) }] : [];
  });
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  let count = files.length;
  for (const file of files.sort((one, other) => one.used - other.used)) {
    if (bytes <= room.disk && count <= room.files) break;
    rmSync(file.path, { recursive: true, force: true });
    bytes -= file.bytes;
    count--;
  }
}

/** The answers beside one mirror. */
export interface MirrorAnswers {
  /** Who changed the lines of a file. */
  readonly blames: Answers<readonly BlameRun[]>;
  /** What differs between two trees. */
  readonly patches: Answers<readonly FilePatch[]>;
  /** The first merge base of two commits. */
  readonly bases: Answers<{ readonly base: Oid | undefined }>;
  /** What merges come to. */
  readonly merges: Answers<MergeOutcome>;
}

const opened = new WeakMap<ObjectReader, MirrorAnswers>();

/** The answers of this program's version beside the mirror at `path`, the same ones as long as its object store is open. */
export function answersOf(path: string, objects: ObjectReader, engine: string): MirrorAnswers {
  const answers = opened.get(objects) ?? {
    blames: new Answers(path, engine, BLAMES, ROOM),
    patches: new Answers(path, engine, PATCHES, ROOM),
    bases: new Answers(path, engine, BASES, ROOM),
    merges: new Answers(path, engine, MERGES, ROOM),
  };
  opened.set(objects, answers);
  return answers;
}
