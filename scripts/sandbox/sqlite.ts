/**
 * The part of `better-sqlite3` that the PDS uses, over the runtime's own SQLite, so that nothing
 * native has to be built. The bundler puts it in that package's place.
 */
import { Buffer } from "node:buffer";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

type Row = Record<string, unknown>;

/** The result codes that the PDS tells apart by name. */
const names: Readonly<Record<number, string>> = {
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  261: "SQLITE_BUSY_RECOVERY",
  517: "SQLITE_BUSY_SNAPSHOT",
  773: "SQLITE_BUSY_TIMEOUT",
  787: "SQLITE_CONSTRAINT_FOREIGNKEY",
  1299: "SQLITE_CONSTRAINT_NOTNULL",
  1555: "SQLITE_CONSTRAINT_PRIMARYKEY",
  2067: "SQLITE_CONSTRAINT_UNIQUE",
};

let synchronous = "NORMAL";

/** Lets every database opened from here on skip its fsyncs: for data that may be lost in a power cut. */
export function skipSyncs(): void {
  synchronous = "OFF";
}

function named<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error && "errcode" in error && typeof error.errcode === "number") {
      const { errcode } = error;
      Object.assign(error, {
        code: names[errcode] ?? names[errcode & 0xff] ?? `SQLITE_${errcode}`,
      });
    }
    throw error;
  }
}

function toInput(value: unknown): SQLInputValue {
  if (value === undefined || value === null) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") {
    return value;
  }
  if (value instanceof Uint8Array) return new Uint8Array(value);
  throw new TypeError(`SQLite takes no ${typeof value}`);
}

/** The PDS compares blobs with Buffer's methods. */
function withBuffers(row: Row): Row {
  for (const [name, value] of Object.entries(row)) {
    if (value instanceof Uint8Array) {
      row[name] = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
  }
  return row;
}

class Statement {
  /** True when it answers rows. */
  readonly reader: boolean;

  constructor(private readonly statement: StatementSync) {
    this.reader = statement.columns().length > 0;
  }

  all(parameters: readonly unknown[] = []): Row[] {
    return named(() => this.statement.all(...parameters.map(toInput))).map(withBuffers);
  }

  run(parameters: readonly unknown[] = []): unknown {
    return named(() => this.statement.run(...parameters.map(toInput)));
  }

  *iterate(parameters: readonly unknown[] = []): Generator<Row> {
    for (const row of this.statement.iterate(...parameters.map(toInput))) yield withBuffers(row);
  }
}

/** A database file, or `:memory:`. */
export default class Database {
  private readonly database: DatabaseSync;

  constructor(path: string) {
    this.database = named(() => new DatabaseSync(path));
    this.database.exec(`PRAGMA synchronous = ${synchronous}`);
  }

  prepare(sql: string): Statement {
    return new Statement(named(() => this.database.prepare(sql)));
  }

  pragma(sql: string): Row[] {
    return this.prepare(`PRAGMA ${sql}`).all();
  }

  close(): void {
    if (this.database.isOpen) this.database.close();
  }
}
